"""Losses of margins, distances and other likelihoods beside those of PyTorch."""

import builtins
import warnings

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

REDUCTIONS = ("none", "mean", "sum")


def random(shape, seed, low=-1.5, high=1.5):
    return np.random.default_rng(seed).uniform(low, high, shape)


def signs(shape, seed=5):
    return np.where(random(shape, seed) > 0, 1.0, -1.0)


def numbers(t):
    return np.array(t.detach().clone().tolist(), dtype="float64").reshape(tuple(t.shape))


POSITIVE = (0.3, 2.5)
LABELS = np.array([[0, 1, -1, 2], [3, -1, 0, 0], [-1, 0, 0, 0]])
# name: (arrays, how many of them get gradients, keywords)
CASES = [
    ("margin_ranking_loss", (random(5, 1), random(5, 2), signs(5)), 2, {}),
    (
        "margin_ranking_loss",
        (random((3, 1), 1), random((1, 4), 2), signs((3, 4))),
        2,
        {"margin": 0.7},
    ),
    ("hinge_embedding_loss", (random(5, 1), signs(5)), 1, {}),
    ("hinge_embedding_loss", (random((3, 4), 1), np.array([1, -1, 0, 2])), 1, {"margin": 0.3}),
    ("cosine_embedding_loss", (random((3, 4), 1), random((3, 4), 2), np.array([1, -1, 0])), 2, {}),
    ("cosine_embedding_loss", (random(4, 1), random(4, 2), np.array(-1)), 2, {"margin": -0.5}),
    ("poisson_nll_loss", (random((3, 4), 1), random((3, 4), 2, *POSITIVE)), 2, {}),
    ("poisson_nll_loss", (random((3, 4), 1), random((3, 4), 2, *POSITIVE)), 2, {"full": True}),
    (
        "poisson_nll_loss",
        (random((3, 4), 1, *POSITIVE), random((3, 4), 2, *POSITIVE)),
        2,
        {"log_input": False, "full": True, "eps": 1e-3},
    ),
    *(
        ("gaussian_nll_loss", (random((3, 4), 1), random((3, 4), 2), random(s, 3, *POSITIVE)), 3, k)
        for s, k in (((3, 4), {}), ((3, 1), {"full": True}), ((1, 4), {}), ((3,), {"eps": 1.0}))
    ),
    ("multi_margin_loss", (random((3, 4), 1), np.array([0, 3, 1])), 1, {}),
    ("multi_margin_loss", (random((3, 4), 1), np.array([0, 3, 1])), 1, {"p": 2, "margin": 0.5}),
    (
        "multi_margin_loss",
        (random((3, 4), 1), np.array([0, 3, 1])),
        1,
        {"weight": random(4, 7, *POSITIVE), "p": 2},
    ),
    ("multi_margin_loss", (random(4, 1), np.array(2)), 1, {}),
    ("multilabel_margin_loss", (random((3, 4), 1), LABELS), 1, {}),
    ("multilabel_margin_loss", (random(4, 1), LABELS[0]), 1, {}),
    ("multilabel_margin_loss", (random((2, 4), 1), np.array([[1, 1, 2, -1], [0, 1, 2, 3]])), 1, {}),
    ("multilabel_soft_margin_loss", (random((3, 4), 1), random((3, 4), 2, 0, 1)), 1, {}),
    (
        "multilabel_soft_margin_loss",
        (random((3, 4), 1), random((3, 4), 2, 0, 1)),
        1,
        {"weight": random(4, 7)},
    ),
    ("multilabel_soft_margin_loss", (random((2, 3, 4), 1), random((2, 3, 4), 2, 0, 1)), 1, {}),
    *(
        (f"triplet_margin{name}_loss", tuple(random((3, 4), i) for i in range(3)), 3, keywords)
        for name, keywords in (
            ("", {}),
            ("", {"margin": 4.0, "p": 3.0, "swap": True}),
            ("", {"margin": 2.0, "p": 1, "eps": 1e-2}),
            ("_with_distance", {"swap": True, "margin": 4.0}),
        )
    ),
]
PAIRS = [
    *(
        ("cosine_similarity", (random(a, 1), random(b, 2)), 2, k)
        for a, b, k in (
            ((3, 4), (3, 4), {}),
            ((3, 4), (4,), {"dim": -1, "eps": 0.5}),
            ((2, 1, 4), (3, 1), {"dim": 0}),
            ((0, 4), (0, 4), {}),
        )
    ),
    *(
        ("pairwise_distance", (random((3, 4), 1), random((3, 4), 2)), 2, k)
        for k in ({}, {"p": 1.0}, {"p": 3.5, "keepdim": True}, {"p": float("inf"), "eps": 0.1})
    ),
    ("pairwise_distance", (random((2, 1, 4), 1), random((3, 4), 2)), 2, {}),
    *(
        ("bilinear", tuple(random(s, i) for i, s in enumerate(shapes)), len(shapes), {})
        for shapes in (
            ((2, 3), (2, 4), (5, 3, 4), (5,)),
            ((3,), (4,), (5, 3, 4)),
            ((2, 6, 3), (2, 6, 4), (1, 3, 4), (1,)),
            ((0, 3), (0, 4), (5, 3, 4), (5,)),
        )
    ),
]


def results(library, name, arrays, moving, keywords, rounds):
    tensors = [library.tensor(a) for a in arrays]
    inputs = [t.requires_grad_() for t in tensors[:moving]]
    options = {
        k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in keywords.items()
    }
    value = getattr(library.nn.functional, name)(*tensors, **options)
    again = rounds > 1
    first = library.autograd.grad(value.sum(), inputs, create_graph=again, allow_unused=True)
    first = [library.zeros_like(i) if g is None else g for g, i in zip(first, inputs)]
    if not again:
        return [value, *first]
    total = sum((g * g).sum() for g in first)
    second = [None] * moving
    if total.requires_grad:
        second = library.autograd.grad(total, inputs, allow_unused=True)
    second = [library.zeros_like(i) if g is None else g for g, i in zip(second, inputs)]
    return [value, *first, *second]


def same(name, arrays, moving, keywords, rounds):
    found = [results(m, name, arrays, moving, keywords, rounds) for m in (ag, torch)]
    for ours, theirs in zip(*found):
        assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
        assert tuple(ours.shape) == tuple(theirs.shape)
        np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=1e-9, atol=1e-11)


def names(cases):
    return [f"{name}-{number}" for number, (name, *_) in enumerate(cases)]


# torch has no second derivatives of these.
ONCE = ("multi_margin_loss", "multilabel_margin_loss")


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_values_and_gradients_of_losses(case, reduction):
    name, arrays, moving, keywords = case
    rounds = 1 if name in ONCE else 2
    same(name, arrays, moving, {**keywords, "reduction": reduction}, rounds)


@pytest.mark.parametrize("case", PAIRS, ids=names(PAIRS))
def test_values_and_gradients_of_pairs(case):
    same(*case, 2)


@pytest.mark.parametrize("number", range(len(CASES)), ids=names(CASES))
def test_every_example_by_vmap(number):
    name, arrays, _, keywords = CASES[number]
    options = {k: ag.tensor(v) if isinstance(v, np.ndarray) else v for k, v in keywords.items()}
    function = getattr(ag.nn.functional, name)
    batch = [ag.tensor(np.stack([a, np.flip(a, 0) if a.ndim else a])) for a in arrays]
    found = ag.func.vmap(lambda *ts: function(*ts, reduction="sum", **options))(*batch)
    expected = [function(*(t[i] for t in batch), reduction="sum", **options) for i in range(2)]
    np.testing.assert_allclose(found.numpy(), [e.item() for e in expected], rtol=1e-9, atol=1e-12)


def outcome(library, call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = call(library, library.nn.functional)
        except Exception as error:
            found = type(error).__name__
        else:
            found = str(result.dtype).split(".")[-1], tuple(result.shape)
    return found, [str(w.message) for w in seen]


WRONG = {
    "ranks of scores": lambda m, f: f.margin_ranking_loss(m.ones(3), m.ones(3, 1), m.ones(3)),
    "reduction": lambda m, f: f.hinge_embedding_loss(m.ones(3), m.ones(3), reduction="avg"),
    "sizes": lambda m, f: f.hinge_embedding_loss(m.ones(3), m.ones(2)),
    "target of two dimensions": lambda m, f: f.cosine_embedding_loss(
        m.ones(3, 4), m.ones(3, 4), m.ones(3, 1)
    ),
    "vectors of one target": lambda m, f: f.cosine_embedding_loss(
        m.ones(3, 4), m.ones(3, 4), m.tensor(1)
    ),
    "negative variance": lambda m, f: f.gaussian_nll_loss(m.ones(3), m.ones(3), -m.ones(3)),
    "negative number as variance": lambda m, f: f.gaussian_nll_loss(m.ones(3), m.ones(3), -1.0),
    "an int as variance": lambda m, f: f.gaussian_nll_loss(m.ones(3), m.ones(3), 1),
    "two sizes of variances": lambda m, f: f.gaussian_nll_loss(
        m.ones(3, 4), m.ones(3, 4), m.ones(1, 1)
    ),
    "dimensions of variances": lambda m, f: f.gaussian_nll_loss(
        m.ones(3, 4), m.ones(3, 4), m.ones(1, 3, 4)
    ),
    "size of variances": lambda m, f: f.gaussian_nll_loss(m.ones(3, 4), m.ones(3, 4), m.ones(4)),
    "reduction of variances": lambda m, f: f.gaussian_nll_loss(
        m.ones(3), m.ones(3), m.ones(3), reduction="avg"
    ),
    "power": lambda m, f: f.multi_margin_loss(m.ones(3, 4), m.tensor([0, 1, 2]), p=3),
    "class out of range": lambda m, f: f.multi_margin_loss(m.ones(3, 4), m.tensor([0, 1, 4])),
    "number of classes": lambda m, f: f.multi_margin_loss(m.ones(3, 4), m.tensor([0, 1])),
    "float classes": lambda m, f: f.multi_margin_loss(m.ones(3, 4), m.ones(3)),
    "three dimensions": lambda m, f: f.multi_margin_loss(m.ones(2, 3, 4), m.tensor([0, 1])),
    "size of weights": lambda m, f: f.multi_margin_loss(
        m.ones(3, 4), m.tensor([0, 1, 2]), weight=m.ones(3)
    ),
    "dtype of weights": lambda m, f: f.multi_margin_loss(
        m.ones(3, 4), m.tensor([0, 1, 2]), weight=m.ones(4, dtype=m.float64)
    ),
    "weight with a gradient": lambda m, f: f.multi_margin_loss(
        m.ones(3, 4), m.tensor([0, 1, 2]), weight=m.ones(4).requires_grad_()
    ),
    "size of labels": lambda m, f: f.multilabel_margin_loss(
        m.ones(3, 4), m.tensor([[0, 1, 2, -1]])
    ),
    "label out of range": lambda m, f: f.multilabel_margin_loss(m.ones(3), m.tensor([0, 3, -1])),
    "label below -1": lambda m, f: f.multilabel_margin_loss(m.ones(3), m.tensor([0, -2, -1])),
    "float labels": lambda m, f: f.multilabel_margin_loss(m.ones(3), m.ones(3)),
    "no classes": lambda m, f: f.multilabel_soft_margin_loss(m.ones(()), m.ones(())),
    "reduction of labels": lambda m, f: f.multilabel_soft_margin_loss(
        m.ones(2, 3), m.ones(2, 3), reduction="avg"
    ),
    "ranks of triplets": lambda m, f: f.triplet_margin_loss(m.ones(3, 4), m.ones(3, 4), m.ones(4)),
    "margin": lambda m, f: f.triplet_margin_loss(m.ones(3), m.ones(3), m.ones(3), margin=0.0),
    "margin with a distance": lambda m, f: f.triplet_margin_with_distance_loss(
        m.ones(3), m.ones(3), m.ones(3), margin=-1.0
    ),
    "dimension": lambda m, f: f.cosine_similarity(m.ones(3), m.ones(3)),
    "eps": lambda m, f: f.cosine_similarity(m.ones(3), m.ones(3), 0, -1.0),
    "cosine of ints": lambda m, f: m.cosine_similarity(
        m.ones(2, 2, dtype=m.int64), m.ones(2, 2, dtype=m.int64)
    ),
    "cosine of complex numbers": lambda m, f: f.cosine_similarity(
        m.ones(2, 2, dtype=m.complex64), m.ones(2, 2)
    ),
    "rank of matrices": lambda m, f: f.bilinear(m.ones(2, 3), m.ones(2, 4), m.ones(5, 3)),
    "size of vectors": lambda m, f: f.bilinear(m.ones(2, 3), m.ones(2, 5), m.ones(5, 3, 4)),
    "top level needs all": lambda m, f: m.poisson_nll_loss(m.ones(2), m.ones(2)),
    "module: margin": lambda m, f: m.nn.TripletMarginLoss(margin=-1.0),
    "module: margin with a distance": lambda m, f: m.nn.TripletMarginWithDistanceLoss(margin=0.0),
    "module: power": lambda m, f: m.nn.MultiMarginLoss(p=3),
    "module: weight": lambda m, f: m.nn.MultiMarginLoss(weight=m.ones(2, 2)),
    "module: features": lambda m, f: m.nn.Bilinear(0, 1, 1),
    "module: size of no ints": lambda m, f: m.nn.Unflatten(1, (2, "a")),
    "module: no sizes": lambda m, f: m.nn.Unflatten(1, 6),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_refused(kind):
    (ours, texts), (theirs, their_texts) = outcome(ag, WRONG[kind]), outcome(torch, WRONG[kind])
    assert isinstance(ours, str) and isinstance(theirs, str), (ours, theirs)
    assert issubclass(getattr(builtins, ours), getattr(builtins, theirs)), (ours, theirs)
    assert texts == their_texts


FINE = {
    "older spelling": lambda m, f: f.margin_ranking_loss(m.ones(3), m.ones(3), m.ones(3), 1, False),
    "older spelling of labels": lambda m, f: f.multilabel_soft_margin_loss(
        m.ones(2, 3), m.ones(2, 3), reduce=False
    ),
    "targets of ints": lambda m, f: f.hinge_embedding_loss(m.ones(3), m.tensor([1, -1, 2])),
    "a number as variance": lambda m, f: f.gaussian_nll_loss(m.ones(3), m.ones(3), 2.0),
    "cosine of an int and a float": lambda m, f: f.cosine_similarity(
        m.ones(2, 2, dtype=m.int64), m.ones(2, 2)
    ),
    "cosine of halves": lambda m, f: f.cosine_similarity(
        m.ones(2, 2, dtype=m.float16), m.ones(2, 2, dtype=m.float16)
    ),
    "distance of ints": lambda m, f: f.pairwise_distance(
        m.ones(2, 2, dtype=m.int64), m.ones(2, dtype=m.int64)
    ),
    "distance of numbers": lambda m, f: f.pairwise_distance(m.ones(()), m.ones(())),
    "distance of complex numbers": lambda m, f: f.pairwise_distance(
        m.ones(2, 2, dtype=m.complex64), m.ones(2, 2)
    ),
    "top level: ranking": lambda m, f: m.margin_ranking_loss(m.ones(3), m.ones(3), m.ones(3)),
    "top level: hinge": lambda m, f: m.hinge_embedding_loss(m.ones(3), m.ones(3), 1.0, 1),
    "top level: cosine": lambda m, f: m.cosine_embedding_loss(
        m.ones(3, 4), m.ones(3, 4), m.ones(3), reduction=2
    ),
    "top level: triplet": lambda m, f: m.triplet_margin_loss(
        m.ones(3, 4), m.ones(3, 4), m.ones(3, 4), 1.0, 2, 1e-6, True, 1
    ),
    "top level: poisson": lambda m, f: m.poisson_nll_loss(
        m.ones(3), m.ones(3), True, False, 1e-8, 1
    ),
    "top level: distance": lambda m, f: m.pairwise_distance(
        m.ones(3, 4), m.ones(3, 4), keepdim=True
    ),
    "names of arguments": lambda m, f: f.cosine_similarity(x1=m.ones(2, 3), x2=m.ones(3), dim=1),
    "classes of a vector": lambda m, f: f.multi_margin_loss(m.ones(4), m.tensor([1])),
}  # fmt: skip


@pytest.mark.parametrize("kind", FINE)
def test_what_is_taken(kind):
    ours, theirs = outcome(ag, FINE[kind]), outcome(torch, FINE[kind])
    assert isinstance(ours[0], tuple), ours
    assert ours == theirs


MODULES = {
    "MarginRankingLoss": ({}, {"margin": 0.5, "reduction": "sum"}),
    "HingeEmbeddingLoss": ({}, {"margin": 0.5}),
    "CosineEmbeddingLoss": ({}, {"margin": 0.5}),
    "PoissonNLLLoss": ({}, {"log_input": False, "full": True, "eps": 1e-3}),
    "GaussianNLLLoss": ({}, {"full": True, "eps": 1e-3}),
    "MultiMarginLoss": ({}, {"p": 2, "margin": 0.5, "weight": random(4, 7, *POSITIVE)}),
    "MultiLabelMarginLoss": ({}, {"reduction": "none"}),
    "MultiLabelSoftMarginLoss": ({}, {"weight": random(4, 7)}),
    "TripletMarginLoss": ({}, {"margin": 2.0, "p": 1.0, "swap": True, "eps": 1e-3}),
    "TripletMarginWithDistanceLoss": ({}, {"margin": 2.0, "swap": True}),
    "CosineSimilarity": ({}, {"dim": 0, "eps": 0.1}),
    "PairwiseDistance": ({}, {"p": 1.0, "eps": 0.1, "keepdim": True}),
    "Unflatten": ({"dim": 1, "unflattened_size": (2, 2)}, {"dim": 0, "unflattened_size": [-1, 3]}),
}
FUNCTION_OF = {
    "PoissonNLLLoss": "poisson_nll_loss",
    "GaussianNLLLoss": "gaussian_nll_loss",
    "MultiLabelMarginLoss": "multilabel_margin_loss",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
}


def arrays_of(name):
    words = FUNCTION_OF.get(name)
    if name == "Unflatten":
        return (random((3, 4), 1),)
    if name in ("CosineSimilarity", "PairwiseDistance"):
        return random((3, 4), 1), random((3, 4), 2)
    if words is None:
        words = "".join("_" + c.lower() if c.isupper() else c for c in name)[1:]
    found = next(
        a for n, a, _, k in CASES if n == words and a[0].ndim == (1, 2)[len(a[0].shape) > 1]
    )
    if words == "poisson_nll_loss":
        return tuple(np.abs(a) for a in found)
    return found


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    for options in MODULES[name]:
        found = []
        for library in (ag, torch):
            given = {
                k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in options.items()
            }
            module = getattr(library.nn, name)(**given)
            found.append((module, module(*(library.tensor(a) for a in arrays_of(name)))))
        (ours, value), (theirs, their_value) = found
        assert repr(ours) == repr(theirs)
        assert list(ours.state_dict()) == list(theirs.state_dict())
        assert [k for k in vars(theirs) if k in options] == [k for k in vars(ours) if k in options]
        np.testing.assert_allclose(numbers(value), numbers(their_value), rtol=1e-9)


def test_bilinear_module():
    ours, theirs = ag.nn.Bilinear(3, 4, 5), torch.nn.Bilinear(3, 4, 5)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({k: ag.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    x, y = random((2, 3), 1).astype("float32"), random((2, 4), 2).astype("float32")
    np.testing.assert_allclose(
        numbers(ours(ag.tensor(x), ag.tensor(y))),
        numbers(theirs(torch.tensor(x), torch.tensor(y))),
        rtol=1e-5,
        atol=1e-6,  # sums of twelve float32 products may come near zero
    )
    large = ag.nn.Bilinear(400, 3, 400, bias=False)
    assert large.bias is None
    assert 0.049 < large.weight.abs().max().item() <= 0.05


def test_a_distance_that_is_a_module_is_a_child():
    ours = ag.nn.TripletMarginWithDistanceLoss(distance_function=ag.nn.PairwiseDistance(p=1.0))
    theirs = torch.nn.TripletMarginWithDistanceLoss(
        distance_function=torch.nn.PairwiseDistance(p=1.0)
    )
    assert [n for n, _ in ours.named_modules()] == [n for n, _ in theirs.named_modules()]
    arrays = [random((3, 4), i) for i in range(3)]
    np.testing.assert_allclose(
        ours(*map(ag.tensor, arrays)).item(), theirs(*map(torch.tensor, arrays)).item(), rtol=1e-12
    )


@pytest.mark.parametrize("p", [1, 2])
def test_a_margin_that_is_met_exactly(p):
    """There the gradient is zero; it isn't differentiable."""
    found = []
    for library in (ag, torch):
        x = library.tensor([[1.0, 0.0, 0.5], [2.0, 2.0, 3.0]], requires_grad=True)
        loss = library.nn.functional.multi_margin_loss(x, library.tensor([0, 2]), p=p)
        loss.backward()
        found.append((loss.item(), x.grad.tolist()))
    assert found[0] == found[1]


def test_the_margin_of_an_empty_batch_is_zero():
    # torch's mean of it is memory that nobody wrote.
    for reduction in REDUCTIONS:
        x = ag.zeros(0, 4, requires_grad=True)
        y = ag.nn.functional.multi_margin_loss(x, ag.zeros(0).long(), reduction=reduction)
        assert y.sum().item() == 0 and ag.autograd.grad(y.sum(), x)[0].shape == (0, 4)
