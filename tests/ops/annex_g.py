"""Special values of complex functions: the tables of C99, Annex G (with its corrigenda), as data.

A row is ``re im -> re im``, for imaginary parts without a minus sign; ``f(conj z) = conj f(z)``
holds for all functions, and the last word says what else does. x is any finite number, y any
positive one, n any number but 0; what starts with +- may have either sign. cis(y) means
(cos y, sin y).
"""

import math

import numpy as np

TABLES = {
    "acos": (
        """
         0    0   -> pi/2   -0
         0    nan -> pi/2   nan
         x    inf -> pi/2   -inf
         n    nan -> nan    nan
        -inf  y   -> pi     -inf
         inf  y   -> 0      -inf
        -inf  inf -> 3pi/4  -inf
         inf  inf -> pi/4   -inf
        -inf  nan -> nan    +-inf
         inf  nan -> nan    +-inf
         nan  x   -> nan    nan
         nan  inf -> nan    -inf
         nan  nan -> nan    nan
        """,
        "",
    ),
    "acosh": (
        """
         0    0   -> 0    pi/2
         x    inf -> inf  pi/2
         0    nan -> nan  +-pi/2
         n    nan -> nan  nan
        -inf  y   -> inf  pi
         inf  y   -> inf  0
        -inf  inf -> inf  3pi/4
         inf  inf -> inf  pi/4
        -inf  nan -> inf  nan
         inf  nan -> inf  nan
         nan  x   -> nan  nan
         nan  inf -> inf  nan
         nan  nan -> nan  nan
        """,
        "",
    ),
    "asinh": (
        """
         0    0   -> 0     0
         y    inf -> inf   pi/2
         x    nan -> nan   nan
         inf  y   -> inf   0
         inf  inf -> inf   pi/4
         inf  nan -> inf   nan
         nan  0   -> nan   0
         nan  n   -> nan   nan
         nan  inf -> +-inf nan
         nan  nan -> nan   nan
        """,
        "odd",
    ),
    "atanh": (
        """
         0    0   -> 0     0
         0    nan -> 0     nan
         1    0   -> inf   0
         y    inf -> 0     pi/2
         n    nan -> nan   nan
         inf  y   -> 0     pi/2
         inf  inf -> 0     pi/2
         inf  nan -> 0     nan
         nan  x   -> nan   nan
         nan  inf -> +-0   pi/2
         nan  nan -> nan   nan
        """,
        "odd",
    ),
    "cosh": (
        """
         0    0   -> 1     0
         0    inf -> nan   +-0
         0    nan -> nan   +-0
         n    inf -> nan   nan
         n    nan -> nan   nan
         inf  0   -> inf   0
         inf  y   -> inf*cis(y)
         inf  inf -> +-inf nan
         inf  nan -> inf   nan
         nan  0   -> nan   +-0
         nan  n   -> nan   nan
         nan  inf -> nan   nan
         nan  nan -> nan   nan
        """,
        "even",
    ),
    "sinh": (
        """
         0    0   -> 0     0
         0    inf -> +-0   nan
         0    nan -> +-0   nan
         n    inf -> nan   nan
         n    nan -> nan   nan
         inf  0   -> inf   0
         inf  y   -> inf*cis(y)
         inf  inf -> +-inf nan
         inf  nan -> +-inf nan
         nan  0   -> nan   0
         nan  n   -> nan   nan
         nan  inf -> nan   nan
         nan  nan -> nan   nan
        """,
        "odd",
    ),
    "tanh": (
        """
         0    0   -> 0     0
         0    inf -> 0     nan
         n    inf -> nan   nan
         0    nan -> 0     nan
         n    nan -> nan   nan
         inf  y   -> 1     +-0
         inf  inf -> 1     +-0
         inf  nan -> 1     +-0
         nan  0   -> nan   0
         nan  n   -> nan   nan
         nan  inf -> nan   nan
         nan  nan -> nan   nan
        """,
        "odd",
    ),
    "exp": (
        """
         0    0   -> 1     0
        -0    0   -> 1     0
         x    inf -> nan   nan
         x    nan -> nan   nan
         inf  0   -> inf   0
        -inf  y   -> 0*cis(y)
         inf  y   -> inf*cis(y)
        -inf  inf -> +-0   +-0
         inf  inf -> +-inf nan
        -inf  nan -> +-0   +-0
         inf  nan -> +-inf nan
         nan  0   -> nan   0
         nan  n   -> nan   nan
         nan  inf -> nan   nan
         nan  nan -> nan   nan
        """,
        "",
    ),
    "log": (
        """
        -0    0   -> -inf  pi
         0    0   -> -inf  0
         x    inf -> inf   pi/2
         x    nan -> nan   nan
        -inf  y   -> inf   pi
         inf  y   -> inf   0
        -inf  inf -> inf   3pi/4
         inf  inf -> inf   pi/4
        -inf  nan -> inf   nan
         inf  nan -> inf   nan
         nan  x   -> nan   nan
         nan  inf -> inf   nan
         nan  nan -> nan   nan
        """,
        "",
    ),
    "sqrt": (
        """
         0    0   -> 0     0
        -0    0   -> 0     0
         x    inf -> inf   inf
         nan  inf -> inf   inf
         inf  inf -> inf   inf
        -inf  inf -> inf   inf
         x    nan -> nan   nan
        -inf  y   -> 0     inf
         inf  y   -> inf   0
        -inf  nan -> nan   +-inf
         inf  nan -> inf   nan
         nan  x   -> nan   nan
         nan  nan -> nan   nan
        """,
        "",
    ),
    # No functions of C99; the array API has tables of them.
    "expm1": (
        """
         0    0   -> 0     0
         x    inf -> nan   nan
         x    nan -> nan   nan
         inf  0   -> inf   0
        -inf  y   -> -1    +-0
         inf  y   -> inf*cis(y)
        -inf  inf -> -1    +-0
         inf  inf -> +-inf nan
        -inf  nan -> -1    +-0
         inf  nan -> +-inf nan
         nan  0   -> nan   0
         nan  n   -> nan   nan
         nan  inf -> nan   nan
         nan  nan -> nan   nan
        """,
        "",
    ),
    "log1p": (
        """
        -1    0   -> -inf  0
         x    inf -> inf   pi/2
         x    nan -> nan   nan
        -inf  y   -> inf   pi
         inf  y   -> inf   0
        -inf  inf -> inf   3pi/4
         inf  inf -> inf   pi/4
        -inf  nan -> inf   nan
         inf  nan -> inf   nan
         nan  x   -> nan   nan
         nan  inf -> inf   nan
         nan  nan -> nan   nan
        """,
        "",
    ),
}
# f(z) = turn(g(iz)): the functions that C99 defines by others.
TURNED = {
    "asin": ("asinh", -1j),
    "atan": ("atanh", -1j),
    "sin": ("sinh", -1j),
    "tan": ("tanh", -1j),
    "cos": ("cosh", 1),
}
_FINITE = {
    "x": (0.0, 0.5, 1.5, 2.0**100, 2.0**-130),
    "y": (2.0**-130, 0.5, 1.5, 2.0**100),
    "n": (2.0**-130, 0.5, 1.5, 2.0**100),
}
_NUMBERS = {
    "pi": math.pi,
    "pi/2": math.pi / 2,
    "pi/4": math.pi / 4,
    "3pi/4": 3 * math.pi / 4,
}


def _values(word, signed):
    if word not in _FINITE:
        return (float(word),)
    values = _FINITE[word]
    return values + tuple(-v for v in values if v) if signed else values


def _part(word):
    """(value, whether its sign is free)"""
    free = word.startswith("+-")
    word = word.removeprefix("+-")
    sign = -1.0 if word.startswith("-") else 1.0
    word = word.removeprefix("-")
    return math.copysign(_NUMBERS[word] if word in _NUMBERS else float(word), sign), free


def _results(word, y):
    if word.endswith("*cis(y)"):
        size = float(word.partition("*")[0])
        return (size * math.cos(y), False), (size * math.sin(y), False)
    re, im = word.split()
    return _part(re), _part(im)


def rows(name):
    """(z, (re, free sign), (im, free sign)) of all points that a table names."""
    text, symmetry = TABLES[name]
    for line in text.strip().splitlines():
        left, _, right = (part.strip() for part in line.partition("->"))
        first, second = left.split()
        for a in _values(first, signed=first != "y"):
            for b in _values(second, signed=False):
                (re, re_free), (im, im_free) = _results(right, b)
                images = [(a, b, re, im), (a, -b, re, -im)]
                if symmetry and not (a != a and not re_free):
                    s = -1 if symmetry == "odd" else 1
                    images += [(-a, -b, s * re, s * im), (-a, b, s * re, -s * im)]
                for u, v, p, q in images:
                    yield complex(u, v), (p, re_free), (q, im_free)


def turned(name):
    """Return the value of a function that is defined by another one of iz."""
    base, turn = TURNED[name]
    for w, re, im in rows(base):
        z = complex(w.imag, -w.real)  # iz = w
        yield (z, re, im) if turn == 1 else (z, im, (-re[0], re[1]))


def agrees(value, wanted, free, tolerance):
    """Return whether a part of a result is what a table says."""
    if wanted != wanted or value != value:
        return wanted != wanted and value != value
    if not free and np.signbit(value) != np.signbit(wanted):
        return False
    value, wanted = abs(value), abs(wanted)
    return value == wanted or abs(value - wanted) <= tolerance * wanted
