"""Certificates made for one test and trusted by nobody."""

import datetime
import hashlib
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Certificate:
    """A certificate that signs itself, and what serves by it."""

    file: Path
    folder: Path
    tls: ssl.SSLContext


def make_certificate(folder: Path, address: str = "127.0.0.1", days: tuple[int, int] = (-1, 1)) -> Certificate:
    """Write a certificate for an address, valid between two days counted from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test")])
    begin, end = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=day) for day in days)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file, key_file = folder / "certificate.pem", folder / "key.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(file, key_file)
    # In a folder, OpenSSL looks for a file that is named by the subject: SHA-1 of its parts, the first bytes reversed.
    parts = name.public_bytes()[2:]
    digest = int.from_bytes(hashlib.sha1(parts, usedforsecurity=False).digest()[:4], "little")
    authorities = folder / "authorities"
    authorities.mkdir()
    (authorities / f"{digest:08x}.0").write_bytes(file.read_bytes())
    return Certificate(file, authorities, tls)
