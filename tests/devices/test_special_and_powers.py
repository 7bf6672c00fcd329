"""Powers, quotients, thresholds and special functions: on `meta`, and run again or refused."""

import numpy as np
import pytest
from grouping import each
from helpers import family, launched_again, meta_agrees, meta_gradients_agree, out_memory

import autograd_cy as ag
from autograd_cy._C.launch import capture

SPECIAL = ("lgamma", "digamma", "_polygamma", "igamma", "igammac")
POWERS = ("pow", "logit", "_div_rounded", "threshold", "_threshold_backward")
FILES = ("special", "smooth_activation", "piecewise_activation", "arithmetic")


def named(*names):
    return family(*FILES, keep=lambda r: r.key in names)


LETTERS = {"float64": "f", "float32": "f", "bfloat16": "h", "float16": "h", "int32": "i"}


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@each("case", named(*SPECIAL, *POWERS))
def test_results_are_sized_as_on_the_cpu(case, dtype):
    if LETTERS[dtype] not in case.record.call.dtypes:
        pytest.skip("not claimed")
    meta_agrees(case, dtype)


@each("case", named(*(n for n in (*SPECIAL, *POWERS) if n[:6] != "igamma")))
def test_gradients_are_sized_as_on_the_cpu(case):
    meta_gradients_agree(case)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "int32"])
@each("case", named(*POWERS))
def test_powers_run_again(case, dtype):
    if LETTERS[dtype] not in case.record.call.dtypes:
        pytest.skip("not claimed")
    launched_again(case, dtype)


def test_what_scipy_computes_is_refused_while_launches_are_kept():
    x = ag.ones(3)
    for call in (
        lambda: x.polygamma(2),
        lambda: x.polygamma(3),
        lambda: ag.igamma(x, x),
        lambda: ag.igammac(x, x),
    ):
        with pytest.raises(RuntimeError, match="can't be captured: SciPy computes it"):
            capture(call)


def test_out_and_in_place_forms_of_special_functions():
    x = ag.rand(40, 30, dtype=ag.float64) + 0.5
    expected = x.lgamma()
    for out in (ag.empty(40, 30, dtype=ag.float64), ag.empty(30, 40, dtype=ag.float64).t()):
        assert ag.lgamma(x, out=out) is out
        np.testing.assert_array_equal(out.numpy(), expected.numpy())
    y = x.clone()
    assert y.lgamma_() is y
    np.testing.assert_array_equal(y.numpy(), expected.numpy())
    y = x.t().clone()
    y.lgamma_()
    np.testing.assert_array_equal(y.numpy(), expected.t().numpy())
    a, b = ag.rand(3, 1) + 1, ag.rand(4) + 1
    out = ag.empty(3, 4)
    np.testing.assert_array_equal(ag.igamma(a, b, out=out).numpy(), ag.igamma(a, b).numpy())
    c = ag.rand(3, 4) + 1
    expected = ag.igammac(c, c.clone())
    np.testing.assert_array_equal(c.igammac_(c).numpy(), expected.numpy())
    whole = ag.arange(1, 4)
    out = ag.empty(3, dtype=ag.bfloat16)
    assert ag.digamma(whole, out=out).tolist() == ag.digamma(whole).to(ag.bfloat16).tolist()


def test_out_of_special_functions_is_written_at_once():
    x, out = ag.rand(64, 64) + 0.5, ag.empty(64, 64)
    assert out_memory(lambda: ag.digamma(x, out=out)) < x.nbytes


def test_whole_quotients_on_meta_look_for_no_zeros():
    a, zero = ag.empty(3, dtype=ag.int64, device="meta"), ag.zeros((), dtype=ag.int64)
    b = ag.empty(3, dtype=ag.int64, device="meta")
    for q in (a // b, a % b, ag.div(a, b, rounding_mode="trunc"), ag.fmod(a, b)):
        assert q.shape == (3,)
        assert q.dtype == ag.int64
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        ag.div(ag.ones(3, dtype=ag.int64), zero, rounding_mode="floor")


def test_dropout_on_meta_draws_nothing():
    state = ag.get_rng_state()
    y = ag.nn.functional.dropout(ag.empty(4, 5, device="meta"), 0.5)
    assert y.shape == (4, 5)
    assert str(y.device) == "meta"
    assert ag.equal(ag.get_rng_state(), state)


def test_dropout_of_all_draws_nothing_while_launches_are_kept():
    x, kept = ag.ones(3), []
    program = capture(lambda: kept.append(ag.nn.functional.dropout(x, 1.0)))
    assert "bernoulli" not in program.names()
    program.poison()
    program.replay_elsewhere()
    assert kept[0].tolist() == [0, 0, 0]
