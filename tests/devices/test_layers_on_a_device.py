"""Every module of torch.nn on the asynchronous device: the CPU's bits, and no reads by the host."""

import copy
import sys
from pathlib import Path

import pytest
from proof import NAME, bits, no_reads

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "nn"))

import numpy as np
from module_samples import L1, L2, L3, MODULES, T, X
from test_lazy_modules import LAYERS as LAZY

import autograd_cy as ag
from autograd_cy import nn

MORE = {
    "Dropout": ((0.5,), [(X,)]),
    **{f"Dropout{d}d": ((0.5,), [(x,)]) for d, x in ((1, L1), (2, L2), (3, L3))},
    "AlphaDropout": ((0.5,), [(X,)]),
    "FeatureAlphaDropout": ((0.5,), [(L2,)]),
    "RReLU": ((), [(X,)]),
    "AdaptiveLogSoftmaxWithLoss": ((6, 12, [3, 7]), [(X, T(4, high=12))]),
    "Transformer": ((6, 2, 1, 1, 5), [(T(4, 3, 6), T(2, 3, 6))]),
    "TransformerEncoder": ((lambda: nn.TransformerEncoderLayer(6, 2, 5), 2), [(T(4, 3, 6),)]),
    "TransformerDecoder": (
        (lambda: nn.TransformerDecoderLayer(6, 2, 5), 2),
        [(T(4, 3, 6), T(2, 3, 6))],
    ),
    "FractionalMaxPool2d": ((2, 3), [(L2,)]),
    "FractionalMaxPool3d": ((2, 3), [(L3,)]),
    "TripletMarginWithDistanceLoss": ((), [(X, T(4, 6), T(4, 6))]),
    "CTCLoss": (
        (),
        [
            (T(6, 2, 5), T(2, 3, low=None, high=4), T(2, high=6), T(2, high=3)),
        ],
    ),
    "MaxUnpool1d": ((2,), [(T(2, 3, 4), T(2, 3, 4, high=8))]),
    "MaxUnpool2d": ((2,), [(T(2, 3, 3, 3), T(2, 3, 3, 3, high=36))]),
    "MaxUnpool3d": ((2,), [(T(2, 3, 2, 2, 2), T(2, 3, 2, 2, 2, high=64))]),
    "MultiLabelMarginLoss": ((), [(T(2, 3), T(2, 3, high=3))]),
    "MultiMarginLoss": ((), [(X, T(4, high=6))]),
}
MORE["GLU"] = ((), [(X,)])
ALL = {n: v for n, v in (MODULES | MORE).items() if hasattr(nn, n)}
CASES = [
    pytest.param(name, given, args, id=f"{name}-{i}")
    for name, (given, calls) in sorted(ALL.items())
    for i, args in enumerate(calls)
]
# Modules whose steps read on the host, and why.
READS = {"AdaptiveLogSoftmaxWithLoss": "nonzero() finds the rows of each cluster, as in torch"}
# What holds others, or is a class of others.
APART = {
    "Container", "DataParallel", "Module", "ModuleDict", "ModuleList", "ParameterDict",
    "ParameterList", "RNNBase", "RNNCellBase", "Sequential", "SyncBatchNorm",
}  # fmt: skip


def given(x, rng):
    """The arguments of a call, of float32 and int64."""
    if isinstance(x, tuple):
        return tuple(given(part, rng) for part in x)
    array = x.array(rng)
    return ag.tensor(array if array.dtype.kind == "i" else array.astype("float32"))


def moved(x, place):
    return tuple(moved(p, place) for p in x) if isinstance(x, tuple) else x.clone().to(place)


def floats(x):
    """The tensors among results that have gradients."""
    if isinstance(x, ag.Tensor):
        return [x] if x.requires_grad else []
    return [t for part in x or () for t in floats(part)]


class Training:
    """A module with its optimizer, at one place."""

    def __init__(self, module, args, place):
        self.module = copy.deepcopy(module).to(place)
        self.args = moved(args, place)
        self.leaves = [t.requires_grad_() for t in every(self.args) if t.is_floating_point()]
        for i, t in enumerate(self.leaves[1:]):
            t.requires_grad_(i >= 0 and not type(module).__name__.endswith("Loss"))
        held = [*self.module.parameters(), *self.leaves]
        self.optimizer = ag.optim.AdamW(held, lr=0.01)
        self.place = place

    def step(self):
        self.optimizer.zero_grad()
        results = floats(self.module(*self.args))
        if not results:
            return
        loss = sum((t.square().sum() for t in results[1:]), results[0].square().sum())
        loss.backward()
        nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
        nn.utils.clip_grad_value_(self.module.parameters(), 0.5)
        self.optimizer.step()

    def outcome(self):
        return [bits(t) for t in [*self.module.state_dict().values(), *self.leaves]]


def every(x):
    return [t for part in x for t in every(part)] if isinstance(x, tuple) else [x]


def module_of(name, given):
    ag.manual_seed(4)
    return getattr(nn, name)(*(x() if callable(x) else x for x in given))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "options", "args"), CASES)
def test_a_step_has_the_bits_of_the_cpu_and_reads_nothing(late, name, options, args):
    args = given(args, np.random.default_rng(3))
    module = module_of(name, options)
    runs = [Training(module, args, place) for place in ("cpu", f"{NAME}:0")]
    ag.manual_seed(6)
    for _ in range(2):
        runs[0].step()
    ag.manual_seed(6)
    if name in READS:
        before = late.state()["reads"]
        runs[1].step(), runs[1].step()
        assert late.state()["reads"] > before, "take it out of the table"
    else:
        with no_reads(late):
            runs[1].step(), runs[1].step()
    assert runs[0].outcome() == runs[1].outcome()


def test_no_module_is_left_out():
    known = {
        n for n in nn.__all__
        if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)
    }  # fmt: skip
    lazy = {n for n in known if issubclass(getattr(nn, n), nn.modules.lazy.LazyModuleMixin)}
    assert lazy == set(LAZY)
    assert known - set(ALL) - APART - lazy == set()


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature")
@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_module_becomes_another_where_it_is(late, name):
    lazy, plain, shape = LAZY[name]
    module, other, x = lazy(nn).to(NAME), plain(nn), ag.randn(shape)
    module(x.to(NAME))
    assert type(module) is type(other)
    held = module.state_dict()
    assert held and all(str(t.device) == f"{NAME}:0" for t in held.values())
    other.load_state_dict(held)
    for got in (module.eval(), other.eval()):
        got.zero_grad()
    results = module(x.to(NAME)), other(x)
    for result in results:
        result.square().sum().backward()
    assert bits(results[0]) == bits(results[1])
    for mine, wanted in zip(module.parameters(), other.parameters(), strict=True):
        assert bits(mine.grad) == bits(wanted.grad)


# --- what is no layer by itself -----------------------------------------------------------------


def shared(name, *shape, **options):
    ag.manual_seed(8)
    return getattr(nn, name)(*shape, **options)


def on(place, *shape, high=None):
    rng = np.random.default_rng(len(shape))
    return given(T(*shape, high=high), rng).to(place)


def packed(place, kind):
    """Sequences whose lengths are on the CPU, as they must be."""
    net = shared(kind, 5, 3, bidirectional=True).to(place)
    x = on(place, 7, 3, 5).requires_grad_()
    rows = nn.utils.rnn.pack_padded_sequence(x, ag.tensor([4, 7, 2]), enforce_sorted=False)
    out, lengths = nn.utils.rnn.pad_packed_sequence(net(rows)[0])
    out.square().sum().backward()
    return out, x.grad, lengths


def attended(place, **options):
    net = shared("MultiheadAttention", 6, 2).to(place)
    x = on(place, 4, 3, 6).requires_grad_()
    out, weights = net(x, x, x, **options)
    out.square().sum().backward()
    return out, weights, x.grad


def masked_transformer(place):
    net = shared("Transformer", 6, 2, 1, 1, 5, 0.0).to(place)
    x, y = on(place, 4, 3, 6).requires_grad_(), on(place, 2, 3, 6)
    causal = nn.Transformer.generate_square_subsequent_mask(2, device=place)
    padding = ag.zeros(3, 4, dtype=ag.bool, device=place)
    out = net(x, y, tgt_mask=causal, tgt_is_causal=True, src_key_padding_mask=padding)
    out.square().sum().backward()
    return out, x.grad


def averaged(place):
    net = shared("Linear", 4, 3).to(place)
    mean = ag.optim.swa_utils.AveragedModel(net)
    moving = ag.optim.swa_utils.get_ema_multi_avg_fn(0.9)
    ema = ag.optim.swa_utils.AveragedModel(net, multi_avg_fn=moving)
    for _ in range(3):
        with ag.no_grad():
            for p in net.parameters():
                p.add_(1.0)
        mean.update_parameters(net)
        ema.update_parameters(net)
    return *mean.parameters(), *ema.parameters(), mean.n_averaged


def cast(place):
    net = shared("Linear", 4, 3).to(place)
    with ag.autocast(ag.device(place).type, dtype=ag.bfloat16):
        loss = net(on(place, 2, 4)).softmax(1).square().sum()
    loss.backward()
    return loss, *(p.grad for p in net.parameters())


def normed_rows(place):
    table = on(place, 6, 3).requires_grad_()
    out = nn.functional.embedding(on(place, 2, 4, high=6), table, max_norm=0.5)
    out.sum().backward()
    return out, table, table.grad


def losses_of_paths(place, joined):
    x = on(place, 6, 2, 5).log_softmax(2).requires_grad_()
    targets = ag.tensor([1, 2, 3, 2, 1] if joined else [[1, 2, 3], [2, 1, 0]]).to(place)
    lengths = ag.tensor([6, 5]).to(place), ag.tensor([3, 2]).to(place)
    loss = nn.functional.ctc_loss(x, targets, *lengths)
    loss.backward()
    return loss, x.grad


def initialised(place):
    t = ag.empty(4, 4, device=place)
    ways = ("uniform_", "normal_", "zeros_", "ones_", "eye_", "xavier_uniform_", "xavier_normal_")
    ways += ("kaiming_uniform_", "kaiming_normal_", "trunc_normal_")
    return [getattr(nn.init, way)(t).clone() for way in ways]


def filled(place):
    t = on(place, 5)
    t.fill_(t[2])
    t[1:].fill_(t[0] * 2)
    return t


def clipped(place):
    net = shared("Linear", 4, 3).to(place)
    net(on(place, 2, 4)).square().sum().backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 0.1)
    nn.utils.clip_grad_value_(net.parameters(), 0.01)
    return norm, nn.utils.get_total_norm([p.grad for p in net.parameters()])


def scheduled(place):
    net = shared("Linear", 4, 3).to(place)
    optimizer = ag.optim.SGD(net.parameters(), lr=ag.tensor(0.1).to(place), momentum=0.9)
    schedules = ag.optim.lr_scheduler
    schedule = schedules.SequentialLR(
        optimizer,
        [schedules.LinearLR(optimizer), schedules.CosineAnnealingLR(optimizer, 5)],
        milestones=[2],
    )
    for _ in range(8):
        net(on(place, 2, 4)).square().sum().backward()
        optimizer.step()
        schedule.step()
    return list(net.parameters())


def chosen(place):
    x, mask = on(place, 5), on(place, 5) > 0
    return x.masked_scatter(mask, on(place, 6)), x.masked_fill(mask, 2.0), ag.combinations(x)


STEPS = {
    **{f"packed {kind}": lambda place, kind=kind: packed(place, kind) for kind in ("GRU", "LSTM")},
    "attention": lambda place: attended(place),
    "attention with masks": lambda place: attended(
        place,
        key_padding_mask=ag.zeros(3, 4, dtype=ag.bool, device=place),
        attn_mask=ag.ones(4, 4, dtype=ag.bool, device=place).triu(1),
    ),
    "transformer with masks": masked_transformer,
    "averages of parameters": averaged,
    "autocast": cast,
    "embedding with norms": normed_rows,
    "ctc_loss": lambda place: losses_of_paths(place, False),
    "ctc_loss of joined targets": lambda place: losses_of_paths(place, True),
    "init": initialised,
    "fill by an element": filled,
    "clipping": clipped,
    "schedules": scheduled,
    "masks": chosen,
}
# How often steps read on the host, and why. A copy that is waited for counts twice.
STEPS_READ = {
    "ctc_loss of joined targets": (4, "lengths alone say which targets are whose"),
    "init": (2, "trunc_normal_ has the inverse of erf from SciPy"),
    "schedules": (4, "a rate in a tensor is read before the first step, and known from then on"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STEPS)
def test_what_belongs_to_a_training_reads_nothing(late, name):
    outcomes = []
    for place in ("cpu", f"{NAME}:0"):
        ag.manual_seed(7)
        before = late.state()["reads"]
        results = STEPS[name](place)
        reads = late.state()["reads"] - before
        outcomes.append([bits(t) for t in results])
    assert outcomes[0] == outcomes[1]
    assert reads == STEPS_READ.get(name, (0,))[0], late.state()["calls"]
