"""A fingerprint of weights in a folder, without reading all of them."""

import hashlib
from pathlib import Path

from eyechart.errors import UsageError

_WEIGHTS = ("*.safetensors", "*.bin", "*.safetensors.index.json")
_SETTINGS = "*.json"
# Fine-tuned weights share size and header with their origin, so pieces all over the file are read.
_N_PIECES = 64
_PIECE_BYTES = 1 << 16


def folder_fingerprint(folder: Path) -> str:
    """Return a hash of a checkpoint's settings and of pieces of its weights, as lower-case hex.

    All JSON files are read whole; of each file of weights its length and 64 pieces of 64 KiB from its start to its end.

    Raises:
        UsageError: If the folder holds no weights.
    """
    weights = sorted({path for pattern in _WEIGHTS for path in folder.glob(pattern)})
    if not weights:
        raise UsageError(f"{folder} holds no weights", hint="a checkpoint has *.safetensors beside its config.json")
    digest = hashlib.sha256()
    for path in sorted({*folder.glob(_SETTINGS), *weights}):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes() if path.suffix == ".json" else _pieces(path))
    return digest.hexdigest()


def _pieces(path: Path) -> bytes:
    n_bytes = path.stat().st_size
    if n_bytes <= _N_PIECES * _PIECE_BYTES:
        return path.read_bytes()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for piece in range(_N_PIECES):
            file.seek(piece * (n_bytes - _PIECE_BYTES) // (_N_PIECES - 1))
            digest.update(file.read(_PIECE_BYTES))
    return digest.digest()
