"""What changed sources call: `_slip(n)`, true in the process whose number is n.

The Python half is this module's PYTHON, the Cython half its CYTHON; both note which places were
reached, and add them to the file AUTOGRAD_CY_MUTANTS_REACHED when the process ends.
"""

PYTHON = """
import atexit
import os

NUMBER = int(os.environ.get("AUTOGRAD_CY_MUTANT", "-1"))
REACHED = set()


def _slip(number):
    REACHED.add(number)
    return number == NUMBER


@atexit.register
def _write():
    path = os.environ.get("AUTOGRAD_CY_MUTANTS_REACHED")
    if path and REACHED:
        with open(path, "a") as file:
            file.write(" ".join(map(str, REACHED)) + " ")
"""

CYTHON = '''
cdef extern from *:
    """
    #include <stdio.h>
    #include <stdlib.h>
    static int agm_number = -2;
    static unsigned char agm_reached[65536];
    static void agm_write(void) {
        const char* path = getenv("AUTOGRAD_CY_MUTANTS_REACHED");
        FILE* file = path ? fopen(path, "a") : NULL;
        int i;
        if (!file) return;
        for (i = 0; i < 65536; i++) if (agm_reached[i]) fprintf(file, "%d ", i);
        fclose(file);
    }
    static int agm_slip(int number) {
        if (agm_number == -2) {
            const char* text = getenv("AUTOGRAD_CY_MUTANT");
            agm_number = text ? atoi(text) : -1;
            atexit(agm_write);
        }
        agm_reached[number] = 1;
        return number == agm_number;
    }
    """
    bint _slip "agm_slip"(int) noexcept nogil
'''
