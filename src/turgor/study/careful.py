"""A binary file that remembers its first error instead of raising it.

HDF5 does not survive a disk that is full: after a failed write its library can neither close the file nor end without
a crash. Here it writes on into nothing, and the caller asks afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import BinaryIO, TypeVar

__all__ = ["CarefulFile"]

T = TypeVar("T")


class CarefulFile:
    """As much of a file as h5py needs; `check` raises the error that a write had, if there was one."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._place = self._end = 0  # bytes: kept here, as the file's own do not move on without writes
        self._error: OSError | None = None

    def check(self) -> None:
        """OSError where anything could not be written."""
        if self._error is not None:
            raise self._error

    def write(self, content: memoryview) -> int:
        self._tried(lambda: self._file.seek(self._place))
        self._tried(lambda: self._file.write(content))
        self._place += len(content)
        self._end = max(self._end, self._place)
        return len(content)

    def readinto(self, buffer: memoryview) -> int:
        """What was lost is zeros."""
        self._tried(lambda: self._file.seek(self._place))
        content = self._tried(lambda: self._file.read(len(buffer))) or b""
        buffer[:] = content.ljust(len(buffer), b"\0")
        self._place += len(buffer)
        return len(buffer)

    def read(self, size: int) -> bytes:
        """By this h5py knows a file."""
        content = bytearray(size)
        self.readinto(memoryview(content))
        return bytes(content)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._place = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._end}[whence]
        return self._place

    def tell(self) -> int:
        return self._place

    def truncate(self, size: int) -> int:
        self._tried(lambda: self._file.truncate(size))
        self._end = size
        return size

    def flush(self) -> None:
        self._tried(self._file.flush)

    def _tried(self, act: Callable[[], T]) -> T | None:
        if self._error is None:
            try:
                return act()
            except OSError as error:
                self._error = error
        return None
