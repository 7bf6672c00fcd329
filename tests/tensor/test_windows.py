"""Windows: the same weights as torch's, and the same arguments refused."""

import numpy as np
import pytest

import autograd_cy as ag

NAMES = ("bartlett", "blackman", "hamming", "hann", "kaiser")
NUMBERS = {"hamming": (0.5, 0.25), "kaiser": (3.0,)}


def window_of(library, name):
    return getattr(library, f"{name}_window")


@pytest.mark.parametrize("name", NAMES)
def test_weights_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    for length in (0, 1, 2, 3, 8, 65):
        for more in ((), (False,), (True, *NUMBERS.get(name, ()))):
            for dtype in ("float64", "float32", "float16", "bfloat16"):
                ours = window_of(ag, name)(length, *more, dtype=getattr(ag, dtype))
                theirs = window_of(torch, name)(length, *more, dtype=torch.float64)
                assert str(ours.dtype).endswith(dtype) and ours.shape == (length,)
                close = 16 * ag.finfo(ours.dtype).eps
                np.testing.assert_allclose(ours.double().numpy(), theirs.numpy(), 0, close)


@pytest.mark.parametrize("name", NAMES)
def test_options_are_heeded(name):
    window = window_of(ag, name)
    assert window(3).dtype == ag.float32
    assert window(3, dtype=float).dtype == ag.float64
    assert window(3, requires_grad=True).requires_grad
    assert window(np.int64(3), layout=ag.strided).tolist() == window(window_length=3).tolist()
    assert window(3, device="meta").is_meta
    with ag.device("meta"):
        assert window(3).is_meta and window(1).is_meta


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((2.5,), {}, TypeError, r"argument 'window_length' \(position 1\) must be int, not float"),
        ((True,), {}, TypeError, "'window_length' .* must be int, not bool"),
        (("3",), {}, TypeError, "'window_length' .* must be int, not str"),
        ((3, 2.0), {}, TypeError, r"'periodic' \(position 2\) must be bool, not float"),
        ((3, None), {}, TypeError, "'periodic' .* must be bool, not NoneType"),
        ((-1,), {}, RuntimeError, "requires non-negative window_length, got window_length=-1"),
        ((0,), {"dtype": ag.int64}, RuntimeError, "expects floating point dtypes"),
        ((-1,), {"dtype": ag.int64}, RuntimeError, "expects floating point dtypes"),
        ((3,), {"layout": ag.sparse_coo}, NotImplementedError, "layout"),
    ],
)
def test_arguments_are_refused(name, arguments, options, error, message):
    with pytest.raises(error, match=message) as refused:
        window_of(ag, name)(*arguments, **options)
    if "layout" not in options:
        assert str(refused.value).startswith(f"{name}_window")


def test_numbers_are_refused():
    with pytest.raises(TypeError, match=r"'alpha' \(position 3\) must be float, not str"):
        ag.hamming_window(3, True, "a")
    with pytest.raises(TypeError, match=r"'beta' \(position 4\) must be float, not complex"):
        ag.hamming_window(3, True, 0.5, 1j)
    with pytest.raises(TypeError, match=r"'beta' \(position 3\) must be float, not str"):
        ag.kaiser_window(3, beta="a")
