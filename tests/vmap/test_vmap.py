"""vmap: arguments, results, errors, in-place operations, indexing, random operators."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import vmap
from autograd_cy.func import grad

X = ag.arange(6, dtype=ag.float32).reshape(2, 3)
Point = namedtuple("Point", "x y")


def close(x, y):
    np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), 1e-6, 1e-6)


def loop(function, *xs):
    return ag.stack([function(*[x[i] for x in xs]) for i in range(len(xs[0]))])


# --- arguments and results ------------------------------------------------------------------


def test_containers():
    def f(d, pair, scale):
        return Point(d["a"] * scale, [pair[0].sum(), OrderedDict(s=pair[1][0])])

    found = vmap(f, in_dims=({"a": 1}, (0, None), None), out_dims=Point(-1, [0, {"s": None}]))(
        {"a": X.t()}, (X, [ag.ones(4)]), 2.0
    )
    assert isinstance(found, Point) and isinstance(found.y[1], OrderedDict)
    assert found.x.shape == (3, 2) and found.y[0].tolist() == [3.0, 12.0]
    assert found.y[1]["s"].shape == (4,)


def test_negative_dims():
    close(vmap(lambda x: x.sum(), in_dims=-1)(X), X.sum(0))
    close(vmap(lambda x: x * 2, out_dims=-1)(X), X.t() * 2)


def test_keyword_arguments_are_shared():
    assert vmap(lambda x, y: x + y)(X, y=X).shape == (2, 2, 3)


def test_results_that_do_not_depend_on_the_example():
    shared = ag.ones(3)
    assert vmap(lambda x: shared)(X).tolist() == [[1.0] * 3] * 2
    assert vmap(lambda x: shared, out_dims=None)(X) is shared
    assert vmap(lambda x: (x, "text"), out_dims=(0, None))(X)[1] == "text"
    with pytest.raises(ValueError, match="can not return a BatchedTensor when out_dim is None"):
        vmap(lambda x: x, out_dims=None)(X)


def test_no_examples():
    assert vmap(lambda x: (x * 2).sum())(ag.zeros(0, 3)).shape == (0,)
    assert vmap(grad(lambda x: (x * x).sum()))(ag.zeros(0, 3)).shape == (0, 3)


def f(x):
    return x * 2


@pytest.mark.parametrize(
    ("args", "in_dims", "text"),
    [
        ((), 0, "vmap\\(f\\)\\(<inputs>\\): got no inputs"),
        ((X,), "a", "expected `in_dims` to be int or a .* got: <class 'str'>"),
        ((X,), 1.5, "expected `in_dims` to be int"),
        ((X,), (0, 0), "in_dims is not compatible with the structure of `inputs`"),
        (([X],), ({"a": 0},), "in_dims is not compatible"),
        ((X,), (None,), "Expected at least one Tensor to vmap over"),
        ((X,), 3, "Got in_dim=3 for some input.*-2 <= in_dim < 2"),
        ((X,), -3, "Got in_dim=-3"),
        ((X, 3), (0, 0), "the input is of type <class 'int'>. We cannot vmap over non-Tensor"),
        ((5,), 0, "We cannot vmap over non-Tensor"),
        ((X, ag.ones(3)), 0, "same size in the mapped dimension, got sizes \\[2, 3\\]"),
        ((ag.tensor(1.0),), 0, "dimensionality 0"),
        ((X,), ("a",), "in_dim must be either an integer dimension or None"),
    ],
)
def test_wrong_in_dims(args, in_dims, text):
    with pytest.raises(ValueError, match=text):
        vmap(f, in_dims)(*args)


@pytest.mark.parametrize(
    ("function", "out_dims", "text"),
    [
        (lambda x: 1, 0, "must only return Tensors, got type <class 'int'>"),
        (lambda x: (x, None), 0, "must only return Tensors, got type <class 'NoneType'>"),
        (lambda x: (x, x), (0,), "out_dims is not compatible with the structure of `outputs`"),
        (lambda x: (x, x), (0, 0, 0), "out_dims is not compatible"),
        (lambda x: x, "a", "`out_dims` must be an int, None or a python collection of ints"),
    ],
)
def test_wrong_results(function, out_dims, text):
    with pytest.raises(ValueError, match=text):
        vmap(function, out_dims=out_dims)(X)


def test_wrong_options():
    with pytest.raises(RuntimeError, match="'error', 'different', or 'same'. Got foo"):
        vmap(f, randomness="foo")
    for chunk_size in (0, -1, 1.5):
        with pytest.raises(ValueError, match="chunk_size should be None or greater than 0"):
            vmap(f, chunk_size=chunk_size)


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 10])
def test_chunks(chunk_size):
    x = ag.randn(5, 3)
    found = vmap(lambda x: (x * 2, {"s": x.sum()}), out_dims=(1, 0), chunk_size=chunk_size)(x)
    close(found[0], (x * 2).t())
    close(found[1]["s"], x.sum(1))


# --- values that differ between examples ----------------------------------------------------


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x.sum().item(), "calling .item\\(\\) on a Tensor"),
        (lambda x: float(x.sum()), "calling .item\\(\\) on a Tensor"),
        (lambda x: int(x[0]), "calling .item\\(\\) on a Tensor"),
        (lambda x: x if x.sum() > 0 else -x, "data-dependent control flow"),
        (lambda x: x.numpy(), "Cannot access data pointer"),
        (lambda x: np.asarray(x), "Cannot access data pointer"),
        (lambda x: x.tolist(), "Cannot access data pointer"),
        (lambda x: x.data_ptr(), "Cannot access data pointer"),
        (lambda x: memoryview(x), "Cannot access data pointer"),
        (lambda x: x.nonzero(), "dynamic shape"),
        (lambda x: x[x > 0], "dynamic shape.*boolean mask"),
        (lambda x: ag.masked_select(x, x > 0), "dynamic shape"),
        (lambda x: ag.add(x, x, out=ag.empty(3)), "out="),
    ],
)
def test_values_are_not_for_python(function, text):
    with pytest.raises((RuntimeError, BufferError), match=text):
        vmap(function)(X)
    close(vmap(f)(X), X * 2)


def test_shared_tensors_have_values():
    def g(x, w):
        return x * w.sum().item() if bool(w.sum() > 0) else x

    close(vmap(g, in_dims=(0, None))(X, ag.ones(2)), X * 2)
    # A leaf of an inner transformation is shared too.
    found = vmap(lambda x: grad(lambda w: (x * w).sum() * w.sum().item())(ag.ones(3)))(X)
    close(found, X * 3)


def test_printing():
    texts = []
    vmap(vmap(lambda x: texts.append(repr(x)) or x))(X)
    assert texts[0].startswith("BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bd")
    assert "[3., 4., 5.]" in texts[0]


def test_data_and_detach_keep_the_examples():
    close(vmap(lambda x: x.data + x.detach())(X), X * 2)


# --- in place, factories --------------------------------------------------------------------


def test_in_place_on_examples():
    def g(x, y):
        z = x.clone()
        z.add_(y).mul_(2)
        z[0] = y[1]
        z[1:] -= 1
        z[2].fill_(7.0)
        return z

    y = X * 10
    close(vmap(g)(X, y), loop(g, X, y))
    target = X.clone()
    vmap(lambda x: x.mul_(3))(target)
    close(target, X * 3)


@pytest.mark.parametrize(
    "change",
    [
        lambda y, x: y.add_(x),
        lambda y, x: y.copy_(x),
        lambda y, x: y.__setitem__(0, x[0]),
        lambda y, x: y.__setitem__(ag.tensor([0]), x[:1]),
    ],
)
def test_writing_examples_into_a_shared_tensor_is_refused(change):
    y = ag.zeros(3)
    with pytest.raises(RuntimeError, match="vmap: inplace arithmetic.*is not possible"):
        vmap(lambda x: change(y, x))(X)
    assert y.tolist() == [0.0] * 3


def test_writing_shared_values_into_a_shared_tensor():
    y = ag.zeros(3)
    vmap(lambda x: y.add_(1.0))(X)
    assert y.tolist() == [1.0] * 3


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.new_zeros(3),
        lambda x: x.new_full((3,), 4.0),
        lambda x: x.new_ones(3),
        lambda x: ag.zeros_like(x),
        lambda x: ag.full_like(x, 2.0),
        lambda x: ag.ones_like(x),
        lambda x: ag.empty_like(x).fill_(1.0),
        lambda x: x.new_empty(3).zero_(),
    ],
)
def test_tensors_made_from_an_example_take_examples(make):
    def g(x):
        z = make(x)
        z[0] = x[1]
        z[ag.tensor([1, 2])] += x[:2]
        return z

    close(vmap(g)(X), loop(g, X))
    close(vmap(vmap(g))(ag.stack([X, X + 1])), ag.stack([loop(g, X), loop(g, X + 1)]))


# --- indexing -------------------------------------------------------------------------------

T = ag.randn(2, 3, 4, 5)
ROWS = ag.tensor([[0, 2, 1], [1, 1, 0]])
COLUMNS = ag.tensor([[1, 0, 2], [2, 2, 1]])


@pytest.mark.parametrize(
    "index",
    [
        lambda i, j: i,
        lambda i, j: i[0],
        lambda i, j: (i, j),
        lambda i, j: (slice(None), i),
        lambda i, j: (slice(None), i, j),
        lambda i, j: (i, slice(None), j),
        lambda i, j: (..., i),
        lambda i, j: (i.unsqueeze(0), j.unsqueeze(1)),
        lambda i, j: (i, ag.tensor([0, 1, 2])),
        lambda i, j: (slice(None), ag.tensor([1, 0]), None, i[:2]),
        lambda i, j: (ag.tensor([True, False, True]), i[:2]),
        lambda i, j: (i[1], j[0]),
    ],
)
@pytest.mark.parametrize("batched", ["tij", "t", "ij", "ti", "j"])
def test_advanced_indexing(index, batched):
    def read(t, i, j):
        return t[index(i, j)]

    def write(t, i, j):
        t = t.clone() + 0 * i.sum() + 0 * j.sum()
        value = t[index(i, j)]
        t[index(i, j)] = ag.arange(value.numel(), dtype=ag.float32).reshape(value.shape) + t.sum()
        return t

    args = {"t": T, "i": ROWS, "j": COLUMNS}
    in_dims = tuple(0 if name in batched else None for name in "tij")
    given = [x if name in batched else x[0] for name, x in args.items()]

    def one(function, k):
        return function(*[x[k] if d == 0 else x for x, d in zip(given, in_dims)])

    for function in (read, write):
        if function is write and batched == "t":
            continue  # indices without examples are what the other sets test
        expected = ag.stack([one(function, k) for k in range(2)])
        close(vmap(function, in_dims)(*given), expected)
    weight = ag.randn(*one(read, 0).shape)

    def gradient(t, i, j):
        return grad(lambda t: (read(t, i, j) * weight).sum())(t)

    close(vmap(gradient, in_dims)(*given), ag.stack([one(gradient, k) for k in range(2)]))


@pytest.mark.parametrize("batched", ["tis", "i", "is", "ti", "s", "ts"])
def test_index_select_and_index_add(batched):
    source = ag.randn(2, 4, 3, 5)
    given = {"t": ag.randn(2, 4, 3, 5), "i": ROWS, "s": source}
    in_dims = tuple(0 if name in batched else None for name in "tis")
    args = [x if name in batched else x[0] for name, x in given.items()]

    def g(t, i, s):
        return t.index_add(1, i, s) * 2 + t.index_select(1, i)

    expected = ag.stack(
        [g(*[x[k] if d == 0 else x for x, d in zip(args, in_dims)]) for k in range(2)]
    )
    close(vmap(g, in_dims)(*args), expected)


def test_sort_and_max_of_scalars():
    x = ag.tensor([3.0, 1.0, 2.0])
    for call in (lambda x: x.max(0), lambda x: x.min(0), lambda x: x.sort()):
        values, indices = vmap(lambda x: tuple(call(x)))(x)
        assert values.tolist() == x.tolist() and indices.tolist() == [0, 0, 0]
    with pytest.raises((RuntimeError, IndexError)):
        vmap(lambda x: x.unbind())(x)


# --- random operators -----------------------------------------------------------------------

DRAWS = {
    "rand": lambda x: ag.rand(4),
    "randn": lambda x: ag.randn((4,)),
    "randint": lambda x: ag.randint(1000000, (4,)),
    "randperm": lambda x: ag.randperm(50),
    "normal": lambda x: ag.normal(0.0, 1.0, (4,)),
    "rand_like": lambda x: ag.rand_like(x),
    "randn_like": lambda x: ag.randn_like(x),
    "randint_like": lambda x: ag.randint_like(x, 1000000),
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: ag.zeros_like(x).uniform_(2, 3),
    "exponential_": lambda x: x.clone().exponential_(),
    "random_": lambda x: x.clone().random_(1000000),
    "dropout": lambda x: ag.dropout(x * 0 + ag.arange(1.0, 65.0).sum() + ag.ones(64), 0.5),
    "shared dropout": lambda x: ag.dropout(ag.ones(64), 0.5),
}


@pytest.mark.parametrize("name", DRAWS)
def test_randomness(name):
    x = ag.ones(3, 4) if "dropout" not in name else ag.ones(3, 1)
    draw = DRAWS[name]
    with pytest.raises(RuntimeError, match="randomness error mode.*'same' or 'different'"):
        vmap(draw)(x)
    same = vmap(draw, randomness="same")(x).numpy()
    assert (same == same[0]).all()
    different = vmap(draw, randomness="different")(x).numpy()
    assert different.shape == same.shape
    assert (different[0] != different[1]).any() and (different[1] != different[2]).any()


def test_randomness_of_nested_calls():
    x = ag.ones(2, 3)

    def draw(inner, outer):
        return vmap(vmap(lambda x: ag.rand(4), randomness=inner), randomness=outer)(x).numpy()

    found = draw("same", "different")
    assert (found[:, 0] == found[:, 1]).all() and (found[0] != found[1]).all()
    found = draw("different", "same")
    assert (found[0] == found[1]).all() and (found[:, 0] != found[:, 1]).all()
    found = draw("different", "different").reshape(6, 4)
    assert len(np.unique(found[:, 0])) == 6
    with pytest.raises(RuntimeError, match="randomness error mode"):
        draw("same", "error")
    assert ag.rand(2).shape == (2,)


def test_random_operators_that_depend_on_the_examples():
    p = ag.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert vmap(ag.bernoulli, randomness="different")(p).tolist() == p.tolist()
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        vmap(ag.bernoulli, randomness="same")(p)
    found = vmap(lambda m: ag.normal(m, 0.0), randomness="different")(p)
    assert found.tolist() == p.tolist()
    found = vmap(lambda p: ag.zeros_like(p).bernoulli_(p), randomness="different")(p)
    assert found.tolist() == p.tolist()
    shared = ag.zeros(2)
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        vmap(lambda p: shared.normal_(), randomness="different")(p)


def test_the_generator_goes_on_after_vmap():
    ag.manual_seed(0)
    vmap(lambda x: ag.rand(2), randomness="different")(X)
    first = ag.rand(3)
    ag.manual_seed(0)
    vmap(lambda x: ag.rand(2), randomness="different")(X)
    assert ag.rand(3).tolist() == first.tolist()


# --- autograd inside and outside ------------------------------------------------------------


def test_backward_through_vmap():
    x = X.clone().requires_grad_()
    w = ag.ones(3, requires_grad=True)
    vmap(lambda x: (x * x * w).sum())(x).sum().backward()
    close(x.grad, 2 * X)
    close(w.grad, (X * X).sum(0))


def test_autograd_grad_inside_vmap():
    def g(x):
        w = ag.ones(3, requires_grad=True)
        (found,) = ag.autograd.grad((w * w * x).sum(), w)
        return found

    close(vmap(g)(X), 2 * X)


def test_backward_inside_vmap_is_refused():
    w = ag.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="backward\\(\\) called inside"):
        vmap(lambda x: (x * w).sum().backward())(X)
    assert w.grad is None


def test_batched_gradients():
    x, unused = ag.tensor([1.0, 2.0], requires_grad=True), ag.ones(2, requires_grad=True)
    y = x * x
    rows = ag.eye(2)

    def run(outputs, inputs, vectors, **kwargs):
        return ag.autograd.grad(
            outputs, inputs, vectors, is_grads_batched=True, retain_graph=True, **kwargs
        )

    assert run(y, x, rows)[0].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert run(y.sum(), x, ag.arange(3.0))[0].tolist() == [[0.0, 0.0], [2.0, 4.0], [4.0, 8.0]]
    assert run((y, y.sum()), x, (rows, None))[0].tolist() == [[4.0, 4.0], [2.0, 8.0]]
    assert run(y, (x, unused), rows, allow_unused=True)[1] is None
    assert run(y, (x, unused), rows, materialize_grads=True)[1].tolist() == [0.0, 0.0]
    (g,) = run(y, x, rows, create_graph=True)
    assert ag.autograd.grad(g.sum(), x)[0].tolist() == [2.0, 2.0]
    # A vector that requires grad, and one backward inside of another vmap.
    rows.requires_grad_()
    (g,) = run(y, x, rows, create_graph=True)
    assert ag.autograd.grad(g.sum(), rows)[0].tolist() == [[2.0, 4.0]] * 2
    twice = vmap(lambda r: run(y, x, r)[0])(ag.stack([ag.eye(2), 2 * ag.eye(2)]))
    assert twice[1].tolist() == [[4.0, 0.0], [0.0, 8.0]]


@pytest.mark.parametrize("vectors", [ag.ones(2, 3), ag.ones(2), ag.ones(2, 2, 2)])
def test_batched_gradients_of_wrong_shapes(vectors):
    x = ag.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="we interpret the first dimension of each grad_output"):
        ag.autograd.grad(x * x, x, vectors, is_grads_batched=True)


def test_batched_gradients_need_vectors():
    x = ag.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        ag.autograd.grad(x * x, x, is_grads_batched=True)
    with pytest.raises(RuntimeError, match="first dimension counts vectors"):
        ag.autograd.grad(x.sum(), x, is_grads_batched=True)
    y, vectors = x * x, (ag.ones(3, 2), ag.ones(4, 2))
    with pytest.raises(ValueError, match="same size in the mapped dimension"):
        ag.autograd.grad((y, y), x, vectors, is_grads_batched=True)


@pytest.mark.filterwarnings("ignore:To copy construct")
def test_constructors_copy_the_examples():
    for make in (ag.tensor, ag.Tensor, ag.as_tensor, ag.asarray, X.new_tensor):
        close(vmap(lambda x: make(x) * 2)(X), X * 2)
    assert vmap(lambda x: ag.tensor(x, dtype=ag.float64))(X).dtype == ag.float64
    assert (
        vmap(lambda x: ag.as_tensor(x, dtype=ag.float64), in_dims=1)(X).tolist() == X.t().tolist()
    )
    with pytest.raises(RuntimeError, match="data of a tensor cannot be replaced"):
        vmap(lambda x: setattr(x.clone(), "data", x))(X)


# --- examples without dimensions ----------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, dim: x.gather(dim, ag.tensor(0)),
        lambda x, dim: x.gather(dim, ag.tensor([0, 0])),
        lambda x, dim: x.scatter(dim, ag.tensor(0), ag.tensor(5.0)),
        lambda x, dim: x.scatter_add(dim, ag.tensor(0), x * 2),
        lambda x, dim: x.flip((dim,)),
        lambda x, dim: x.cumsum(dim),
        lambda x, dim: x.argmax(dim),
        lambda x, dim: x.argmin(dim, keepdim=True),
        lambda x, dim: x.max(dim)[0],
        lambda x, dim: x.sort(dim)[0],
        lambda x, dim: x.softmax(dim),
        lambda x, dim: x.roll(1, dim) if x.ndim else x,
    ],
)
def test_dimensions_of_examples_that_have_none(function, dim):
    x = ag.tensor([3.0, 1.0, 2.0])
    expected = ag.stack([function(example, dim) for example in x.unbind()])
    assert ag.equal(vmap(lambda e: function(e, dim))(x), expected)
    if expected.is_floating_point():
        gradient = vmap(grad(lambda e: function(e, dim).sum()))(x)
        alone = [grad(lambda e: function(e, dim).sum())(e) for e in x.unbind()]
        assert ag.equal(gradient, ag.stack(alone))
    with pytest.raises(IndexError, match="out of range"):
        vmap(lambda e: e.argmax(1))(x)


def test_steps_of_single_elements_take_no_memory():
    def window(x):
        return ag.as_strided(x * 2, (2, 1), (1, 1 << 40))

    def back(g):
        return ag.func.vjp(window, ag.ones(4))[1](g)[0]

    g = ag.ones(3, 2, 1)
    assert ag.func.vmap(back)(g).tolist() == [[2, 2, 0, 0]] * 3
    again = ag.func.vmap(lambda g, v: ag.func.vjp(back, g)[1](v)[0])
    assert again(g, ag.ones(3, 4)).tolist() == [[[2], [2]]] * 3


@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (None, 0)])
def test_a_formula_holds_where_examples_share_an_operand(in_dims):
    """The formula makes no call for each example."""
    args = [X + 1 if dim == 0 else X[1] for dim in in_dims]
    with ag.autograd.profiler.profile() as seen:
        found = vmap(ag.vdot, in_dims)(*args)
    close(found, (args[0] * args[1]).sum(-1))
    names = [event.name for event in seen.function_events]
    assert names.count("aten::vdot") == 1 and "aten::select" not in names
