"""Root may write anywhere, and tests often run as root: without that power, a locked folder is locked."""

import contextlib
import ctypes
import os

_VERSION_3 = 0x20080522
_MAY_WRITE_ANYWHERE = 1 << 1  # CAP_DAC_OVERRIDE, linux/capability.h


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Powers(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextlib.contextmanager
def as_anybody():
    """Take from this thread, and from those it starts, the power of root to write where nobody may."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, powers = _Header(_VERSION_3, 0), (_Powers * 2)()
    assert libc.capget(ctypes.byref(header), powers) == 0
    before = powers[0].effective
    powers[0].effective = before & ~_MAY_WRITE_ANYWHERE
    assert libc.capset(ctypes.byref(header), powers) == 0
    try:
        yield
    finally:
        powers[0].effective = before
        assert libc.capset(ctypes.byref(header), powers) == 0
