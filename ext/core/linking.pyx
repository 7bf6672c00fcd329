# cython: language_level=3
"""Operators find each other by name and C signature while the package is imported.

A module that calls operators has a struct of pointers `T` for those that it uses, and no others
(`include "operators_of_<module>.pxi"`, which the generator writes). So a new operator changes
nothing but its own family. Modules that are loaded before an operator get their pointer when it is
published.
"""

cdef dict _places = {}         # signature -> address of the function
cdef dict _waiting = {}        # signature -> [(module, address of its pointer)]
cdef bint _complete = False


cdef int publish(void** functions, str signatures) except -1:
    cdef Py_ssize_t i
    cdef object where
    for i, signature in enumerate(signatures.split("\n")):
        _places[signature] = <size_t>functions[i]
        for _, where in _waiting.pop(signature, ()):
            (<void**><size_t>where)[0] = functions[i]
    return 0


cdef int link(str module, void** functions, str signatures) except -1:
    cdef Py_ssize_t i
    cdef list missing = []
    for i, signature in enumerate(signatures.split("\n")):
        place = _places.get(signature)
        if place is None:
            missing.append(signature)
            _waiting.setdefault(signature, []).append((module, <size_t>&functions[i]))
        else:
            functions[i] = <void*><size_t>place
    if missing and _complete:
        raise ImportError(f"{module} was built for other operators than there are; build it again. "
                          f"It calls {', '.join(missing)}")
    return 0


def _unfilled():
    """Operators that a module calls and none has published; from then on every link is complete."""
    global _complete
    _complete = True
    return [f"{signature} (called in {module})"
            for signature, users in _waiting.items() for module, _ in users]
