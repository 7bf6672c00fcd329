"""Arguments and dtypes of ``out`` that single operators take or refuse."""

import pickle

import pytest

import autograd_cy as ag

INDEX = ag.tensor([0, 0, 1])


@pytest.mark.parametrize("number", ["threshold", "value"])
def test_threshold_refuses_complex_numbers_for_real_tensors(number):
    numbers = {"threshold": 0.5, "value": 0.0, number: 1j}
    with pytest.raises(RuntimeError, match="cannot be converted to type float without overflow"):
        ag.threshold(ag.ones(3), **numbers)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("truth", [True, ag.tensor([True])])
def test_isin_refuses_truth_values(truth, swapped):
    pair = (truth, ag.ones(3)) if swapped else (ag.ones(3), truth)
    with pytest.raises(RuntimeError, match="Unsupported input type encountered for isin"):
        ag.isin(*pair)


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_incomplete_gamma_functions_promote_their_arguments(name):
    f, x = getattr(ag, name), ag.tensor([0.5, 2.0], dtype=ag.float64)
    one = ag.tensor(1)
    assert ag.equal(f(x, one), f(x, ag.ones(2, dtype=ag.float64)))
    assert ag.equal(f(one, x), f(ag.ones(2, dtype=ag.float64), x))
    with pytest.raises(RuntimeError, match=f"{name}: not implemented for 'Long'"):
        f(one, one)


SCATTERED = [("add", 3.0, [7.0, 4.0, 1.0]), ("multiply", 3.0, [9.0, 3.0, 1.0])]


@pytest.mark.parametrize(("reduce", "value", "wanted"), SCATTERED)
def test_scatter_adds_or_multiplies_a_number(reduce, value, wanted):
    x = ag.ones(3)
    assert x.scatter(0, INDEX, value, reduce=reduce).tolist() == wanted
    assert ag.scatter(x, 0, INDEX, value=value, reduce=reduce).tolist() == wanted
    assert x.tolist() == [1.0, 1.0, 1.0]
    assert x.scatter_(0, INDEX, value, reduce=reduce) is x
    assert x.tolist() == wanted


@pytest.mark.parametrize(
    ("reduce", "wanted"), [("add", [4.0, 4.0, 1.0]), ("multiply", [2.0, 3.0, 1.0])]
)
def test_scatter_adds_or_multiplies_a_tensor_and_differentiates(reduce, wanted):
    x = ag.ones(3, dtype=ag.float64)
    src = ag.tensor([1.0, 2.0, 3.0], dtype=ag.float64)
    assert x.scatter(0, INDEX, src, reduce=reduce).tolist() == wanted
    assert x.clone().scatter_(0, INDEX, src=src, reduce=reduce).tolist() == wanted
    x.requires_grad_()
    src.requires_grad_()
    ag.autograd.gradcheck(lambda a, b: a.scatter(0, INDEX, b, reduce=reduce), (x, src))


def test_scatter_of_a_fraction_into_integers_cuts_it_off():
    x = ag.ones(3, dtype=ag.int64)
    assert x.scatter(0, INDEX, 2.5, reduce="add").tolist() == [5, 3, 1]


def test_scatter_refuses_other_reductions_and_leaves_its_tensor_alone():
    x = ag.ones(3)
    for source in (2.0, ag.ones(3)):
        with pytest.raises(RuntimeError, match="reduce argument must be either add or multiply."):
            x.scatter_(0, INDEX, source, reduce="mean")
    with pytest.raises(RuntimeError, match=r"Expected self.dtype to be equal to src.dtype"):
        x.scatter_(0, INDEX, ag.ones(3, dtype=ag.float64), reduce="multiply")
    with pytest.raises(RuntimeError, match="without overflow"):
        x.scatter_(0, INDEX, 1j, reduce="add")
    assert x.tolist() == [1.0, 1.0, 1.0] and x._version == 0


@pytest.mark.parametrize("start", [ag.tensor([1]), ag.tensor(1.0), ag.tensor(True)])
def test_narrow_refuses_starts_that_are_no_whole_number(start):
    with pytest.raises(RuntimeError, match="start must be an 0-dim integral Tensor"):
        ag.narrow(ag.ones(3), 0, start, 1)
    assert ag.narrow(ag.arange(3), 0, ag.tensor(1), 1).tolist() == [1]


def test_norm_of_order_zero_counts_and_has_a_zero_gradient():
    x = ag.tensor([0.0, 2.0, float("inf"), float("nan")], requires_grad=True)
    norm = x.norm(0)
    assert norm.item() == 3.0 and norm.requires_grad
    norm.backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0, 0.0]


X = ag.ones(3, 3)
OF_ONE_DTYPE = {
    "gather": (X, 0, ag.zeros(3, 3, dtype=ag.int64)),
    "index_select": (X, 0, INDEX),
    "masked_select": (X, X > 0),
    "tril": (X,),
    "take": (X, INDEX),
    "diag": (X,),
    "mm": (X, X),
    "matmul": (X, X),
    "mv": (X, X[0]),
    "dot": (X[0], X[0]),
    "addmm": (X, X, X),
    "baddbmm": (X, X[None], X[None]),
    "amax": (X, 0),
    "norm": (X,),
    "nan_to_num": (X,),
    "complex": (X, X),
    "argmax": (X,),
    "bucketize": (X, X[0]),
    "isin": (X, X),
}


#: As errors of PyTorch name dtypes here.
NAMES = {
    ag.bool: "bool",
    ag.int64: "long int",
    ag.float32: "float",
    ag.complex64: "c10::complex<float>",
}


@pytest.mark.parametrize("name", OF_ONE_DTYPE)
def test_out_of_another_dtype_is_refused_and_left_alone(name):
    f, args = getattr(ag, name), OF_ONE_DTYPE[name]
    wanted = f(*args)
    out = ag.zeros(wanted.shape, dtype=wanted.dtype)
    assert ag.equal(f(*args, out=out), wanted)
    for dtype in (ag.float64, ag.complex128):
        out = ag.full(wanted.shape, 7, dtype=dtype)
        with pytest.raises(
            RuntimeError,
            match=f"Expected out tensor to have dtype {NAMES[wanted.dtype]}",
        ):
            f(*args, out=out)
        assert (out == 7).all().item() and out._version == 0


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth_values_go_into_bool_and_uint8_only(name):
    f = getattr(ag, name)
    for dtype in (ag.bool, ag.uint8):
        assert f(X, 0, out=ag.zeros(3, dtype=dtype)).tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match=f"{name} only supports bool tensor for result, got"):
        f(X, 0, out=ag.zeros(3))


def test_the_class_is_shown_and_pickled_as_the_users_class():
    assert repr(ag.Tensor) == "<class 'autograd_cy.Tensor'>"
    assert (ag.Tensor.__module__, ag.Size.__module__) == ("autograd_cy", "autograd_cy")
    with pytest.raises(TypeError, match=r"'autograd_cy.Tensor' and 'str'"):
        assert ag.ones(2) < "a"
    for cls in (ag.Tensor, ag.Size):
        assert pickle.loads(pickle.dumps(cls)) is cls
    older = b"cautograd_cy._C.tensor\nTensor\n."
    assert pickle.loads(older) is ag.Tensor


def test_a_factor_that_is_a_truth_value_is_for_truth_values():
    x, truth = ag.ones(2), ag.tensor([True, False])
    for call in (ag.add, ag.sub, ag.rsub, lambda a, b, alpha: a.clone().add_(b, alpha=alpha)):
        for alpha in (True, False):
            with pytest.raises(RuntimeError, match="Boolean alpha only supported for Boolean re"):
                call(x, x, alpha=alpha)
    for alpha, result in ((True, [True, True]), (2, [True, True]), (False, [True, False])):
        assert ag.add(truth, ~truth, alpha=alpha).tolist() == result
    with pytest.raises(RuntimeError, match="alpha must not be a floating point number"):
        ag.add(truth, truth, alpha=1.5)
