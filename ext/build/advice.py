"""The way out of failures that have little to do with what is compiled: memory, disk, rights."""

from __future__ import annotations

import errno
import re
import signal

MEMORY = """\
autograd_cy: the compiler ran out of memory, or was ended for using too much.
  Run fewer at once: MAX_JOBS=1 needs the least, some 400 MB. In a batch job or container ask for
  more memory. The next build goes on where this one ended."""
DISK = """\
autograd_cy: there is no space left on the disk, or in your quota.
  A build writes some 300 MB into the folder `build` of the source tree, and the compiler's
  temporary files into TMPDIR (/tmp). Free some, build a copy of the tree on another disk, or
  set TMPDIR to a folder with space. The next build goes on where this one ended."""
RIGHTS = """\
autograd_cy: cannot write to {path} ({reason}).
  The build writes into the source tree: build a copy of it in a folder of your own (cp -r), or
  let pip unpack an sdist. If another user built here before (sudo pip install), remove the
  folder `build`."""

CRASH = """\
autograd_cy: the compiler crashed{how}.
  Try once more with MAX_JOBS=1: the build goes on where this one ended. If it crashes at the same
  file again, use another version of the compiler (CC=gcc-12)."""

_MEMORY = re.compile(
    r"Killed signal terminated program|out of memory|virtual memory exhausted|MemoryError"
    r"|[Cc]annot allocate memory|std::bad_alloc|: Killed\b|^Killed$|process that runs Cython ended",
    re.M,
)
_DISK = re.compile(r"No space left on device|[Dd]isk quota exceeded|[Ff]ile too large")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def advice(status: int, output: str) -> str:
    """Return advice on a tool that ended with a status, or a signal (negative); else ""."""
    if _DISK.search(output):
        return DISK
    # 128 + signal is what shells say, and scripts in front of compilers.
    number = -status if status < 0 else status - 128
    if number == signal.SIGKILL or _MEMORY.search(output):
        return MEMORY
    if number in _CRASHES:
        return CRASH.format(how=f" by signal {number} ({signal.Signals(number).name})")
    if "internal compiler error" in output:
        return CRASH.format(how="")
    if status < 0:
        return f"It was ended by signal {-status}."
    return ""


def of_error(error: OSError, path=None) -> str:
    """Return advice on an error of the file system or of memory; "" for others."""
    path = path or error.filename2 or error.filename
    if error.errno in _FULL:
        return f"{DISK}\n  {path or 'a file'}: {error.strerror}"
    if error.errno == errno.ENOMEM:
        return MEMORY
    if error.errno in _FORBIDDEN:
        return RIGHTS.format(path=path or "a file", reason=error.strerror)
    return ""
