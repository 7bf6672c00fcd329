"""``out=`` and ``dtype=`` of one call have to agree; without `dtype` it is that of `out`."""

import pytest

import autograd_cy as ag

FUNCTIONS = {
    "sum": lambda x, **k: ag.sum(x, 0, **k),
    "prod": lambda x, **k: ag.prod(x, 0, **k),
    "mean": lambda x, **k: ag.mean(x, 0, **k),
    "nansum": lambda x, **k: ag.nansum(x, 0, **k),
    "cumsum": lambda x, **k: ag.cumsum(x, 0, **k),
    "cumprod": lambda x, **k: ag.cumprod(x, 0, **k),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_out_of_another_dtype_than_asked_is_refused(name):
    function, x = FUNCTIONS[name], ag.tensor([1.0, 2.0])
    shape = function(x).shape
    for mine, asked in (
        (ag.float32, ag.float64),
        (ag.float64, ag.float32),
        (ag.complex64, ag.float32),
    ):
        out = ag.full(shape, 7, dtype=mine)
        with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
            function(x, dtype=asked, out=out)
        assert out.tolist() == ag.full(shape, 7, dtype=mine).tolist() and out._version == 0
    for dtype in (ag.float32, ag.float64):
        out = ag.empty(shape, dtype=dtype)
        assert function(x, dtype=dtype, out=out) is out
        assert out.tolist() == function(x.double()).tolist()
        assert function(x, out=ag.empty(shape, dtype=dtype)).dtype == dtype
