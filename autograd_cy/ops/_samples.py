"""The samples of records: the calls that generated tests make, and what they compare with."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class by_test:
    """A reference by hand: the test that compares the values, as ``tests/ops/file.py::test``."""

    test: str


ORDERS = ("value", "gradient", "second")


@dataclass(frozen=True)
class differs:
    """Special values at which an elementwise operator has another result than torch, and why.

    `what` names one result or several, of "value", "gradient" and "second" (derivative). `where` is
    a NumPy expression over the arguments that is true at these points and may use ``np``,
    ``finite(x)`` (all parts are), ``infinite(x)`` and ``nan(x)`` (some part is), ``is_complex``,
    and ``largest`` and ``smallest``, the ends of the dtype's normal numbers. What is not listed
    must agree.
    """

    what: str | tuple[str, ...]
    where: str
    reason: str

    @property
    def orders(self) -> tuple[str, ...]:
        """The words of `what`."""
        return (self.what,) if isinstance(self.what, str) else self.what


@dataclass(frozen=True)
class real:
    """Random real numbers in [low, high]; `avoid` are points to stay away from (kinks, poles)."""

    low: float = -2.0
    high: float = 2.0
    avoid: tuple[float, ...] = ()
    gap: float = 0.1


@dataclass(frozen=True)
class box:
    """Random complex numbers with both parts in [low, high]."""

    low: float = -1.5
    high: float = 1.5


@dataclass(frozen=True)
class integers:
    """Random integers in [low, high)."""

    low: int = 0
    high: int = 3


@dataclass(frozen=True)
class booleans:
    """Random truth values."""


@dataclass(frozen=True)
class arg:
    """A tensor argument of a sample: its shape and where its values come from.

    `values` None means the domain of the record; indices and masks are not differentiable.
    """

    shape: tuple[int, ...]
    values: object = None
    differentiable: bool = True


@dataclass(frozen=True)
class sample:
    """One call that the generated tests make: positional and keyword arguments."""

    args: tuple = ()
    kwargs: dict = field(default_factory=dict)


def shapes(*lists, **kwargs):
    """Samples of tensor arguments only: one per tuple of shapes."""
    return [sample(tuple(arg(s) for s in one), kwargs) for one in lists]


def one(shape, *args, **kwargs):
    """A sample of one tensor and other arguments."""
    return sample((arg(shape), *args), kwargs)


def fixed(shape, values):
    """A tensor argument that is not differentiated: indices, masks."""
    return arg(shape, values, False)


UNARY = shapes(((3, 4),), ((),), ((0, 3),), ((5,),))
BINARY = shapes(((3, 4), (3, 4)), ((3, 1), (4,)), ((), (3,)), ((2, 3), ()), ((0, 3), (1, 3)))


@dataclass(frozen=True)
class error:
    """A call that must be refused: the sample, the error, and a part of its text."""

    call: sample
    error: type
    text: str
