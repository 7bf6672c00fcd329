"""The quick assertions pass where NumPy's do, and fail as they fail."""

import itertools

import comparing
import ml_dtypes
import numpy as np
import pytest

NAN, INF = np.nan, np.inf
VALUES = [
    [0.0, 1.0, -2.0],
    [-0.0, 1.0, -2.0],
    [0.0, 1.001, -2.0],
    [NAN, 1.0, INF],
    [NAN, 1.0, -INF],
    [1.0, NAN, INF],
    [INF, INF, INF],
    [-1e308, 1e308, 0.0],
    [complex(NAN, 1), complex(1, INF), 1j],
    [complex(1, NAN), complex(1, INF), 1j],
    [True, False, True],
    [0, 1, -2],
    [2**62, 2**62 + 1, 0],
    [],
    [[0.0, 1.0, -2.0]],
    1.0,
]
MORE = [
    np.array([1, 2, 3], np.uint8),
    np.array([1, 2, 3], np.int8),
    np.array([1, 2, 3], np.float16),
    np.array([1, NAN, 3], np.float32),
    np.array([1, 2, 3], ml_dtypes.bfloat16),
    np.array(["1", "2", "3"]),
    np.array([1, 2, None]),
    np.ma.masked_array([1.0, 2.0, 3.0], [True, False, False]),
    np.float64(1.0),
    1.0,
    [0.0, 1.0, -2.0],
    None,
]
ARRAYS = [np.array(v) for v in VALUES]
PAIRS = [*itertools.product(ARRAYS, ARRAYS[::2]), *zip(ARRAYS, ARRAYS), *zip(MORE, MORE)]
PAIRS += [pair for a, b in itertools.product(ARRAYS[::8], MORE) for pair in ((a, b), (b, a))]
CALLS = {
    "assert_array_equal": [{"err_msg": "why"}, {"strict": True}],
    "assert_allclose": [
        {},
        {"rtol": 0, "atol": 1e-2, "err_msg": "why"},
        {"rtol": INF},
        {"rtol": 1e-2, "equal_nan": False},
    ],
}


def outcome(function, *args, **options):
    try:
        function(*args, **options)
    except Exception as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize("name", CALLS)
@np.errstate(all="ignore")
def test_outcomes_are_those_of_numpy(name):
    passed = failed = 0
    quick, slow = getattr(comparing, name), comparing.SLOW[name]
    for (a, b), options in itertools.product(PAIRS, CALLS[name]):
        wanted = outcome(slow, a, b, **options)
        assert outcome(quick, a, b, **options) == wanted, (a, b, options)
        passed, failed = passed + (wanted is None), failed + (wanted is not None)
    assert passed > 30 and failed > 200, (passed, failed)


def test_arguments_by_position_are_those_of_numpy():
    a, b = np.array([1.0]), np.array([1.1])
    for args in (
        (),
        (0.2,),
        (0, 0.2),
        (NAN,),
        (0, NAN),
        (0.2, 0, False),
        (1e-3, 0, True, "why"),
        (0, 0, 0, 0, 0, 0),
    ):
        assert outcome(np.testing.assert_allclose, a, b, *args) == outcome(
            comparing.SLOW["assert_allclose"], a, b, *args
        )
    for args in ((), (b,), (a, a), (a, a, "why"), (a, b, "why", False)):
        assert outcome(np.testing.assert_array_equal, *args) == outcome(
            comparing.SLOW["assert_array_equal"], *args
        )


def test_they_are_in_the_place_of_those_of_numpy():
    assert np.testing.assert_array_equal is comparing.assert_array_equal
    assert np.testing.assert_allclose is comparing.assert_allclose
