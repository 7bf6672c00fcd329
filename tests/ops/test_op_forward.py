"""Forward results of every record against its NumPy/SciPy reference, in every claimed dtype."""

import builtins
import functools

import numpy as np
import pytest
import scipy.special
from calls import (
    CLASS_OF,
    CLASSES,
    NAMES,
    NUMPY,
    RECORDS,
    cases,
    claimed,
    dtype_name,
    make,
    method_name,
    outputs,
    public_function,
    records,
    tensor,
    to_array,
)
from expected import (
    HALVES,
    assert_identical,
    assert_same,
    promotion,
    result_dtype,
    tolerance,
)
from grouping import each

import autograd_cy as ag
from autograd_cy.ops import _schema as schema
from ext.codegen.dtypes import CLASS_BITS, ELEMENT_TYPES

# Names of dtypes in errors.
SCALARS = {t.name: t.scalar for t in ELEMENT_TYPES}


def has_reference(record):
    return isinstance(record.tests.reference, str)


@functools.cache
def compiled(text):
    return compile(text.strip(), "<reference>", "eval")


def reference(call, name):
    """The value of the record's reference on the arrays of a call."""
    wanted = result_dtype(call.record, name)
    arrays = []
    for leaf in call.leaves:
        x = leaf.array
        if CLASS_OF.get(str(x.dtype)) == "h":
            x = x.astype(np.float32)
        elif x.dtype.kind in "biu" and CLASS_OF[wanted] in "hf" and str(x.dtype) == name:
            x = x.astype(np.float64)
        arrays.append(x)
    names = {"np": np, "scipy": scipy, "builtins": builtins, **call.named(arrays)}
    with np.errstate(all="ignore"):
        return eval(compiled(call.record.tests.reference), names)


def result_name(call, name):
    """The dtype that the promoted arguments of a call have."""
    tensors = [(name, x.array.ndim) for x in call.leaves if x.array.dtype == NUMPY[name]]
    given = call.named(call.arrays)
    numbers = [
        given[a.name]
        for a in call.record.args
        if a.type in ("operand", "operand?")
        and isinstance(given[a.name], (bool, int, float, complex))
    ]
    return promotion(tensors, numbers)


def check(call, name):
    tensors = call.tensors()
    result = call(tensors)
    promoted = result_name(call, name)
    expected = reference(call, promoted)
    wanted = result_dtype(call.record, promoted)
    if call.record.name == "sum_to_size" and expected.shape != call.arrays[0].shape:
        wanted = "int64" if CLASS_OF[name] in "bi" else name  # it summed
    if call.record.name == "masked_fill":
        wanted = name  # a number that it writes is converted
    if call.record.name == "float_power":  # the widest
        wanted = "complex128" if CLASS_OF[promoted] == "c" else "float64"
    several = isinstance(result, (tuple, list))
    if several:
        assert len(result) == len(expected)
    for i, (x, y) in enumerate(zip(outputs(result), expected if several else (expected,))):
        x_name = call.record.returns[i] if len(call.record.returns) > 1 else "result"
        if several:
            wanted = result_dtype(call.record, promoted, x_name)
        assert dtype_name(x) == ("int64" if x_name == "indices" else wanted), x_name
        relative = tolerance(call.record, wanted if wanted in HALVES else promoted)
        assert_same(to_array(x), y, relative, x_name)
    for t, leaf in zip(tensors, call.leaves):
        np.testing.assert_array_equal(t.numpy(), leaf.array, "the operator changed its argument")


def float_factors(case):
    """Return whether a sample has float factors, which integers refuse (see test_op_errors.py)."""
    return any(isinstance(x, float) for x in case.sample.kwargs.values())


@each("case", cases(has_reference))
def test_equals_the_reference(case):
    sums = ("addmm", "addmv", "addbmm", "baddbmm")
    whole = case.record.name not in sums or not float_factors(case)
    letters = "bihfc" if whole else "hfc"
    for name in claimed(case.record, letters):
        try:
            check(make(case, name), name)
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"in {name}")
            raise


# Composites take what their parts take, as those of torch do; tests of nn have it.
TAKE_MORE = (
    *"pairwise_distance bilinear margin_ranking_loss hinge_embedding_loss".split(),
    *"cosine_embedding_loss triplet_margin_loss poisson_nll_loss rnn_tanh_cell".split(),
)


def takes_some(record):
    return (
        record.tests.samples
        and set(record.call.dtypes) != set("bihfc")
        and record.key not in TAKE_MORE
    )


def refusal(record, call, name):
    """The beginning of the RuntimeError that a record has for a dtype; None: it has another."""
    words, found = record.call.refusal, result_name(call, name)
    if words is None or isinstance(words, str):
        return words and f"{words}, not "
    words = words.get(CLASS_OF[found])
    return words and words.format(SCALARS[found])


@each("record", records(takes_some))
def test_other_dtypes_are_refused(record):
    case = cases(lambda r: r is record)[0].values[0]
    for letter in sorted(set("bihfc") - set(record.call.dtypes)):
        for name in CLASSES[letter][:1]:
            call = make(case, name)
            if not call.leaves:
                continue
            if CLASS_OF[result_name(call, name)] in record.call.dtypes:
                continue  # a number of the sample promotes it
            tensors = call.tensors()
            with pytest.raises((RuntimeError, TypeError, NotImplementedError)) as caught:
                call(tensors)
            assert str(caught.value), f"no message for {name}"
            if (words := refusal(record, call, name)) is not None:
                assert type(caught.value) is RuntimeError
                assert f"{record.shown}: {words}" in str(caught.value)
            for t, leaf in zip(tensors, call.leaves):
                np.testing.assert_array_equal(t.numpy(), leaf.array)


def layouts(array):
    """Return the elements in other memory layouts: transposed, in steps, and with gaps."""
    if array.ndim >= 2:
        yield np.asfortranarray(array)
    if array.ndim >= 1:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
        view = wide[..., 1::2]
        view[...] = array
        yield view


def strided_tensor(array):
    """A tensor with the strides of `array` (its memory is copied whole)."""
    return ag.from_numpy(array)


@each("case", cases(lambda r: any(c in r.call.dtypes for c in "fic")))
@pytest.mark.filterwarnings("ignore:torch.searchsorted:UserWarning")  # of other layouts
def test_memory_layout_does_not_matter(case):
    name = next(
        n for n in ("float32", "complex64", "int32") if CLASS_OF[n] in case.record.call.dtypes
    )
    if case.record.name in (
        "as_strided",
        "as_strided_scatter",
        "view",
        "view_as",
        "view_as_complex",
    ):
        pytest.skip("its meaning is the memory layout")
    call = make(case, name)
    plain = call(call.tensors())
    for kind in range(2):
        tensors = []
        for leaf in call.leaves:
            found = list(layouts(leaf.array))
            tensors.append(
                strided_tensor(found[kind % len(found)]) if found else tensor(leaf.array)
            )
        result = call(tensors)
        for x, y in zip(outputs(result), outputs(plain)):
            assert dtype_name(x) == dtype_name(y)
            assert_same(to_array(x), to_array(y), tolerance(case.record, name))
    if case.record.key in ("linalg_inv", "linalg_solve"):
        return  # equal rows are singular
    if call.leaves and all(x.array.size and x.array.ndim for x in call.leaves[:1]):
        # An expanded first argument: every row the same.
        first = call.leaves[0].array
        row = np.ascontiguousarray(first[:1])
        expanded = ag.from_numpy(row).expand(first.shape)
        rest = [tensor(x.array) for x in call.leaves[1:]]
        again = [tensor(x.array) for x in call.leaves[1:]]
        dense = tensor(np.ascontiguousarray(np.broadcast_to(row, first.shape)))
        for x, y in zip(outputs(call([expanded, *rest])), outputs(call([dense, *again]))):
            assert_same(to_array(x), to_array(y), tolerance(case.record, name))


@each("case", cases(lambda r: not r.name.startswith("_")))
def test_function_and_method_reach_the_operator(case):
    record = case.record
    name = next(n for n in ("float32", "complex64", "int32") if CLASS_OF[n] in record.call.dtypes)
    call = make(case, name)
    expected = call(call.tensors())
    if record.call.function and record.name not in ("zeros_like", "ones_like", "slice"):
        assert_identical(call(call.tensors(), public_function(record)), expected)
    if record.call.method and isinstance(case.sample.args[0], schema.arg):
        first, *rest = call.tensors()
        args, kwargs = call.arguments([first, *rest])
        assert_identical(getattr(first, method_name(record))(*args[1:], **kwargs), expected)


def test_every_record_claims_known_dtypes():
    for record in RECORDS:
        assert set(record.call.dtypes) <= set(CLASS_BITS)
        assert set(claimed(record)) <= set(NAMES)
