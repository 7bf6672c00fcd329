"""The namespace that stands in for torch of March 2017: functions, constructors, files, draws."""

import io
import math
import subprocess
import sys

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Variable
from autograd_cy.legacy.functions import NAMES

LAPACK = (
    "inverse gesv gels symeig eig svd qr geqrf orgqr ormqr potrf potri potrs pstrf trtrs".split()
)


@pytest.fixture
def x():
    return torch.FloatTensor([[1, 2, 3], [4, 5, 6]])


def test_it_is_loaded_when_asked_for_and_changes_nothing_of_the_core():
    code = """
import sys
import autograd_cy
# Some families of the core take the places of their stand-ins when anybody uses them first.
autograd_cy.relu, autograd_cy.softmax, autograd_cy.std, autograd_cy.median, autograd_cy.tanh
from autograd_cy._interpreted import _Method
before = {
    name: id(value)
    for name, value in vars(autograd_cy.Tensor).items()
    if not isinstance(value, _Method)
}
top = set(vars(autograd_cy))
assert not any(name.startswith("autograd_cy.legacy") for name in sys.modules)
assert autograd_cy.legacy.ones(2).sum() == 2
import autograd_cy.legacy.nn, autograd_cy.legacy.optim, autograd_cy.legacy.utils
after = vars(autograd_cy.Tensor)
assert before == {name: id(after[name]) for name in before}
assert set(vars(autograd_cy)) - top <= set(autograd_cy.__all__)
assert "scipy" not in sys.modules and "matplotlib" not in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_names_are_those_of_then():
    for name in torch.__all__:
        assert getattr(torch, name) is not None, name
    for (
        name
    ) in "view expand repeat permute clone select narrow add_ where einsum tensor no_grad".split():
        assert not hasattr(torch, name), name
    with pytest.raises(AttributeError, match="'einsum'.*torch 0.1.10"):
        torch.einsum
    assert torch.__version__ == "0.1.10"
    assert torch.Variable is Variable and callable(torch.gradcheck)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(LAPACK)))
def test_a_function_is_the_method_of_its_name_and_takes_out(name):
    x, y = torch.rand(3, 3) * 0.5 + 0.25, torch.rand(3, 3) + 0.5
    vector, batch = torch.rand(3), torch.rand(2, 3, 3)
    index = torch.LongTensor([[0, 1, 2]])
    arguments = {
        "addmm": (x, y),
        "addbmm": (batch, batch),
        "addmv": (y, vector),
        "addr": (vector, vector),
        "addcmul": (x, y),
        "addcdiv": (x, y),
        "clamp": (0.4, 0.6),
        "cumsum": (0,),
        "cumprod": (0,),
        "gather": (0, index),
        "index_select": (0, index.view(-1)),
        "kthvalue": (2,),
        "mv": (vector,),
        "lerp": (y, 0.5),
        "masked_select": (x > 0.5,),
        "multinomial": (2,),
        "renorm": (2, 0, 0.5),
        "topk": (2,),
        "transpose": (0, 1),
        "unsqueeze": (0,),
    }
    two = (
        "add sub mul div pow fmod remainder atan2 dist dot eq ne lt le gt ge equal mm cross".split()
    )
    first = {"addmv": vector, "bmm": batch, "baddbmm": batch, "ger": vector}.get(name, x)
    args = arguments.get(name, (y,) if name in two else ())
    if name in ("bmm", "baddbmm", "ger"):
        args = {"bmm": (batch,), "baddbmm": (batch, batch), "ger": (vector,)}[name]
    function, method = getattr(torch, name), getattr(first, name)
    torch.manual_seed(3)
    wanted = method(*args)
    torch.manual_seed(3)
    found = function(first, *args)
    torch.manual_seed(3)
    pairs = zip(found, wanted) if isinstance(found, tuple) else [(found, wanted)]
    for a, b in pairs:
        assert type(a) is type(b)
        assert a.equal(b) if torch.is_tensor(a) else a == b
    if isinstance(found, tuple):
        out = tuple(type(f)() for f in found)
        assert function(first, *args, out=out)[0] is out[0] and out[0].equal(found[0])
    elif torch.is_tensor(found):
        out = type(found)()
        assert function(first, *args, out=out) is out and out.equal(found)
    else:
        with pytest.raises(TypeError, match="out= can't hold"):
            function(first, *args, out=torch.Tensor())


def test_functions_of_variables_are_their_methods(x):
    v = Variable(x, requires_grad=True)
    for made in (
        torch.add(v, 1),
        torch.pow(2, v),
        torch.cat([v, v]),
        torch.stack((v, v)),
        torch.sum(v),
    ):
        assert isinstance(made, Variable) and made.requires_grad
    assert torch.addmm(2, v, 3, v, Variable(torch.eye(3))).data.equal(x * 5)
    assert len(torch.split(v, 1)) == len(torch.chunk(v, 2)) == len(torch.unbind(v)) == 2
    assert type(torch.normal(v, 1).creator).__name__ == "Normal"
    with pytest.raises(TypeError, match="Variables or tensors, not both"):
        torch.add(x, v)
    with pytest.raises(TypeError, match="out="):
        torch.add(v, 1, out=torch.Tensor())
    with pytest.raises(AttributeError, match="svd: Variables have no such method"):
        torch.svd(v)


def test_results_go_to_tensors_of_their_type_only(x):
    with pytest.raises(TypeError, match="out= of type torch.FloatTensor"):
        torch.add(x, 1, out=torch.LongTensor())
    with pytest.raises(TypeError, match="the results are not"):
        torch.max(x, 1, out=(torch.Tensor(),))


def test_ranges_include_their_end():
    assert torch.range(1, 4).tolist() == [1, 2, 3, 4] and torch.range(1, 2, 0.5).tolist() == [
        1,
        1.5,
        2,
    ]
    assert torch.range(3, 1, -1).tolist() == [3, 2, 1]
    with pytest.raises(RuntimeError, match="inconsistent with step sign"):
        torch.range(1, 0)
    with pytest.raises(RuntimeError, match="step must not be 0"):
        torch.range(1, 2, 0)
    assert len(torch.linspace(0, 1)) == len(torch.logspace(0, 1)) == 100
    assert torch.eye(2, 3).size() == (2, 3)
    assert sorted(torch.randperm(5).tolist()) == [0, 1, 2, 3, 4]


def test_tensors_are_put_together_and_apart(x):
    assert torch.cat([x, x], 1).size() == (2, 6) and torch.cat([torch.Tensor(), x[0]]).size() == (
        3,
    )
    assert torch.stack([x, x], 2).size() == (2, 3, 2)
    assert [t.size(1) for t in torch.split(x, 2, 1)] == [2, 1]
    assert [t.tolist() for t in torch.unbind(x, 1)][2] == [3, 6]
    with pytest.raises(TypeError, match="tensors of one type"):
        torch.cat([x, x.double()])
    with pytest.raises(TypeError, match="expected a list or tuple of tensors, got an empty list"):
        torch.cat([])


def test_halves_round_away_from_zero():
    t = torch.FloatTensor([0.5, 1.5, 2.4, -0.5, -2.5, math.inf])
    assert torch.round(t).tolist() == [1, 2, 2, -1, -3, math.inf]
    assert t.round_() is t and t.tolist()[0] == 1


def test_linear_algebra_solves_and_factors():
    torch.manual_seed(0)
    a, b = torch.randn(4, 4).double(), torch.randn(4, 2).double()
    spd = a.mm(a.t()) + torch.eye(4).double() * 4

    def same(x, y):
        assert type(x) is type(y) and x.sub(y).abs().max() < 1e-9

    same(torch.inverse(a).mm(a), torch.eye(4).double())
    solution, lu = torch.gesv(b, a)
    same(a.mm(solution), b)
    assert lu.size() == (4, 4)
    same(torch.gels(b, a)[0], solution)
    tall = torch.randn(6, 3).double()
    rhs = torch.randn(6, 1).double()
    residual = tall.mm(torch.gels(rhs, tall)[0]) - rhs
    assert tall.t().mm(residual).abs().max() < 1e-9
    values, vectors = torch.symeig(spd, eigenvectors=True)
    same(vectors.mm(torch.diag(values)).mm(vectors.t()), spd)
    assert torch.symeig(spd)[1].abs().sum() == 0
    assert torch.eig(a)[0].size() == (4, 2) and torch.eig(a)[1].numel() == 0
    found, right = torch.eig(spd, True)
    same(spd.mm(right), right.mm(torch.diag(found.select(1, 0).clone())))
    u, s, v = torch.svd(tall)
    same(u.mm(torch.diag(s)).mm(v.t()), tall)
    assert torch.svd(tall, some=False)[0].size() == (6, 6)
    q, r = torch.qr(tall)
    same(q.mm(r), tall)
    packed, tau = torch.geqrf(a)
    same(torch.orgqr(packed, tau).mm(packed.triu()), a)
    same(torch.ormqr(packed, tau, b), torch.orgqr(packed, tau).mm(b))
    same(torch.ormqr(packed, tau, b, True, True), torch.orgqr(packed, tau).t().mm(b))
    wide = b.repeat(1, 300)  # LAPACK asks for room by the side that is long
    same(torch.ormqr(packed, tau, wide), torch.orgqr(packed, tau).mm(wide))
    same(torch.ormqr(packed, tau, wide.t(), False), wide.t().mm(torch.orgqr(packed, tau)))
    for upper in (True, False):
        factor = torch.potrf(spd, upper)
        same(factor.t().mm(factor) if upper else factor.mm(factor.t()), spd)
        same(torch.potri(factor, upper).mm(spd), torch.eye(4).double())
        same(spd.mm(torch.potrs(b, factor, upper)), b)
        same(factor.mm(torch.trtrs(b, factor, upper)[0]), b)
        pivoted, pivots = torch.pstrf(spd, upper)
        whole = pivoted.t().mm(pivoted) if upper else pivoted.mm(pivoted.t())
        order = pivots.long() - 1
        same(whole, spd[order].t().contiguous()[order])


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: torch.inverse(torch.zeros(2, 2)), RuntimeError, "inverse: .*singular"),
        (lambda: torch.inverse(torch.zeros(2, 3)), RuntimeError, "A should be square"),
        (lambda: torch.gesv(torch.ones(2), torch.zeros(2, 2)), RuntimeError, "singular U"),
        (lambda: torch.potrf(-torch.eye(2)), RuntimeError, "potrf: .*not positive definite"),
        (lambda: torch.svd(torch.ones(3)), RuntimeError, "expected a matrix"),
        (lambda: torch.qr(torch.ones(2, 2).long()), TypeError, "LongTensor doesn't implement"),
        (lambda: torch.potrs(torch.ones(2), torch.eye(2).double()), TypeError, "DoubleTensor"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_what_is_a_tensor_and_what_a_storage(x):
    assert torch.is_tensor(x) and torch.is_tensor(ag.ones(2)) and not torch.is_tensor(Variable(x))
    storage = x.storage()
    assert torch.is_storage(storage) and not torch.is_storage(x)
    assert (
        torch.typename(x) == "torch.FloatTensor" and torch.typename(storage) == "torch.FloatStorage"
    )
    assert torch.typename(torch.nn.ReLU()).startswith("torch.nn.")
    storage[0] = 9
    assert x[0][0] == 9 and len(storage) == 6 and storage.tolist()[1] == 2
    other = torch.LongStorage([1, 2]).fill_(3)
    assert list(other) == [3, 3] and other.type() == "torch.LongStorage"
    assert torch.LongTensor(other).tolist() == [3, 3]
    assert other.type("torch.FloatStorage").copy_(storage.new([5, 6])).tolist() == [5, 6]
    with pytest.raises(IndexError, match="out of range for storage of size 2"):
        other[2]


def test_files_keep_classes_flags_and_shared_memory(x, tmp_path):
    v = Variable(x[1], requires_grad=True)
    torch.save({"x": x, "v": v, "n": 3}, tmp_path / "f")
    found = torch.load(tmp_path / "f")
    assert type(found["x"]) is torch.FloatTensor and found["v"].requires_grad and found["n"] == 3
    found["v"].data.fill_(0)
    assert found["x"][1].sum() == 0
    with pytest.raises(RuntimeError, match="Python's pickle only"):
        torch.save(x, io.BytesIO(), pickle_module=io)


def test_the_generator_goes_back_to_its_state():
    generator = torch.manual_seed(5)
    assert torch.initial_seed() == 5 and generator is torch.default_generator
    state = torch.get_rng_state()
    assert state.type() == "torch.ByteTensor"
    first = torch.randn(3)
    torch.set_rng_state(state)
    assert torch.randn(3).equal(first)


def test_draws_have_their_distributions():
    torch.manual_seed(0)
    wide = torch.Tensor(20000)
    assert wide.cauchy_(2, 3).median()[0][0] == pytest.approx(2, abs=0.15)
    assert wide.abs().max() > 1000
    assert wide.log_normal_(0, 0.5).log().std() == pytest.approx(0.5, abs=0.02)
    assert wide.geometric_(0.25).mean() == pytest.approx(4, abs=0.15) and wide.min() == 1
    assert wide.exponential_(2).mean() == pytest.approx(0.5, abs=0.02)
    assert wide.bernoulli_(0.3).mean() == pytest.approx(0.3, abs=0.02)
    assert wide.uniform_(2, 4).mean() == pytest.approx(3, abs=0.02)
    assert wide.fill_(0.7).bernoulli().mean() == pytest.approx(0.7, abs=0.02)
    assert wide.bernoulli_(torch.ones(20000)).min() == 1
    weights = torch.FloatTensor([0, 1, 3])
    drawn = weights.multinomial(20000, True)
    assert drawn.min() == 1 and drawn.eq(2).float().mean() == pytest.approx(0.75, abs=0.02)
    for row in torch.ones(50, 4).multinomial(4).tolist():
        assert sorted(row) == [0, 1, 2, 3]
    firsts = weights.expand(5000, 3).contiguous().multinomial(2).select(1, 0)
    assert firsts.eq(2).sum() / 5000 == pytest.approx(0.75, abs=0.03)
    normal = torch.normal(torch.zeros(20000), torch.ones(20000) * 2)
    assert normal.std() == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: torch.zeros(3).multinomial(1), "sum of weights <= 0"),
        (lambda: torch.FloatTensor([1, 0]).multinomial(2), "only 1 weights"),
        (lambda: torch.FloatTensor([-1, 2]).multinomial(1), "not negative"),
        (lambda: torch.ones(2).multinomial(0), "n_sample <= 0"),
        (lambda: torch.ones(1, 1, 2).multinomial(1), "one or two dimensions"),
        (lambda: torch.ones(2).geometric_(1), "between 0 and 1"),
    ],
)
def test_draws_that_cannot_be_are_refused(call, words):
    with pytest.raises(RuntimeError, match=words):
        call()


def test_python_functions_change_elements():
    x, y, z = torch.range(1, 3), torch.ones(3), torch.range(3, 5)
    assert x.clone().apply_(lambda v: v * v).tolist() == [1, 4, 9]
    assert x.clone().map_(z, lambda a, b: a * b).tolist() == [3, 8, 15]
    assert x.map2_(y, z, lambda a, b, c: a + b + c).tolist() == [5, 7, 9]


def test_no_gpu_is_said_before_it_is_missed(x):
    assert torch.cuda.is_available() is False and torch.cuda.device_count() == 0
    assert x.is_cuda is False and x.is_sparse is False and x.cpu() is x
    for call in (x.cuda, torch.cuda.current_device, lambda: x.type("torch.cuda.FloatTensor")):
        with pytest.raises(RuntimeError, match="there is no GPU"):
            call()


def test_set_shows_other_memory(x):
    y = torch.Tensor().set_(x)
    y[0, 0] = 8
    assert x[0][0] == 8 and y.is_set_to(x)
    assert torch.Tensor().set_(x.storage(), 1, (2, 2), (3, 1)).tolist() == [[2, 3], [5, 6]]
    assert y.set_().numel() == 0
    with pytest.raises(TypeError, match="expected a torch.FloatTensor"):
        torch.Tensor().set_(x.double())


def test_histograms_and_renormalisation(x):
    assert x.histc(3, 0, 6).sum() == 6
    norms = x.renorm(2, 0, 1).norm(2, 1)
    assert norms.sub(1).abs().max() < 1e-5
    assert np.allclose(x.renorm_(1, 1, 5).sum(0).tolist(), [[5, 5, 5]], atol=1e-4)
