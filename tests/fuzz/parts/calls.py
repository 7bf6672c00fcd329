"""Operators on random tensors: values, inputs left alone, threads.

A result is compared with the same operator in float64 or complex128 and, for ordinary numbers, with
the NumPy expression of the record. Workers for every instruction set take their turns.
"""

from dataclasses import dataclass

import numpy as np

from .. import operators
from ..case import PRELUDE, REFUSALS, Result, Wrong, chance
from ..closeness import bounds, difference, perturbed
from ..values import KIND_OF, WIDE, dtype_name, rounded, to_array

# Their expressions are right for the table's samples only: they cut into other parts, take
# boundaries as sorted, or differ at empty complex tensors.
SAMPLES_ONLY = ("chunk", "unsafe_chunk", "searchsorted", "std_mean", "var_mean")


@dataclass(frozen=True)
class Call:
    """A call, and a seed for the numbers that the check needs."""

    operation: operators.Operation
    seed: int
    large: bool

    @property
    def title(self):
        dtypes = dict.fromkeys(x.dtype for x in self.operation.inputs)
        return f"{self.operation.name} {' '.join(dtypes)}"

    def source(self):
        return PRELUDE + self.operation.source() + "\nprint(result)\n"


def make(rng):
    large = chance(rng, 0.03)
    operation = operators.random_operation(rng, large=large)
    return Call(operation, int(rng.integers(2**32)), large)


def run(case, lib):
    try:
        return checked(case, lib)
    except MemoryError:
        if not case.large:
            raise
        return Result("refused", "too large")  # an outer product, say


def libraries(text):
    """Load the libraries of a reference; most workers never need the special functions, half of a
    start."""
    if "scipy" not in text:
        return {"np": np}
    import scipy.special

    return {"np": np, "scipy": scipy}


def checked(case, lib):
    operation = case.operation
    inplace = operation.form == "inplace"
    tensors = [x.tensor(lib) for x in operation.inputs]
    if inplace:
        tensors = [t.detach() for t in tensors]
    before = [to_array(t) for t in tensors]
    try:
        result = operation.call(lib, tensors)
    except REFUSALS as error:
        _check_unchanged(tensors, before)
        return Result("refused", f"{type(error).__name__}: {error}")
    found = [to_array(t) for t in _outputs(result)]
    names = [dtype_name(t) for t in _outputs(result)]
    _check_unchanged(tensors[inplace:], before[inplace:])
    if lib.__name__ != "autograd_cy":
        return Result(values=[(name, array, 0, None) for name, array in zip(names, found)])
    exact, moved = _wide_results(case, lib)
    expect = _comparable(case)  # once: some calls have as many results as elements
    limits = []
    for i, (array, name) in enumerate(zip(found, names)):
        limit = 0
        if KIND_OF[name] in "hfc" and exact is not None:
            limit = bounds(exact[i], [m[i] for m in moved if m], name)
            _compare(expect, array, exact[i], name, limit, "in float64")
        limits.append(limit)
    _check_reference(case, found, names, limits)
    if case.large:
        _check_threads(case, lib, found)
    out = operation.record.call.out and operation.record.name not in operators.NN_ONLY
    if out and operation.form == "function" and len(found) == 1:
        _check_out(case, lib, tensors, found[0], names[0], limits[0])
    return Result(values=[(*x, expect) for x in zip(names, found, limits)])


def compare(ours, theirs):
    """Values of ours against those of another library."""
    if ours.values is None or theirs.values is None:
        return None
    if len(ours.values) != len(theirs.values):
        return f"{len(ours.values)} results, elsewhere {len(theirs.values)}"
    for (name, array, limit, expect), (other_name, other, *_) in zip(ours.values, theirs.values):
        if name != other_name:
            return f"dtype {name}, elsewhere {other_name}"
        # Where numbers may overflow on the way, libraries differ in whether they do.
        text = expect and difference(array, other, name, limit, nonfinite=expect == "all")
        if text:
            return text
    return None


def _outputs(result):
    """Tensors of a result."""
    if isinstance(result, (tuple, list)):
        return [t for t in result if hasattr(t, "detach")]
    return [result] if hasattr(result, "detach") else []


def _check_unchanged(tensors, before):
    for t, array in zip(tensors, before):
        now = to_array(t)
        if now.shape != array.shape or not np.array_equal(now, array, equal_nan=now.dtype != bool):
            raise Wrong("the call changed an argument")


def _wide_results(case, lib):
    """Results of the same call in the widest dtypes, and for perturbed inputs; None if refused."""
    operation, rng = case.operation, np.random.default_rng(case.seed)
    if operation.form == "inplace":
        form = "function" if operation.record.call.function else "method"
        operation = operators.Operation(operation.record, form, operation.args, operation.kwargs)

    def results(arrays):
        tensors = []
        for x, array in zip(operation.inputs, arrays):
            dtype = WIDE[KIND_OF[x.dtype]] if x.is_smooth else x.dtype
            tensors.append(lib.from_numpy(np.array(array)).to(getattr(lib, dtype)))
        try:
            return [to_array(t) for t in _outputs(operation.call(lib, tensors))]
        except REFUSALS:
            return None

    inputs = operation.inputs
    exact = results([x.array for x in inputs])
    moved = []
    # Steps of many elements may cancel in one result by chance, in six hardly.
    alone = isinstance(operation.record.kernel, operators.schema().elementwise)
    for place, x in enumerate(inputs):
        if x.is_smooth:
            for _ in range(2 if alone else 6):
                arrays = [y.array for y in inputs]
                arrays[place] = perturbed(rng, x.array, x.dtype)
                moved.append(results(arrays))
    return exact, moved


# Elementwise with one rounding, so that nothing overflows on the way to a finite result.
ONE_STEP = frozenset(
    "add sub mul div maximum minimum fmax fmin where atan2 hypot copysign clamp_min clamp_max eq "
    "ne lt le gt ge logical_and logical_or logical_xor".split()
)
# Finite numbers beyond these, or below their reciprocals, may overflow or vanish in a product.
FAR = {"float16": 15.0, "bfloat16": 1e12, "float32": 1e12, "float64": 1e100}
FAR |= {"complex64": 1e9, "complex128": 1e70}


def _is_tame(case):
    """Return whether all numbers are finite and of ordinary size."""
    for x in case.operation.inputs:
        array = np.abs(x.array.astype(WIDE[KIND_OF[x.dtype]]))
        if array.size and not (np.isfinite(array).all() and array.max() < 100):
            return False
    return not _has_far(case) and not _multiplies_far(case)


def _multiplies_far(case):
    """Return whether a product of many ordinary numbers may leave the range, in one order or the
    other."""
    if case.operation.record.name not in ("prod", "cumprod"):
        return False
    for x in case.operation.inputs:
        size = np.abs(x.array.astype(WIDE[KIND_OF[x.dtype]]))
        if x.is_smooth and np.abs(np.log(size[size > 0])).sum() > np.log(FAR[x.dtype]):
            return True
    return False


def _has_far(case):
    """Return whether a number is very large or very small, and not infinite or zero."""
    for x in case.operation.inputs:
        if x.is_smooth:
            size = np.abs(x.array)
            far = FAR[x.dtype]
            if (np.isfinite(size) & ((size > far) | ((size > 0) & (size < 1 / far)))).any():
                return True
    return False


def _comparable(case):
    """Return the elements of a result that can be compared: "all", "finite", or None."""
    if _is_tame(case):
        return "all"
    record, inputs = case.operation.record, case.operation.inputs
    elementwise = isinstance(record.kernel, operators.schema().elementwise)
    real = all(KIND_OF[x.dtype] != "c" for x in inputs)
    one_step = elementwise and (len(record.args) == 1 or record.name in ONE_STEP)
    if one_step and (real or (len(inputs) == 1 and np.isfinite(inputs[0].array).all())):
        return "all"
    if _has_far(case) or record.name in ("prod", "cumprod"):
        return None
    return "all" if real and elementwise else "finite"


def _compare(expect, array, exact, name, limit, what):
    if expect is None:
        return
    text = difference(array, exact, name, limit, nonfinite=expect == "all")
    if text:
        raise Wrong(f"{what}: {text}")


def _check_reference(case, found, names, limits):
    """The NumPy expression of the record, for ordinary numbers."""
    operation = case.operation
    text = operation.record.tests.reference
    if not isinstance(text, str) or operation.record.name in SAMPLES_ONLY:
        return
    if not _is_tame(case) or operation.form == "inplace" or _changes_numbers(operation):
        return
    arrays = []
    for x in operation.inputs:
        array = x.array
        if KIND_OF[x.dtype] in "biu":
            floats = KIND_OF[names[0]] in "hfc" if names else False
            array = array.astype(np.float64 if floats else x.dtype)
        arrays.append(array)
    args, kwargs = operation.arguments(arrays)
    given = dict(zip([a.name for a in operation.record.args], args)) | kwargs
    for a in operation.record.args:
        if a.name not in given:
            given[a.name] = None if a.default is None else eval(a.default)
    try:
        with np.errstate(all="ignore"):
            wanted = eval(text, libraries(text) | given)
    except Exception:
        return  # NumPy has no such call: a reduction of nothing, a mixture of dtypes
    if not isinstance(wanted, tuple):
        wanted = (wanted,)
    if len(wanted) != len(found):
        raise Wrong(f"{len(found)} results, expected {len(wanted)}")
    for array, name, limit, goal in zip(found, names, limits, wanted):
        goal = np.asarray(goal)
        if KIND_OF[name] in "biu":
            goal = rounded(goal, name)
        elif goal.size:
            # NumPy's own error is in float64, and its formula may be a plainer one.
            limit = np.maximum(limit, 1e-11 * np.abs(goal).max())
        _compare("all", array, goal, name, limit, "by NumPy")


def _changes_numbers(operation):
    """
    Return whether a number becomes another one in the dtype of the tensors, which NumPy doesn't do:
    a fraction beside integers is cut off, a negative one beside uint8 and its like wraps.
    """
    plain = [x for x in operation.args if isinstance(x, (int, float))]
    if (
        plain
        and min(plain) < 0
        and all(KIND_OF[x.dtype] in "ub" or x.dtype == "uint8" for x in operation.inputs)
    ):
        return True
    fractions = [x for x in operation.kwargs.values() if isinstance(x, float) and x % 1]
    return bool(fractions) and all(not x.is_smooth for x in operation.inputs)


OUT = ("nothing", "another shape", "stepped", "turned", "shared")


def _check_out(case, lib, tensors, wanted, name, limit):
    """Compare the call with one into existing memory, of some layout."""
    kind, dtype = OUT[case.seed % len(OUT)], getattr(lib, name)
    shape = wanted.shape
    if kind == "stepped" and shape:
        out = lib.ones((*shape[:-1], 2 * shape[-1]), dtype=dtype)[..., ::2]
    elif kind == "turned":
        out = lib.ones(shape[::-1], dtype=dtype)
        out = out.permute(*range(len(shape))[::-1]) if shape else out
    elif kind == "shared" and wanted.size > 1:
        out = lib.ones((1,) * len(shape), dtype=dtype).expand(shape)
    elif kind == "another shape":
        out = lib.ones(7, dtype=dtype)
    else:
        out = lib.empty(0, dtype=dtype)
    shared = kind == "shared" and wanted.size > 1
    operation = case.operation
    args, kwargs = operation.arguments([t.detach() for t in tensors])
    try:
        result = operators.function_of(lib, operation.record, operation.name)(
            *args, **kwargs, out=out
        )
    except REFUSALS as error:
        if shared:
            return
        raise Wrong(f"out= ({kind}) is refused: {type(error).__name__}: {error}") from None
    if shared:
        raise Wrong("out= takes a tensor whose elements share memory")
    if result is not out:
        raise Wrong("out= isn't what is returned")
    found = to_array(out)
    if dtype_name(out) != name:
        raise Wrong(f"out= has the dtype {dtype_name(out)}")
    if found.shape != shape or not np.array_equal(found, wanted, equal_nan=found.dtype != bool):
        # Products may add in another order for another layout.
        text = difference(found, wanted, name, limit)
        if text:
            raise Wrong(f"out= ({kind}): {text}")


def _check_threads(case, lib, found):
    """Check that another number of threads gives the same bits."""
    threads = lib.get_num_threads()
    lib.set_num_threads(3)
    try:
        tensors = [x.tensor(lib) for x in case.operation.inputs]
        if case.operation.form == "inplace":
            tensors = [t.detach() for t in tensors]
        other = [to_array(t) for t in _outputs(case.operation.call(lib, tensors))]
    finally:
        lib.set_num_threads(threads)
    for a, b in zip(found, other):
        if not _same_bits(a, b):
            raise Wrong("other bits with three threads")


def _same_bits(a, b):
    """Return whether all bits are equal, but those of NaN, whose sign no rule of IEEE 754 fixes."""
    if a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind == "c":
        a, b = (np.ascontiguousarray(x).reshape(-1).view(x.real.dtype) for x in (a, b))
    both = (a != a) & (b != b)
    return np.where(both, 0, a).tobytes() == np.where(both, 0, b).tobytes()
