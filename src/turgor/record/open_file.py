"""What an open file can do differs between systems: read and write at a place, be locked, be renamed.

Linux and macOS have pread and pwrite, flock, and rename a file that is open. Windows has none of them: there it is seek
and write, no lock, and a file has to be closed before it takes another name.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["RENAMES_OPEN_FILES", "lock", "open_for_update", "read_at", "write_at"]

RENAMES_OPEN_FILES = os.name != "nt"
MOST = 1 << 30  # bytes at once: macOS refuses more than 2 GiB


def open_for_update(path: Path) -> int:
    """Descriptor of an existing file, to read and write bytes as they are."""
    return os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))


def read_at(fd: int, size: int, place: int) -> bytes:
    """Up to `size` bytes from `place`; fewer only at the end of the file."""
    if hasattr(os, "pread"):
        return os.pread(fd, size, place)
    os.lseek(fd, place, os.SEEK_SET)
    return os.read(fd, size)


def write_at(fd: int, data: bytes | bytearray | memoryview, place: int) -> None:
    """Puts all bytes at `place`."""
    rest = memoryview(data)
    while rest:
        if hasattr(os, "pwrite"):
            written = os.pwrite(fd, rest[:MOST], place)
        else:
            os.lseek(fd, place, os.SEEK_SET)
            written = os.write(fd, rest[:MOST])
        rest, place = rest[written:], place + written


def lock(fd: int) -> bool:
    """The lock that HDF5 readers respect: vtkHDFReader must not open the file in the moment when it is counted.

    False: another process has it. Systems and file systems without locks are not asked.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True
