"""Odd indices and assigned values of other dtypes, against torch."""

import numpy as np
import pytest

import autograd_cy as ag

DOTS = Ellipsis


def read(index):
    return lambda m: m.arange(24.0).reshape(2, 3, 4)[index(m)]


def write(index, values, dtype="float32"):
    def run(m):
        x = m.arange(24.0).reshape(2, 3, 4).to(getattr(m, dtype))
        x[index(m, x)] = values(m)
        return x

    return run


def put(index, values, accumulate=False):
    def run(m):
        x = m.arange(24.0).reshape(2, 3, 4)
        return x.index_put_((index(m, x),), values(m), accumulate=accumulate)

    return run


def delete(m):
    x = m.ones(3)
    del x[0]


def multiply_in_place(m):
    x = m.ones(3, 3)
    x @= 2
    return x


FIRST = lambda m, x: m.tensor([0])  # noqa: E731
MASK = lambda m, x: x > 1  # noqa: E731
CASES = {
    "two ellipses": read(lambda m: (DOTS, DOTS)),
    "number between": read(lambda m: (DOTS, 0, DOTS)),
    "number first": read(lambda m: (0, DOTS, DOTS)),
    "number last": read(lambda m: (DOTS, DOTS, 0)),
    "None between": read(lambda m: (DOTS, None, DOTS)),
    "None last": read(lambda m: (DOTS, DOTS, None)),
    "tensor between": read(lambda m: (DOTS, m.tensor([0]), DOTS)),
    "tensor last": read(lambda m: (DOTS, DOTS, m.tensor([0]))),
    "mask, then all": read(lambda m: (m.ones(2, 3) > 0, DOTS)),
    "all, then mask": read(lambda m: (DOTS, m.arange(12).reshape(3, 4) % 2 == 0)),
    "mask, number": read(lambda m: (m.ones(2, 3) > 0, DOTS, 1)),
    "number, mask": read(lambda m: (1, DOTS, m.arange(4) > 1)),
    "bytes, then all": read(lambda m: (m.tensor([1, 0]) > 0, DOTS, 1)),
    "mask of all": read(lambda m: (DOTS, m.arange(24).reshape(2, 3, 4) > 5)),
    "None, mask": read(lambda m: (None, m.ones(2, 3) > 0, DOTS)),
    "two masks, too many": read(lambda m: (m.ones(2, 3) > 0, m.ones(2, 3) > 0)),
    "mask, two numbers": read(lambda m: (m.ones(2, 3) > 0, 0, 0)),
    "all numbers": read(lambda m: (DOTS, 0, 0, 0, DOTS, DOTS)),
    "double at list": write(lambda m, x: [0], lambda m: m.ones(3, 4).double()),
    "double at tensor": write(FIRST, lambda m: m.ones(3, 4).double()),
    "long at tensor": write(FIRST, lambda m: m.ones(3, 4).long()),
    "0-d double at tensor": write(FIRST, lambda m: m.tensor(1.0).double()),
    "no places": write(lambda m, x: m.tensor([]).long(), lambda m: m.ones(0, 3, 4).double()),
    "double at mask": write(MASK, lambda m: m.ones(22).double()),
    "0-d double at mask": write(MASK, lambda m: m.tensor(5.0).double()),
    "one double at mask": write(MASK, lambda m: m.ones(1).double()),
    "0-d double at inner mask": write(
        lambda m, x: (slice(None), x[0] > 1), lambda m: m.tensor(5.0).double()
    ),
    "float into long": write(MASK, lambda m: m.tensor(5.5), "int64"),
    "double at number": write(lambda m, x: 0, lambda m: m.ones(3, 4).double()),
    "double at True": write(lambda m, x: True, lambda m: m.ones(3, 4).double()),
    "number": write(FIRST, lambda m: 2.5, "int64"),
    "complex number": write(FIRST, lambda m: 2.5j),
    "put double": put(FIRST, lambda m: m.tensor(1.0).double()),
    "put double at mask": put(MASK, lambda m: m.tensor(1.0).double()),
    "add double at mask": put(MASK, lambda m: m.tensor(1.0).double(), True),
    "put many doubles at mask": put(MASK, lambda m: m.ones(22).double()),
    "deleting": delete,
    "number @ tensor": lambda m: 1 @ m.ones(3, 3),
    "tensor @ number": lambda m: m.ones(3, 3) @ 2,
    "tensor @ list": lambda m: m.ones(3, 3) @ [1.0, 2.0, 3.0],
    "tensor @= number": multiply_in_place,
    "isin of numbers": lambda m: m.isin(1, 1),
    "isin of a number": lambda m: m.isin(1, m.tensor([1, 2])),
}


def outcome(m, case):
    try:
        found = CASES[case](m)
    except (IndexError, TypeError, RuntimeError) as error:
        kinds = (IndexError, TypeError, RuntimeError)
        return next(kind for kind in kinds if isinstance(error, kind))
    return tuple(found.shape), found.tolist()


@pytest.mark.parametrize("case", CASES)
def test_outcome_is_that_of_torch(case):
    torch = pytest.importorskip("torch")
    assert outcome(ag, case) == outcome(torch, case)


TRUTHS = {
    "array": np.array,
    "scalar": np.bool_,
    "bool": bool,
}
PLACES = {
    "alone": lambda b: b,
    "after dots": lambda b: (DOTS, b),
    "before dots": lambda b: (b, DOTS),
    "after dots and number": lambda b: (DOTS, 0, b),
    "after dots, before number": lambda b: (DOTS, b, 0),
    "twice": lambda b: (DOTS, b, b),
    "after None": lambda b: (DOTS, None, b),
    "with a list": lambda b: (DOTS, b, [0, 1]),
    "before a list": lambda b: (b, DOTS, [0, 1]),
    "in a list": lambda b: [b, 0],
    "after all": lambda b: (slice(None), slice(None), b),
    "after a number": lambda b: (0, b),
    "after all numbers": lambda b: (0, 0, b),
    "after all numbers and dots": lambda b: (0, 0, DOTS, b),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", TRUTHS)
def test_truth_values_of_numpy_are_indices_as_in_torch(kind):
    torch = pytest.importorskip("torch")

    def answer(m, index, shape, assign):
        x = m.arange(float(np.prod(shape))).reshape(shape)
        try:
            if assign:
                x[index] = 7.0
            else:
                x = x[index]
        except (IndexError, TypeError) as error:
            return type(error)
        return tuple(x.shape), x.tolist()

    for place, put_at in PLACES.items():
        if kind == "scalar" and place == "in a list":
            continue  # newer versions of NumPy don't make ints of them
        for value in (True, False):
            for shape in ((2, 3), ()):
                for assign in (False, True):
                    index = put_at(TRUTHS[kind](value))
                    expected = answer(torch, index, shape, assign)
                    found = answer(ag, index, shape, assign)
                    assert found == expected, (place, value, shape, assign)


def test_an_array_of_one_truth_value_takes_a_place_after_dots():
    x = ag.arange(6).reshape(2, 3)
    assert x[..., np.array(True)].tolist() == [[[0, 1, 2]], [[3, 4, 5]]]
    assert x[..., np.array(False)].shape == (2, 0, 3)
    assert x[..., True].tolist() == x[..., None].tolist()
    assert x[..., np.array(True), 0].tolist() == [[0, 1, 2]]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
        x[:, :, np.array(True)]


def test_messages_name_dtypes_and_types():
    x = ag.zeros(3)
    with pytest.raises(RuntimeError, match="Float for the destination and Double"):
        x[[0]] = ag.ones(1).double()
    with pytest.raises(TypeError, match="Tensor does not support deleting items"):
        del x[0]
    with pytest.raises(TypeError, match="unsupported operand type"):
        1 @ x
    with pytest.raises(TypeError, match=r"isin\(\): argument 'test_elements' \(position 2\)"):
        ag.isin(1, 1)
    assert x.tolist() == [0.0] * 3 and x._version == 0
