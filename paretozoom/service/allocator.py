"""The allocator gives memory back: what is freed after a snapshot or the growth of a model leaves the process."""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of glibc's malloc.h
LARGE = 1 << 20  # bytes


def give_back_large_blocks() -> bool:
    """Make the allocator return large blocks when they are freed; False where it cannot be told.

    By itself glibc learns to keep up to 64 MB, once it has seen blocks of 32 MB come and go.
    """
    if sys.platform != "linux":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGE)) and bool(mallopt(TRIM_THRESHOLD, LARGE))
