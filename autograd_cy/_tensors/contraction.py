"""Sums of products over named or numbered dimensions: einsum and tensordot.

A contraction of two operands is a product of matrices: dimensions that both have and that stay are
its batch, those that both have and that are summed its inner one. Where nothing is summed it is a
product of elements. The strides of the result are torch's: batch, rows and columns each in the
order of the result, columns first if the result has them all before the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from autograd_cy._C import ops_arithmetic as _arithmetic
from autograd_cy._C import ops_products as _products
from autograd_cy._C import ops_shape as _shape
from autograd_cy._C.ops_reduction import sum as _sum
from autograd_cy._C.out_forms import stored as _stored
from autograd_cy._C.tensor import Tensor
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.predicates import need_dim
from autograd_cy._tensors.public import autocast_policy

__all__ = ["einsum", "tensordot"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_Label = Hashable  # a letter, or ("...", k): the k-th dimension of the ellipsis from the right
_Equation = str | tuple[tuple, tuple | None]  # or the subscripts of the operands and of the result
_USAGE = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand "
    "and its subscripts list"
)


@autocast_policy("lower")
@seen_as("aten::einsum")
def einsum(*args: Any) -> Tensor:
    """
    Sum of products of operands over the dimensions that an equation names.

    Without an arrow the result has the subscripts that occur once, in alphabetical order. Where
    `opt_einsum` is installed it finds the order in which three and more operands are contracted;
    otherwise they are from left to right.

    Parameters
    ----------
    equation : str
        Subscripts of the operands, and after an arrow those of the result: ``"bij,bjk->bik"``. A
        subscript that comes twice in one operand is its diagonal, ``...`` are the other dimensions.
    operands : Tensor
        As many as the equation has, or a list of them. In place of an equation each may be followed
        by a list of its subscripts, numbers from 0 to 51 and Ellipsis; that of the result is last.

    Returns
    -------
    Tensor

    Raises
    ------
    RuntimeError
        If the equation does not fit the operands.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> a = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.einsum("ij,kj->ik", a, a)
    tensor([[ 5., 11.],
            [11., 25.]])
    >>> ag.einsum("ii", a)
    tensor(5.)
    """
    equation, terms = _read(args)
    plan = _plan(equation, tuple([t.shape for t in terms]))
    for i, pairs in plan.diagonals:
        for first, second in pairs:
            terms[i] = _shape.diagonal(terms[i], 0, first, second)
    for step in plan.steps:
        two = terms[step.terms[0]], terms[step.terms[1]]
        terms = [term for i, term in enumerate(terms) if i not in step.terms]
        terms.append(_contracted(step, *two))
    return _prepared(terms[0], plan.last)


def _read(args: Sequence[Any]) -> tuple[_Equation, list[Tensor]]:
    """The equation, or its subscripts, and the operands."""
    if not args or (isinstance(args[0], str) and len(args) < 2):
        raise ValueError(_USAGE)
    if isinstance(args[0], str):
        listed = args[1] if len(args) == 2 and isinstance(args[1], (list, tuple)) else args[1:]
        operands = list(listed)
        _need_tensors(operands)
        return args[0], operands
    if len(args) < 2:
        raise ValueError(_USAGE)
    operands = list(args[: len(args) // 2 * 2 : 2])
    numbered = tuple([tuple(_letters(x)) for x in args[1::2]])
    _need_tensors(operands)
    return (numbered, tuple(_letters(args[-1])) if len(args) % 2 else None), operands


def _need_tensors(operands: Sequence[Any]) -> None:
    for x in operands:
        if not isinstance(x, Tensor):
            raise TypeError(f"einsum(): operands must be Tensors, not {type(x).__name__}")


def _letters(numbers: Any) -> list:
    """The subscripts of a list of numbers."""
    if isinstance(numbers, Tensor):
        raise ValueError(_USAGE)
    letters: list = []
    for x in numbers:
        if x is Ellipsis:
            letters.append("...")
        elif not isinstance(x, int):
            raise TypeError(
                "einsum(): subscripts must be Ellipsis or numbers, but one is of "
                f"{type(x).__name__}"
            )
        elif 0 <= x < 52:
            letters.append(_LETTERS[x])
        else:
            raise ValueError(f"einsum(): subscripts must be numbers from 0 to 51, but got {x}")
    return letters


def _parsed(equation: _Equation, count: int) -> tuple[Sequence[Sequence], Sequence | None]:
    """Subscripts of the operands and of the result."""
    if not isinstance(equation, str):
        return equation
    left, arrow, right = equation.partition("->")
    inputs = [_subscripts(x, f"for operand {i}", equation) for i, x in enumerate(left.split(","))]
    if len(inputs) != count:
        which = "fewer" if count < len(inputs) else "more"
        raise RuntimeError(
            f"einsum(): {which} operands were provided than specified in the equation"
        )
    return inputs, _subscripts(right, "in the output", equation) if arrow else None


def _subscripts(text: str, where: str, equation: str) -> list:
    subscripts: list = []
    rest = text.replace(" ", "")
    while rest:
        if rest.startswith("..."):
            if "..." in subscripts:
                raise RuntimeError(
                    f"einsum(): found '.' {where} for which an ellipsis was already found"
                )
            subscripts.append("...")
            rest = rest[3:]
            continue
        if rest[0] == ".":
            raise RuntimeError(f"einsum(): found '.' {where} that is not part of any ellipsis")
        if rest[0] not in _LETTERS:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {equation.index(rest[0])} in the "
                "equation string, subscripts must be in [a-zA-Z]"
            )
        subscripts.append(rest[0])
        rest = rest[1:]
    return subscripts


def _label_text(label: _Label) -> str:
    return "..." if isinstance(label, tuple) else str(label)


# --- the plan: what happens to tensors of these shapes --------------------------------------------


class _Preparation(NamedTuple):
    """The steps that prepare a term, in this order; None where nothing has to be done."""

    squeezed: list[int] | None = None
    order: list[int] | None = None
    summed: list[int] | None = None
    shape: list[int] | None = None


class _Step(NamedTuple):
    """One contraction of two terms, which leave the list; the result comes last there."""

    terms: tuple[int, int]
    first: _Preparation
    second: _Preparation
    multiply: Callable[[Tensor, Tensor], Tensor]
    shape: list[int] | None
    turned: bool = False  # the second term is the left factor


class _Plan(NamedTuple):
    diagonals: list[tuple[int, list[tuple[int, int]]]]
    steps: list[_Step]
    last: _Preparation


class _Term:
    """The labels and sizes of a term, and what it has to go through."""

    def __init__(self, labels: list[_Label], sizes: Sequence[int]) -> None:
        self.labels = labels
        self.sizes = list(sizes)
        self.squeezed: list[int] | None = None
        self.summed: list[_Label] = []  # dimensions that nothing else has

    def _without(self, gone: list[int]) -> None:
        self.labels = [x for i, x in enumerate(self.labels) if i not in gone]
        self.sizes = [x for i, x in enumerate(self.sizes) if i not in gone]

    def squeeze(self, other: _Term) -> None:
        """Drop dimensions of size 1 that the other term has in full."""
        full = {x for x, size in zip(other.labels, other.sizes) if size != 1}
        pairs = enumerate(zip(self.labels, self.sizes))
        gone = [i for i, (x, n) in pairs if n == 1 and x in full]
        self._without(gone)
        self.squeezed = gone or None

    def sum(self, needed: set) -> None:
        """Sum over dimensions that nothing else has."""
        self.summed = [x for x in self.labels if x not in needed]

    def prepared(
        self, labels: Sequence[_Label], shape: list[int] | None = None, same: bool = False
    ) -> _Preparation:
        """With the dimensions in this order and shape; `same`: a step for an order as it is."""
        order: list[int] | None = [self.labels.index(x) for x in (*labels, *self.summed)]
        assert order is not None
        if shape == [self.sizes[i] for i in order[: len(labels)]]:
            shape = None
        if order == list(range(len(order))) and not (same and not self.summed):
            order = None
        summed = [len(labels) + i for i in range(len(self.summed))] or None
        return _Preparation(self.squeezed, order, summed, shape)


# Loops contract the same shapes again and again, and the plan takes longer than a small product.
@lru_cache(maxsize=512)
def _plan(equation: _Equation, shapes: tuple[tuple[int, ...], ...]) -> _Plan:
    inputs, output = _parsed(equation, len(shapes))
    ranks = [len(shape) - sum(s != "..." for s in x) for x, shape in zip(inputs, shapes)]
    wide = max((r for x, r in zip(inputs, ranks) if "..." in x), default=0)
    terms = []
    diagonals = []
    for i, (x, shape, rank) in enumerate(zip(inputs, shapes, ranks)):
        term, pairs = _operand(i, x, shape, rank)
        terms.append(term)
        if pairs:
            diagonals.append((i, pairs))
    sizes: dict[_Label, int] = {}
    for i, term in enumerate(terms):
        for label, size in zip(term.labels, term.sizes):
            if sizes.setdefault(label, size) == 1:
                sizes[label] = size
            elif size not in (1, sizes[label]):
                raise RuntimeError(
                    f"einsum(): subscript {_label_text(label)} has size {size} for operand {i} "
                    f"which does not broadcast with previously seen size {sizes[label]}"
                )
    labels = _result(inputs, output, wide)
    places = {label: i for i, label in enumerate(dict.fromkeys([*labels, *sizes]))}
    steps: list[_Step] = []
    for pair in _order(terms, labels, sizes):
        two = terms[pair[0]], terms[pair[1]]
        terms = [term for i, term in enumerate(terms) if i not in pair]
        needed = {*labels, *(label for term in terms for label in term.labels)}
        step, term = _contraction(
            pair,
            *two,
            needed,
            places,
            turns=all(step.multiply is _arithmetic.mul for step in steps),
        )
        steps.append(step)
        terms.append(term)
    last = terms[0]
    last.sum(set(labels))
    # The result is never one of the operands itself.
    return _Plan(diagonals, steps, last.prepared(labels, same=not steps and bool(labels)))


def _operand(
    number: int, subscripts: Sequence, shape: Sequence[int], rank: int
) -> tuple[_Term, list[tuple[int, int]]]:
    """The labels of dimensions, each once: where one is repeated, of the diagonal."""
    dots = "..." in subscripts
    if rank < 0 or (rank and not dots):
        few = "is more than" if dots else "does not match"
        end = "" if dots else " and no ellipsis was given"
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({len(subscripts) - dots}) {few} "
            f"the number of dimensions ({len(shape)}) for operand {number}{end}"
        )
    labels: list[_Label] = []
    for s in subscripts:
        labels += [("...", k) for k in range(rank, 0, -1)] if s == "..." else [s]
    sizes = list(shape)
    pairs = []
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            if sizes[first] != sizes[second]:
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {number} but the sizes "
                    f"don't match, {sizes[second]} != {sizes[first]}"
                )
            pairs.append((first, second))
            both = (first, second)
            sizes = [n for i, n in enumerate(sizes) if i not in both] + [sizes[first]]
            labels = [x for i, x in enumerate(labels) if i not in both] + [label]
    return _Term(labels, sizes), pairs


def _result(inputs: Sequence[Sequence], output: Sequence | None, wide: int) -> list[_Label]:
    """The labels of the result."""
    letters = [s for x in inputs for s in x if s != "..."]
    dots: list[_Label] = [("...", k) for k in range(wide, 0, -1)]
    if output is None:
        return [*dots, *sorted(s for s in set(letters) if letters.count(s) == 1)]
    labels: list[_Label] = []
    for s in output:
        if s != "..." and s not in letters:
            raise RuntimeError(
                f"einsum(): output subscript {s} does not appear in the equation for any input "
                "operand"
            )
        if s in labels:
            raise RuntimeError(
                f"einsum(): output subscript {s} appears more than once in the output"
            )
        labels += dots if s == "..." else [s]
    return labels


def _order(
    terms: list[_Term], output: list[_Label], sizes: dict[_Label, int]
) -> list[tuple[int, int]]:
    """Return the pairs of terms in the order of their contraction, the left one first; the result
    comes last."""
    if len(terms) > 2:
        try:
            from opt_einsum import contract_path  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            pass
        else:
            names = {label: _LETTERS[i] for i, label in enumerate(sizes)} if len(sizes) < 53 else {}
            if names:
                left = ",".join("".join(names[x] for x in term.labels) for term in terms)
                equation = f"{left}->{''.join(names[x] for x in output)}"
                shapes = [tuple(sizes[x] for x in term.labels) for term in terms]
                path, _ = contract_path(equation, *shapes, shapes=True)
                return _pairs(path)
    return [(0, 1)] + [(n, 0) for n in range(len(terms) - 2, 0, -1)] if len(terms) > 1 else []


def _pairs(path: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """A path of contractions of any number of terms as contractions of two; new terms come last."""
    pairs: list[tuple[int, int]] = []
    left = sum(len(step) - 1 for step in path) + 1
    for step in path:
        waiting = sorted(step)
        while len(waiting) > 1:
            first, second = waiting[:2]
            pairs.append((first, second))
            left -= 1
            # Those behind move up; the new term is the last one.
            waiting = sorted([w - (w > first) - (w > second) for w in waiting[2:]] + [left - 1])
    return pairs


def _contraction(
    pair: tuple[int, int], a: _Term, b: _Term, needed: set, places: dict[_Label, int], turns: bool
) -> tuple[_Step, _Term]:
    """The product of two terms, summed over what is not needed any more, and the term it makes.

    `places` is the order of labels in the result; `turns`: the columns may come first.
    """
    # A dimension of size 1 that the other term has in full is none of its own.
    whole = _Term(a.labels, a.sizes)
    a.squeeze(b)
    b.squeeze(whole)
    mine, other = set(a.labels), set(b.labels)
    a.sum(needed | other)
    b.sum(needed | mine)
    sizes = {**dict(zip(a.labels, a.sizes)), **dict(zip(b.labels, b.sizes))}
    stays = sorted((mine | other) & needed, key=places.__getitem__)
    inner = [x for x in a.labels if x in other and x not in needed]
    batch = [x for x in stays if x in mine and x in other]
    rows = [x for x in stays if x not in other]
    columns = [x for x in stays if x not in mine]
    if not inner:
        first = a.prepared(*_among(stays, mine, sizes))
        second = b.prepared(*_among(stays, other, sizes))
        whole = _Term(stays, [sizes[x] for x in stays])
        return _Step(pair, first, second, _arithmetic.mul, None), whole
    n, i, j, k = ([sizes[x] for x in labels] for labels in (batch, rows, columns, inner))
    turned = bool(turns and rows and columns) and places[columns[-1]] < places[rows[0]]
    labels = batch + (columns + rows if turned else rows + columns)
    result = _Term(labels, [sizes[x] for x in labels])
    many = [_product(n)] if batch else []
    left, right = [*many, _product(i), _product(k)], [*many, _product(k), _product(j)]
    if turned:
        first = a.prepared(batch + inner + rows, [*many, _product(k), _product(i)])
        second = b.prepared(batch + columns + inner, [*many, _product(j), _product(k)])
        shape = [*many, _product(j), _product(i)]
    else:
        first = a.prepared(batch + rows + inner, left)
        second = b.prepared(batch + inner + columns, right)
        shape = [*many, _product(i), _product(j)]
    multiply = _products.bmm if batch else _products.mm
    shape_of_result = None if result.sizes == shape else result.sizes
    return _Step(pair, first, second, multiply, shape_of_result, turned), result


def _among(
    stays: list[_Label], own: set, sizes: dict[_Label, int]
) -> tuple[list[_Label], list[int]]:
    """The labels of a factor, and its shape beside the other one's."""
    labels = [x for x in stays if x in own]
    return labels, [sizes[x] if x in own else 1 for x in stays]


def _prepared(t: Tensor, by: _Preparation) -> Tensor:
    if by.squeezed is not None:
        t = _shape.squeeze(t, by.squeezed)
    if by.order is not None:
        t = _shape.permute(t, by.order)
    if by.summed is not None:
        t = _sum(t, by.summed)
    return t if by.shape is None else t.reshape(by.shape)


def _contracted(step: _Step, first: Tensor, second: Tensor) -> Tensor:
    left, right = _prepared(first, step.first), _prepared(second, step.second)
    t = step.multiply(right, left) if step.turned else step.multiply(left, right)
    return t if step.shape is None else t.reshape(step.shape)


def _product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


@autocast_policy("lower")
@seen_as("aten::tensordot")
def tensordot(a: Tensor, b: Tensor, dims: Any = 2, out: Tensor | None = None) -> Tensor:
    """
    Sum of products over several dimensions of two tensors.

    Parameters
    ----------
    a, b : Tensor
        The operands.
    dims : int, Tensor or pair of sequences of int
        How many of the last dimensions of `a` and the first ones of `b` are summed over, or which
        ones of each.
    out : Tensor, optional
        Where the result goes.

    Returns
    -------
    Tensor
        With the other dimensions of `a`, then those of `b`.

    Raises
    ------
    RuntimeError
        If the dimensions don't match.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.tensordot(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), 1)
    tensor(11.)
    """
    for name, x in (("a", a), ("b", b)):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"tensordot(): argument '{name}' must be Tensor, not {type(x).__name__}"
            )
    first, second = _dims_of(a, b, dims)
    if a.dtype != b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if len(first) != len(second):
        raise RuntimeError("both dimension lists should have same length")
    first = [need_dim(d, a.dim()) for d in first]
    second = [need_dim(d, b.dim()) for d in second]
    for i, j in zip(first, second):
        if a.shape[i] == b.shape[j]:
            continue
        if a.shape[i] == 1:
            b = _sum(b, j, True)
        elif b.shape[j] == 1:
            a = _sum(a, i, True)
        else:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {i} "
                f"and second has size {b.shape[j]} in dim {j}"
            )
    rows = [d for d in range(a.dim()) if d not in first]
    columns = [d for d in range(b.dim()) if d not in second]
    inner = _product([a.shape[d] for d in first])
    shape = [*(a.shape[d] for d in rows), *(b.shape[d] for d in columns)]
    left = _shape.permute(a, [*rows, *first]).reshape([_product([a.shape[d] for d in rows]), inner])
    right = _shape.permute(b, [*second, *columns]).reshape(
        [inner, _product([b.shape[d] for d in columns])]
    )
    result = _products.mm(left, right).reshape(shape)
    return _stored(result, out, "tensordot")


def _dims_of(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, (list, tuple)) and len(dims) == 2:
        first, second = ([x] if isinstance(x, int) else list(x) for x in dims)
        return first, second
    if isinstance(dims, (list, tuple)) and len(dims) == 1:
        dims = dims[0]
    if not isinstance(dims, int):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(a.dim(), b.dim()):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(a.dim() - dims, a.dim())), list(range(dims))
