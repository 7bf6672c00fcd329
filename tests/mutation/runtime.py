"""The function that changed sources call: `_mutant(n)`, true while the number of the run is n.

The number stands in a file that every process of a run maps, followed by one byte for each place,
set once the place was reached: so one build, and even one process, serves all mutants. Without
the variable AUTOGRAD_CY_MUTANTS, which names the file, no mutant is active.
"""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np

VARIABLE = "AUTOGRAD_CY_MUTANTS"
PARENT = "AUTOGRAD_CY_MUTANTS_PARENT"  # the process whose forked children are trials
HEAD, PLACES = 64, 65536

PYTHON = f"""
import mmap
import os

PAGE = bytearray({HEAD + PLACES})
PAGE[:4] = b"\\xff" * 4
if os.environ.get("{VARIABLE}"):
    with open(os.environ["{VARIABLE}"], "r+b") as file:
        PAGE = mmap.mmap(file.fileno(), 0)
NUMBER = memoryview(PAGE)[:4].cast("i")


def _mutant(number):
    PAGE[{HEAD} + number] = 1
    return NUMBER[0] == number
"""

CYTHON = f'''
cdef extern from *:
    """
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <unistd.h>
    static unsigned char agm_none[{HEAD + PLACES}];
    static unsigned char* agm_page = NULL;
    static void agm_map(void) {{
        const char* path = getenv("{VARIABLE}");
        int file = path ? open(path, O_RDWR) : -1;
        void* page = MAP_FAILED;
        if (file >= 0) {{
            page = mmap(NULL, {HEAD + PLACES}, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            close(file);
        }}
        *(int*)agm_none = -1;
        agm_page = page == MAP_FAILED ? agm_none : (unsigned char*)page;
    }}
    static int agm_mutant(int number) {{
        if (!agm_page) agm_map();
        agm_page[{HEAD} + number] = 1;
        return *(int*)agm_page == number;
    }}
    """
    bint _mutant "agm_mutant"(int) noexcept nogil
'''


class Page:
    """The file of a run: the active number, how far the tests are, and the places reached."""

    def __init__(self, path: Path, make: bool = False):
        if make:
            path.write_bytes(b"\xff" * 4 + bytes(HEAD - 4 + PLACES))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 0)
        self.head = memoryview(self.memory)[:16].cast("i")

    @property
    def number(self) -> int:
        return self.head[0]

    @number.setter
    def number(self, value: int) -> None:
        self.head[0] = value

    @property
    def done(self) -> int:
        """The number of tests that have ended."""
        return self.head[1]

    @done.setter
    def done(self, value: int) -> None:
        self.head[1] = value

    def reached(self) -> list[int]:
        """The places reached since the last `forget`."""
        places = np.frombuffer(self.memory[HEAD:], np.uint8)  # a loop takes longer than most tests
        return np.flatnonzero(places).tolist()

    def forget(self) -> None:
        self.memory[HEAD:] = bytes(PLACES)
