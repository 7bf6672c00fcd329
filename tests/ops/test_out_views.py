"""`out=` of every operator into views of every kind: filled, resized in their memory, or refused.

Expected values are those of the same call without `out=`; the memory around the view stays as it
was. The ranges fill a view of another shape with as many elements.
"""

import warnings

import numpy as np
import pytest
from calls import EVALUATOR, Case, make, outputs, records, to_array
from grouping import each
from out_places import VIEWS, attempt, faults
from test_op_inplace_and_out import dtype_of

import autograd_cy as ag

# Functions that are no records.
BY_HAND = """
aminmax(x); aminmax(x, dim=0); chain_matmul(x, x); column_stack((x, x)); dstack((x, x))
hstack((x, x)); vstack((x, x)); eye(3); full((2, 3), 3.0); matrix_power(x, 3); ones(2, 2)
matrix_power(x, -1); polygamma(1, p); special.polygamma(2, p); tensordot(x, x, 1); zeros(2, 3)
linalg.cross(x, s); linalg.matrix_norm(x, "nuc"); linalg.multi_dot((x, x, x)); linalg.norm(x, 1)
linalg.norm(x, 2, 1); linalg.vecdot(x, s); linalg.vector_norm(x, 1, 0, True); nonzero(x)
linalg.eigh(s); linalg.svd(x); max(x, 0); min(x, s); median(x, 0); sort(x, 0)
scatter(x, 0, g, s, reduce="add"); scatter(x, 0, g, 2.0); index_add(x, 0, i, s[:2], alpha=2)
rand(2, 3); randn(2, 3); randint(5, (2, 3)); normal(0.0, 1.0, (2, 3)); randperm(5)
normal(x, p); bernoulli(p / 9); multinomial(p, 2); var_mean(x, 0); std(x, 0); float_power(x, 2)
isin(x, s); masked_select(x, x > 0); take(x, g); kthvalue(x, 2, 0); topk(x, 2)
cummax(x, 0); histc(x, 4); bucketize(x, i.double()); searchsorted(s, x); complex(x, s)
polar(p, x); cat((x, s)); stack((x, s)); where(x > 0, x, s); einsum("ij,jk", x, s)
nn.functional.avg_pool2d(x[None], 2); nn.functional.gelu(x); linalg.solve(s, x); inverse(s)
"""
RANGES = """
arange(6); arange(6.0); arange(1, 13, 2); linspace(0, 5, 6); logspace(0, 5, 6)
fft.fftfreq(6); fft.rfftfreq(10); linspace(5.0, 0.0, 6)
"""


ALSO_RANGES = ("fft_fftfreq", "fft_rfftfreq")


def calls(text):
    return [c.strip() for c in text.replace("\n", ";").split(";") if c.strip()]


def called(text):
    """A call that takes ``out``; random numbers are the same each time."""
    s = ag.tensor([[4.0, 1, 2], [1, 5, 1], [2, 1, 6]], dtype=ag.float64)
    x = ag.tensor([[1.0, -2, 3], [0.5, 2, -1], [2, 1, 0.25]], dtype=ag.float64)
    i, g = ag.tensor([0, 2]), ag.tensor([[0, 1, 2], [1, 0, 1]])
    names = {"L": ag, "s": s, "x": x, "i": i, "g": g, "p": x.abs() + 0.5}
    function = eval(f"lambda **more: L.{text[:-1]}, **more)", names)

    def form(**more):
        ag.manual_seed(3)
        return function(**more)

    return form


def has_out(record):
    taken = (
        (record.call.out or record.outs)
        and record.tests.samples
        and not record.name.startswith("_")
    )
    return taken and record.key not in ALSO_RANGES


@each("record", records(has_out))
def test_out_into_views(record):
    numbers = {0, len(record.tests.samples) - 1}
    wrong = [f for n in numbers for f in faults(record, make(Case(record, n), dtype_of(record)))]
    assert not wrong, wrong


@pytest.mark.slow
@each("record", records(has_out))
def test_out_of_all_samples_into_views(record):
    names = [dtype_of(record), *(["float32"] if "f" in record.call.dtypes else [])]
    wrong = [
        f
        for n in range(len(record.tests.samples))
        for name in names
        for f in faults(record, make(Case(record, n), name))
    ]
    assert not wrong, wrong


def takes_out(form, results):
    empty = [ag.empty(0, dtype=r.dtype) for r in results]
    try:
        form(out=tuple(empty) if len(empty) > 1 else empty[0])
    except TypeError:
        return False
    return True


@each("text", calls(BY_HAND))
def test_out_of_what_is_no_record_into_views(text):
    form = called(text)
    results = outputs(form())
    if not takes_out(form, results):
        pytest.skip("no out=")
    wrong = [attempt(form, (), {}, results, kind, i) for kind in VIEWS for i in range(len(results))]
    assert not any(wrong), [w for w in wrong if w]


@each("text", calls(RANGES))
def test_ranges_fill_views_of_another_shape(text):
    form = called(text)
    expected = form()
    bases = [ag.full((3, 4), 9, dtype=expected.dtype) for _ in range(4)]
    views = [bases[0][:2, 1:], bases[1][:, ::2].t(), bases[2].view(-1)[3:9], bases[3][::2, 1:]]
    for base, view in zip(bases, views):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert form(out=view) is view
        assert view.reshape(-1).equal(expected)
        assert (base == 9).sum() >= 6 - (expected == 9).sum()
    wrong = [attempt(form, (), {}, [expected], kind) for kind in VIEWS if kind != "reshaped"]
    assert not any(wrong), [w for w in wrong if w]


def several(record):
    return record.outs and not record.name.startswith("_") and record.tests.samples


@each("record", records(several))
def test_several_outputs_in_the_memory_of_the_operand(record):
    """Right, or refused with nothing written; never made of what has been written already."""
    call = make(Case(record, 0), dtype_of(record))
    form = EVALUATOR.form(record)
    expected = [r.clone() for r in outputs(call(call.tensors()))]
    size = call.arrays[0].size
    for at, result in enumerate(expected):
        if result.dtype != call.tensors()[0].dtype:
            continue
        n = result.numel()
        for start in {n, n + 1, max(n - 1, 0), n + size}:
            buffer = ag.zeros(3 * (n + size) + 3, dtype=result.dtype)
            first = buffer[n : n + size].view(call.arrays[0].shape)
            first.copy_(ag.from_numpy(call.arrays[0].copy()))
            given = [ag.empty(0, dtype=r.dtype) for r in expected]
            given[at] = buffer[start : start + n].view(result.shape)
            before = to_array(buffer)
            args, kwargs = call.arguments([first, *call.tensors()[1:]])
            try:
                form(*args, **kwargs, out=tuple(given))
            except RuntimeError as error:
                if "single memory" not in str(error):
                    raise
                np.testing.assert_array_equal(to_array(buffer), before)
                continue
            for x, y in zip(given, expected):
                np.testing.assert_array_equal(to_array(x), to_array(y))


MADE = """
arange(3.0); linspace(0, 1, 3); logspace(0, 1, 3); zeros(3); ones(3); full((3,), 2.0); empty(3)
eye(3); rand(3); randn(3); randint(3, (3,)); normal(0.0, 1.0, (3,)); fft.fftfreq(3)
"""


@each("text", calls(MADE))
def test_what_is_made_of_numbers_goes_into_no_examples_tangents_or_inference_tensors(text):
    form, x = called(text), ag.ones(2, 3)
    with pytest.raises(RuntimeError, match="not possible under vmap"):
        ag.vmap(lambda row: form(out=row))(x)
    with pytest.raises(NotImplementedError, match="forward AD"):
        ag.func.jvp(lambda row: form(out=row), (x[0],), (x[0],))
    with pytest.raises(RuntimeError, match="automatic differentiation"):
        form(out=ag.ones(3, requires_grad=True))
    with ag.inference_mode():
        made_there = ag.ones(3)
    with pytest.raises(RuntimeError, match="inference tensor outside InferenceMode"):
        form(out=made_there)
    assert (x == 1).all() and (made_there == 1).all()
    leaf = ag.ones((3, 3) if text.startswith("eye") else 3, requires_grad=True)
    with ag.no_grad():
        form(out=leaf)
    assert leaf.requires_grad and leaf.is_leaf


def test_results_that_would_need_more_memory_than_others_see_are_refused():
    array = np.zeros(2)
    with pytest.raises(RuntimeError, match="not resizable.*belongs to another object"):
        ag.add(ag.ones(3), 1, out=ag.from_numpy(array))
    base = ag.zeros(4)
    for out in (base[:0], base[1:3], base.view(2, 2), base.detach()):
        with pytest.raises(RuntimeError, match=r"not resizable.*out of shape \[5\]"):
            ag.add(ag.ones(5), 1, out=out)
    assert not base.any()


def test_a_resized_output_of_its_own_is_none_of_its_base_any_more():
    out = ag.zeros(2, dtype=ag.complex64).conj()
    with pytest.warns(UserWarning, match="resized"):
        ag.mul(ag.ones(3, dtype=ag.complex64), 2j, out=out)
    assert out.tolist() == [2j] * 3 and not out._is_view()


def test_a_saved_tensor_that_was_resized_as_output_is_noticed():
    x = ag.ones(2, requires_grad=True)
    kept = ag.ones(2)
    kept.mul_(2)
    y = (x * kept).sum()
    with ag.no_grad(), pytest.warns(UserWarning, match="resized"):
        ag.add(ag.ones(5), 1, out=kept)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize(
    "text", ["exp(a)", "add(a, a)", "sort(a)", "clamp(a, 0, 1)", "cumsum(a, 0)"]
)
def test_an_empty_output_gets_the_strides_of_a_fresh_result(text):
    a = ag.arange(24.0).view(2, 3, 4).permute(2, 0, 1)
    call = eval(f"lambda **more: ag.{text[:-1]}, **more)", {"ag": ag, "a": a})
    results = outputs(call())
    given = [ag.empty(0, dtype=r.dtype) for r in results]
    call(out=tuple(given) if len(given) > 1 else given[0])
    assert [x.stride() for x in given] == [x.stride() for x in results]


@pytest.mark.filterwarnings("ignore:torch.range")
def test_a_closed_range_fills_a_view_of_another_shape():
    base = ag.zeros(2, 3)
    ag.range(0, 3, out=base[:, 1:])
    assert base.tolist() == [[0, 0, 1], [0, 2, 3]]
