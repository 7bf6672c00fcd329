"""Losses of single elements beside those of PyTorch: values, gradients, dtypes and errors."""

import builtins
import warnings

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

REDUCTIONS = ("none", "mean", "sum")
DISTANCES = ("l1_loss", "smooth_l1_loss", "huber_loss", "mse_loss")
CROSS_ENTROPIES = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
FUNCTIONS = (*DISTANCES, *CROSS_ENTROPIES, "kl_div", "soft_margin_loss")
OPTIONS = {
    "l1_loss": [{}, {"weight": (3, 4)}],
    "mse_loss": [{}, {"weight": (3, 4)}],
    "smooth_l1_loss": [{}, {"beta": 0.0}, {"beta": 0.3}, {"beta": 2}],
    "huber_loss": [{}, {"delta": 0.3}, {"delta": 2.0, "weight": (3, 4)}],
    "binary_cross_entropy": [{}, *({"weight": s} for s in ((3, 4), (4,), (3, 1), ()))],
    "binary_cross_entropy_with_logits": [
        {},
        {"weight": (3, 4)},
        {"weight": (3, 1), "pos_weight": (4,)},
        {"pos_weight": (3, 4)},
    ],
    "kl_div": [{}, {"log_target": True}],
    "soft_margin_loss": [{}],
}


def random(shape, seed, low=0.05, high=0.95):
    return np.random.default_rng(seed).uniform(low, high, shape)


def options_of(library, options, dtype):
    made = {}
    for seed, (name, value) in enumerate(options.items()):
        if isinstance(value, tuple):
            value = library.tensor(random(value, seed + 7)).to(getattr(library, dtype))
        made[name] = value
    return made


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def array(t):
    return (
        t.detach()
        .clone()
        .to((type(t).__module__.startswith("torch") and torch.float64) or ag.float64)
    )


def numbers(t):
    return np.array(array(t).tolist())


def close(ours, theirs, dtype, scale=1.0):
    assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
    assert tuple(ours.shape) == tuple(theirs.shape)
    tolerance = {"float64": 1e-10, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}[dtype]
    np.testing.assert_allclose(
        numbers(ours), numbers(theirs), rtol=tolerance * scale, atol=tolerance
    )


def cases():
    for name in FUNCTIONS:
        for options in OPTIONS[name]:
            text = "-".join(f"{k}{v}" for k, v in options.items())
            yield pytest.param(name, options, id=f"{name}-{text}".replace(" ", ""))


@pytest.mark.parametrize(("name", "options"), list(cases()))
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_values_and_gradients(name, options, reduction):
    for shape in ((3, 4), *(((), (0, 3), (2, 3, 5)) if not options else ())):
        x, y = random(shape, 1), random(shape, 2)
        found = []
        for library in (ag, torch):
            a = library.tensor(x, requires_grad=True)
            # torch has no gradient of these targets
            b = library.tensor(y, requires_grad=name != "soft_margin_loss")
            function = getattr(library.nn.functional, name)
            extra = options_of(library, options, "float64")
            loss = quietly(function, a, b, reduction=reduction, **extra)
            wanted = [t for t in (a, b) if t.requires_grad]
            first = library.autograd.grad(loss.sum(), wanted, create_graph=True)
            moving = [g for g in first if g.requires_grad]
            second = library.autograd.grad(
                sum((g * g.detach()).sum() for g in moving), wanted, allow_unused=True
            )
            second = [library.zeros(shape) if s is None else s for s in second]
            found.append([loss.detach(), *(g.detach() for g in first), *second])
        for ours, theirs in zip(*found):
            np.testing.assert_allclose(numbers(ours), numbers(theirs), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("name", "options"), list(cases()))
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_dtypes(name, options, dtype):
    x, y = random((3, 4), 1, 0.2, 0.8), random((3, 4), 2, 0.2, 0.8)
    for reduction in REDUCTIONS:
        found = []
        for library in (ag, torch):
            a = library.tensor(x).to(getattr(library, dtype)).requires_grad_()
            b = library.tensor(y).to(getattr(library, dtype))
            function = getattr(library.nn.functional, name)
            extra = options_of(library, options, dtype)
            loss = quietly(function, a, b, reduction=reduction, **extra)
            loss.sum().backward()
            found.append((loss, a.grad))
        for ours, theirs in zip(*found):
            close(ours, theirs, dtype, 4.0)


def outcome(library, call):
    """(dtype, shape) of the result, or the error's type; and the texts of warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = call(library, library.nn.functional)
        except Exception as error:
            found = type(error).__name__
        else:
            found = str(result.dtype).split(".")[-1], tuple(result.shape)
    return found, [str(w.message).replace("autograd_cy.Size", "torch.Size") for w in seen]


MIXED = {
    "int and int": lambda m: (m.ones(3, 4, dtype=m.int64), m.ones(3, 4, dtype=m.int64)),
    "float and int": lambda m: (m.ones(3, 4) / 2, m.ones(3, 4, dtype=m.int64)),
    "int and float": lambda m: (m.ones(3, 4, dtype=m.int64), m.ones(3, 4)),
    "float and double": lambda m: (m.ones(3, 4) / 2, m.ones(3, 4, dtype=m.float64)),
    "double and float": lambda m: (m.ones(3, 4, dtype=m.float64), m.ones(3, 4)),
    "half and float": lambda m: (m.ones(3, 4, dtype=m.float16), m.ones(3, 4)),
    "float and half": lambda m: (m.ones(3, 4), m.ones(3, 4, dtype=m.float16)),
    "complex and float": lambda m: (m.ones(3, 4, dtype=m.complex64), m.ones(3, 4)),
    "broadcast": lambda m: (m.ones(3, 4), m.ones(4)),
    "shapes that do not fit": lambda m: (m.ones(3, 4), m.ones(3, 3)),
    "empty": lambda m: (m.ones(0, 3), m.ones(0, 3)),
}


@pytest.mark.parametrize("kind", MIXED)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_mixed_arguments(name, kind):
    for reduction in REDUCTIONS:

        def call(library, functional):
            return getattr(functional, name)(*MIXED[kind](library), reduction=reduction)

        (ours, texts), (theirs, their_texts) = outcome(ag, call), outcome(torch, call)
        assert texts == their_texts, reduction
        if isinstance(theirs, str):  # the error may be a special case of torch's
            assert issubclass(getattr(builtins, ours), getattr(builtins, theirs)), reduction
        else:
            assert ours == theirs, reduction


WRONG = {
    "reduction": lambda m, f: f.l1_loss(m.ones(2), m.ones(2), reduction="avg"),
    "reduction of a weighted mean": lambda m, f: f.huber_loss(
        m.ones(2), m.ones(2), "avg", weight=m.ones(2)
    ),
    "weight of another shape": lambda m, f: f.l1_loss(m.ones(2), m.ones(2), weight=m.ones(1)),
    "weight of another shape, mse": lambda m, f: f.mse_loss(
        m.ones(2, 2), m.ones(2, 2), weight=m.ones(2)
    ),
    "beta": lambda m, f: f.smooth_l1_loss(m.ones(2), m.ones(2), beta=-1.0),
    "delta": lambda m, f: f.huber_loss(m.ones(2), m.ones(2), delta=0.0),
    "above one": lambda m, f: f.binary_cross_entropy(m.tensor([0.5, 1.1]), m.zeros(2)),
    "below zero": lambda m, f: f.binary_cross_entropy(
        m.tensor([0.5, -0.1]), m.ones(2), reduction="none"
    ),
    "not a number": lambda m, f: f.binary_cross_entropy(m.tensor([float("nan")]), m.ones(1)),
    "weight of more dimensions": lambda m, f: f.binary_cross_entropy(
        m.rand(3, 4), m.rand(3, 4), m.rand(2, 3, 4)
    ),
    "weight that does not fit": lambda m, f: f.binary_cross_entropy_with_logits(
        m.rand(3, 4), m.rand(3, 4), m.rand(3)
    ),
    "pos_weight that does not fit": lambda m, f: f.binary_cross_entropy_with_logits(
        m.rand(3, 4), m.rand(3, 4), pos_weight=m.rand(3)
    ),
    "weight with a gradient": lambda m, f: f.binary_cross_entropy(
        m.rand(3), m.rand(3), m.rand(3).requires_grad_()
    ),
    "pos_weight with a gradient": lambda m, f: f.binary_cross_entropy_with_logits(
        m.rand(3), m.rand(3), pos_weight=m.rand(3).requires_grad_()
    ),
    "target of bool": lambda m, f: f.binary_cross_entropy(m.rand(3), m.ones(3, dtype=m.bool)),
    "kl_div of ints": lambda m, f: f.kl_div(m.ones(3, dtype=m.int64), m.rand(3)),
    "kl_div, reduction": lambda m, f: f.kl_div(m.rand(3), m.rand(3), reduction="avg"),
    "top level, name of a reduction": lambda m, f: m.kl_div(m.rand(3), m.rand(3), "mean"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_refused(kind):
    ours, theirs = outcome(ag, WRONG[kind]), outcome(torch, WRONG[kind])
    assert isinstance(ours[0], str), ours
    assert ours == theirs


FINE = {
    "older spelling: sum": lambda m, f: f.l1_loss(m.ones(2), m.zeros(2), False),
    "older spelling: none": lambda m, f: f.smooth_l1_loss(m.ones(2), m.zeros(2), reduce=False),
    "older spelling: mean": lambda m, f: f.mse_loss(m.ones(2), m.zeros(2), True, True),
    "older spelling of a module": lambda m, f: m.nn.L1Loss(size_average=False)(
        m.ones(2), m.zeros(2)
    ),
    "weight in no_grad": lambda m, f: m.no_grad()(f.binary_cross_entropy)(
        m.rand(3), m.rand(3), m.rand(3).requires_grad_()
    ),
    "batchmean": lambda m, f: f.kl_div(m.rand(3, 2), m.rand(3, 2), reduction="batchmean"),
    "batchmean of one number": lambda m, f: f.kl_div(m.rand(()), m.rand(()), reduction="batchmean"),
    "mean of a divergence warns": lambda m, f: f.kl_div(m.rand(3), m.rand(3)),
    "top level": lambda m, f: m.kl_div(m.rand(3), m.rand(3)),
    "top level, sum": lambda m, f: m.kl_div(m.rand(3), m.rand(3), 2, log_target=True),
    "top level, any number": lambda m, f: m.kl_div(m.rand(3), m.rand(3), 7),
    "top level, logits": lambda m, f: m.binary_cross_entropy_with_logits(m.rand(3), m.rand(3)),
    "logits, everything": lambda m, f: m.binary_cross_entropy_with_logits(
        m.rand(2, 3), m.rand(2, 3), m.rand(3), m.rand(2, 1), 1
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FINE)
def test_what_is_taken(kind):
    ours, theirs = outcome(ag, FINE[kind]), outcome(torch, FINE[kind])
    assert isinstance(ours[0], tuple), ours
    assert ours == theirs


MODULES = {
    "L1Loss": [{}, {"reduction": "sum"}],
    "SmoothL1Loss": [{}, {"beta": 0.5}],
    "HuberLoss": [{}, {"delta": 0.5, "reduction": "none"}],
    "BCELoss": [{}, {"weight": (4,)}],
    "BCEWithLogitsLoss": [{}, {"weight": (3, 1), "pos_weight": (4,)}],
    "KLDivLoss": [{}, {"reduction": "batchmean", "log_target": True}],
    "SoftMarginLoss": [{}],
    "MSELoss": [{}],
}


@pytest.mark.parametrize("name", MODULES)
def test_modules(name):
    for options in MODULES[name]:
        found = []
        for library in (ag, torch):
            module = getattr(library.nn, name)(**options_of(library, options, "float32"))
            a = library.tensor(random((3, 4), 1).astype("float32"), requires_grad=True)
            loss = quietly(module, a, library.tensor(random((3, 4), 2).astype("float32")))
            loss.sum().backward()
            found.append((module, loss, a.grad))
        (ours, loss, grad), (theirs, their_loss, their_grad) = found
        assert repr(ours) == repr(theirs)
        assert list(ours.state_dict()) == list(theirs.state_dict())
        assert {k: v for k, v in vars(ours).items() if k in options and k != "weight"}.keys() == {
            k for k in vars(theirs) if k in options and k != "weight"
        }
        close(loss, their_loss, "float32")
        close(grad, their_grad, "float32")


EXTREME = (-np.inf, -1e30, -90.0, -20.0, -0.0, 0.0, 1e-30, 20.0, 90.0, 1e30)


def test_extreme_logits_keep_their_digits():
    """The loss of a confident right answer is small, not zero: torch's form cancels."""
    for x in EXTREME[1:]:
        for t in (0.0, 1.0):
            loss = ag.binary_cross_entropy_with_logits(
                ag.tensor([x], dtype=ag.float64), ag.tensor([t], dtype=ag.float64)
            )
            expected = np.logaddexp(0.0, x if t == 0 else -x)
            np.testing.assert_allclose(loss.numpy(), [expected], rtol=1e-13)


def test_certain_probabilities():
    x = np.array([0.0, 1.0, 0.0, 1.0, 1e-30, 1e-45], "float32")
    t = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0], "float32")
    found = []
    for library in (ag, torch):
        a = library.tensor(x, requires_grad=True)
        loss = library.nn.functional.binary_cross_entropy(a, library.tensor(t), reduction="none")
        loss.sum().backward()
        found.append((loss, a.grad))
    for ours, theirs in zip(*found):
        close(ours, theirs, "float32")


def test_node_names():
    x, y = ag.rand(3, requires_grad=True), ag.rand(3)
    a, b = torch.rand(3, requires_grad=True), torch.rand(3)
    one_node = {"l1_loss": "L1LossBackward0", "kl_div": "KlDivBackward0"}
    for name in FUNCTIONS:
        ours = quietly(getattr(ag.nn.functional, name), x, y).grad_fn
        theirs = quietly(getattr(torch.nn.functional, name), a, b).grad_fn
        assert ours.name() == one_node.get(name, theirs.name())
        if name not in one_node:
            shown = {n for n in dir(theirs) if n.startswith("_saved")}
            assert shown <= set(dir(ours)), name
