"""The functions that take ``out=``, and their writes to it, against torch.

Samples of the records, and calls of what is no record. What torch refuses may be taken here.
"""

import warnings

import pytest
from calls import RECORDS, Case, dtype_name, make, outputs, to_array
from grouping import each
from varied import dtype_of

import autograd_cy as ag

torch = pytest.importorskip("torch")

from test_op_arguments_against_torch import as_torch  # noqa: E402

# Ours, which torch refuses: a rule that is the same for all.
MORE = {
    "sum": "without dim",
    "prod": "without dim",
    "argsort": "as other functions of the family",
    "median": "without dim",
    "nanmedian": "without dim",
    "relu": "as other activations",
    "selu": "as other activations",
    "glu": "torch has it under another name only",
    "embedding": "as index_select",
    "constant_pad_nd": "as pad",
}
BY_HAND = """
aminmax(x); aminmax(x, dim=0); arange(5); chain_matmul(x, x)
chain_matmul(x); column_stack((x, x)); dstack((x, x)); hstack((x, x)); vstack((x, x))
eye(3); full((2,), 3.0); linspace(0, 1, 5); logspace(0, 1, 5); matrix_power(x, 3)
matrix_power(x, -1); multinomial(p[:, :1], 1); ones(2); zeros(2)
polygamma(1, p); polygamma(0, p); special.polygamma(2, p); range(1, 4); range(3, 0.5, -0.5)
tensordot(x, x, 1); linalg.cross(x, s); linalg.eigvalsh(s); linalg.cholesky(s)
linalg.matmul(x, s); linalg.matrix_norm(x); linalg.matrix_norm(x, "nuc")
linalg.matrix_norm(x, 2); linalg.matrix_norm(x, 1, dim=(0, 1), keepdim=True)
linalg.matrix_power(x, 2); linalg.multi_dot((x, x, x)); linalg.norm(x); linalg.norm(x, 1)
linalg.norm(x, "fro"); linalg.norm(x, 2, 1); linalg.norm(x, "nuc", (0, 1), True)
linalg.svdvals(x); linalg.vecdot(x, s); linalg.vector_norm(x)
linalg.vector_norm(x, 1, 0, True); linalg.solve(s, x); fft.fftfreq(4); fft.fftfreq(5, 0.5)
fft.rfftfreq(4); nn.functional.gelu(x); nn.functional.gelu(x, approximate="tanh")
nn.functional.avg_pool2d(x[None], 2); nn.functional.avg_pool3d(x[None, None], (1, 2, 2))
nonzero(x); index_add(x, 0, i, s[:2], alpha=2); scatter(x, 0, g, s, reduce="add")
scatter(x, 0, g, 2.0, reduce="multiply"); scatter(x, 0, g, value=2.0)
scatter(x, 0, g, src=s); norm(x, 1, (0, 1), True); std(x, dim=0, correction=0); mean(x, 0)
max(x, 0); max(x, s); sort(x, 0, True); sort(x, stable=True); isin(x, s)
isin(2.0, x); special.round(p, decimals=1); special.xlogy(p, 2); float_power(x, 2)
""".replace("\n", ";")


def operands(lib):
    s = lib.tensor([[4.0, 1, 2], [1, 5, 1], [2, 1, 6]], dtype=lib.float64)
    x = lib.tensor([[1.0, -2, 3], [0.5, 2, -1], [2, 1, 0.25]], dtype=lib.float64)
    i, g = lib.tensor([0, 2]), lib.tensor([[0, 1, 2], [1, 0, 1]])
    return {"s": s, "x": x, "i": i, "g": g, "p": x.abs() / 4, "L": lib}


def written(function, result, lib):
    """(what was returned and given, or the error)."""
    given = [lib.empty(0, dtype=t.dtype) for t in outputs(result)]
    several = isinstance(result, (tuple, list))
    try:
        found = function(tuple(given) if several else given[0])
    except Exception as error:
        return error
    return [*outputs(found)], given


def difference(ours, theirs, label):
    if isinstance(ours, Exception) or isinstance(theirs, Exception):
        if isinstance(ours, Exception) == isinstance(theirs, Exception):
            return None
        more = isinstance(theirs, Exception)
        return None if more and label in MORE else f"ours {ours!r}, torch {theirs!r}"
    (found, given), (wanted, their_given) = ours, theirs
    same = [x is y for x, y in zip(found, given)]
    if same != [x is y for x, y in zip(wanted, their_given)]:
        return f"what is returned: {same}"
    for x, y in zip(found, wanted):
        if tuple(x.shape) != tuple(y.shape) or dtype_name(x) != dtype_name(y):
            return f"{x.dtype} {tuple(x.shape)}, torch {y.dtype} {tuple(y.shape)}"
        if abs(to_array(x) * 1.0 - y.resolve_conj().numpy()).max(initial=0) > 1e-6:
            return f"{x}, torch {y}"
    return None


def place(lib, record):
    for word in filter(None, [*record.namespace.split("."), record.name]):
        lib = getattr(lib, word, None)
    return lib


def known(record):
    public = record.call.function and record.tests.samples and not record.name.startswith("_")
    return public and place(ag, record) and place(torch, record)


RANDOM = ("rrelu", "dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout")


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if known(r)])
def test_out_is_taken_where_torch_takes_it(record):
    ours, theirs = place(ag, record), place(torch, record)
    faults = []
    for number in {0, len(record.tests.samples) - 1}:
        call = make(Case(record, number), dtype_of(record))
        args, kwargs = call.arguments(call.tensors())
        their_args = [as_torch(x) for x in args]
        their_kwargs = {k: as_torch(v) for k, v in kwargs.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results = ours(*args, **kwargs), theirs(*their_args, **their_kwargs)
            except RuntimeError:
                continue
            if record.name in RANDOM or not hasattr(outputs(results[0])[0], "dtype"):
                continue
            found = written(lambda out: ours(*args, **kwargs, out=out), results[0], ag)
            wanted = written(
                lambda out: theirs(*their_args, **their_kwargs, out=out), results[1], torch
            )
        faults.append(difference(found, wanted, record.name))
    assert not any(faults), faults


@each("text", [c.strip() for c in BY_HAND.split(";") if c.strip()])
def test_out_of_what_is_no_record(text):
    found = []
    for lib in (ag, torch):
        names = operands(lib)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call = eval(f"lambda L, **more: L.{text[:-1]}, **more)", names)
            found.append(written(lambda out: call(lib, out=out), call(lib), lib))
    assert not isinstance(found[1], Exception), found[1]
    assert difference(*found, text) is None


@pytest.mark.parametrize(
    "text",
    ["linalg.norm(x)", "linalg.vecdot(x, s)", "chain_matmul(x, x)",
     "linalg.matrix_norm(x, 1)", "tensordot(x, x, 1)", "linalg.svdvals(x)", "nonzero(x)",
     "scatter(x, 0, g, s)", "index_copy(x, 0, i, s[:2])", "scatter_add(x, 0, g, s)"],
)  # fmt: skip
def test_other_kinds_of_out_are_refused_as_in_torch(text):
    """Refused are another dtype, shared elements, requiring grad, and objects that aren't
    tensors."""
    outs = (
        "L.zeros(3, 3, dtype=L.complex128)",
        "L.zeros(3, 3, dtype=L.float32)",
        "3",
        "[x]",
        "L.zeros(1, dtype=L.float64).expand(3, 3)",
        "L.zeros((), requires_grad=True)",
    )
    for out in outs:
        found = []
        for lib in (ag, torch):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    eval(f"L.{text[:-1]}, out={out})", operands(lib))
                    found.append("taken")
                except Exception as error:
                    found.append("TypeError" if isinstance(error, TypeError) else "refused")
        assert found[0] == found[1], (out, found)


@pytest.mark.parametrize("name", ["index_add", "index_copy", "scatter", "scatter_add"])
def test_operands_in_the_memory_of_out_are_refused_but_the_first(name):
    x, source = ag.arange(12.0).reshape(3, 4), ag.ones(3, 4)
    index = ag.tensor([2, 0, 1]) if name.startswith("index") else ag.tensor([[2, 0, 1, 1]] * 3)
    function = getattr(ag, name)
    expected = function(x, 0, index, source)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        function(x, 0, index, source, out=source)
    assert source.tolist() == ag.ones(3, 4).tolist()
    assert function(x, 0, index, source, out=x) is x and x.equal(expected)
