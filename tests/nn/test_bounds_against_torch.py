"""Numbers at the bounds of what options may be: taken, or refused with torch's class of error."""

import math
import warnings

import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

VALUES = (-0.5, 0.0, 1.0, 1.5, math.nan)
FUNCTIONS = {
    "cross_entropy label_smoothing": lambda m, v: m.nn.functional.cross_entropy(
        m.ones(2, 3), m.tensor([0, 1]), label_smoothing=v
    ),
    "huber_loss delta": lambda m, v: m.nn.functional.huber_loss(m.ones(2), m.zeros(2), delta=v),
    "smooth_l1_loss beta": lambda m, v: m.nn.functional.smooth_l1_loss(
        m.ones(2), m.zeros(2), beta=v
    ),
    "gaussian_nll_loss eps": lambda m, v: m.nn.functional.gaussian_nll_loss(
        m.ones(2), m.zeros(2), m.ones(2), eps=v
    ),
    "gaussian_nll_loss var": lambda m, v: m.nn.functional.gaussian_nll_loss(
        m.ones(2), m.zeros(2), m.full((2,), v)
    ),
    "bernoulli": lambda m, v: m.bernoulli(m.full((2,), v)),
    "bernoulli_": lambda m, v: m.ones(2).bernoulli_(v),
    "exponential_": lambda m, v: m.ones(2).exponential_(v),
    "normal_": lambda m, v: m.ones(2).normal_(0, v),
    "normal": lambda m, v: m.normal(0.0, v, (2,)),
    "uniform_": lambda m, v: m.ones(2).uniform_(0, v),
    "multinomial": lambda m, v: m.multinomial(m.tensor([v, 1.0]), 1),
    "gumbel_softmax": lambda m, v: m.nn.functional.gumbel_softmax(m.ones(2, 3), tau=v),
    "rrelu": lambda m, v: m.nn.functional.rrelu(m.ones(3), 0.1, v, training=True),
    "hardtanh": lambda m, v: m.nn.functional.hardtanh(m.ones(3), 0.5, v),
    "Hardtanh": lambda m, v: m.nn.Hardtanh(0.5, v),
    "clip_grad_norm_": lambda m, v: m.nn.utils.clip_grad_norm_(parameters(m), v),
    "pairwise_distance": lambda m, v: m.nn.functional.pairwise_distance(
        m.ones(2, 3), m.zeros(2, 3), p=v
    ),
    "pdist": lambda m, v: m.nn.functional.pdist(m.ones(2, 3), v),
    "cdist": lambda m, v: m.cdist(m.ones(2, 3), m.ones(2, 3), v),
    "lp_pool1d": lambda m, v: m.nn.functional.lp_pool1d(m.ones(1, 2, 4), v, 2),
    "multi_margin_loss": lambda m, v: m.nn.functional.multi_margin_loss(
        m.ones(2, 3), m.tensor([0, 1]), p=v
    ),
    "TripletMarginLoss": lambda m, v: m.nn.TripletMarginLoss(margin=v),
    "LSTM dropout": lambda m, v: m.nn.LSTM(2, 2, 2, dropout=v),
    "MultiheadAttention dropout": lambda m, v: m.nn.MultiheadAttention(4, 2, dropout=v),
    "scaled_dot_product_attention": lambda m, v: m.nn.functional.scaled_dot_product_attention(
        *[m.ones(1, 2, 3)] * 3, dropout_p=v
    ),
    "batch_norm eps": lambda m, v: m.nn.functional.batch_norm(
        m.ones(2, 3), None, None, training=True, eps=v
    ),
    "group_norm eps": lambda m, v: m.nn.functional.group_norm(m.ones(2, 4), 2, eps=v),
    "sparse_": lambda m, v: m.nn.init.sparse_(m.ones(4, 4), v),
    "trunc_normal_": lambda m, v: m.nn.init.trunc_normal_(m.ones(2), 0.0, 1.0, -1.0, v),
    "Rprop etas 0": lambda m, v: m.optim.Rprop(parameters(m), etas=(v, 1.2)),
    "Rprop etas 1": lambda m, v: m.optim.Rprop(parameters(m), etas=(0.5, v)),
    "SGD nesterov": lambda m, v: m.optim.SGD(parameters(m), lr=0.1, momentum=v, nesterov=True),
}
for name in ("dropout", "alpha_dropout", "feature_alpha_dropout", "dropout1d", "dropout2d"):
    FUNCTIONS[name] = lambda m, v, name=name: getattr(m.nn.functional, name)(m.ones(2, 3, 4), p=v)
for name in ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Dropout1d", "Dropout2d",
             "Dropout3d"):  # fmt: skip
    FUNCTIONS[name] = lambda m, v, name=name: getattr(m.nn, name)(v)
OPTIONS = {
    "SGD": "lr momentum weight_decay dampening",
    "Adam": "lr eps weight_decay",
    "AdamW": "lr eps weight_decay",
    "Adamax": "lr eps weight_decay",
    "NAdam": "lr eps weight_decay momentum_decay",
    "RAdam": "lr eps weight_decay",
    "Adagrad": "lr lr_decay eps weight_decay initial_accumulator_value",
    "Adadelta": "lr rho eps weight_decay",
    "RMSprop": "lr alpha eps weight_decay momentum",
    "Rprop": "lr",
    "ASGD": "lr lambd alpha t0 weight_decay",
    "LBFGS": "lr tolerance_grad",
}
for name, options in OPTIONS.items():
    for option in options.split():
        FUNCTIONS[f"{name} {option}"] = lambda m, v, name=name, option=option: getattr(
            m.optim, name
        )(parameters(m), **{option: v})
for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam"):
    for i in range(2):
        FUNCTIONS[f"{name} beta {i}"] = lambda m, v, name=name, i=i: getattr(m.optim, name)(
            parameters(m), betas=(v, 0.9) if i == 0 else (0.9, v)
        )
SCHEDULES = [
    ("StepLR", {"step_size": 2}, "gamma"), ("ConstantLR", {}, "factor"),
    ("LinearLR", {}, "start_factor"), ("LinearLR", {}, "end_factor"),
    ("ReduceLROnPlateau", {}, "factor"), ("CosineAnnealingLR", {"T_max": 3}, "eta_min"),
    ("PolynomialLR", {}, "power"), ("OneCycleLR", {"max_lr": 0.1, "total_steps": 5}, "pct_start"),
    ("OneCycleLR", {"max_lr": 0.1}, "total_steps"), ("CosineAnnealingWarmRestarts", {}, "T_0"),
    ("CosineAnnealingWarmRestarts", {"T_0": 2}, "T_mult"), ("ExponentialLR", {}, "gamma"),
]  # fmt: skip
for name, more, option in SCHEDULES:
    FUNCTIONS[f"{name} {option}"] = lambda m, v, name=name, more=more, option=option: getattr(
        m.optim.lr_scheduler, name
    )(m.optim.SGD(parameters(m), lr=0.1, momentum=0.9), **more, **{option: v})
WHOLE = ("total_steps", "T_0", "T_mult")
# (function, value): why it is refused here.
REFUSED_HERE = {
    ("cross_entropy label_smoothing", "-0.5"): "probabilities would be negative",
    ("cross_entropy label_smoothing", "nan"): "probabilities would be none",
}


def parameters(m):
    return [m.nn.Parameter(m.ones(2))]


def outcome(function, m, value):
    try:
        function(m, value)
    except Exception as error:
        return type(error).__name__
    return "taken"


def test_bounds_are_taken_and_refused_as_in_torch():
    wrong = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in FUNCTIONS.items():
            for value in (*VALUES, *((-1, 0, 1, 2) if name.endswith(WHOLE) else ())):
                found, expected = (outcome(function, m, value) for m in (ag, torch))
                if (name, repr(value)) in REFUSED_HERE:
                    assert found in ("ValueError", "RuntimeError")
                    assert expected == "taken", name
                elif found != expected:
                    wrong[name, value] = found, expected
    assert not wrong
