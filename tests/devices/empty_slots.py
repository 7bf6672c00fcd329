"""
For each slot, in a process of its own: a device without it, and what the operator's sample does.

    python empty_slots.py LIBRARY [SLOT ...]     # of hostdevice; prints one JSON object

Each value is ["same", ""] where composites of other kernels give the CPU's values, ["error", type
and text], ["wrong", what differs], or ["unreached", ""]. `elementwise NAME` is a kernel of those.
"""

import json
import os
import sys
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).parent)]

import built_devices  # noqa: E402
import numpy as np  # noqa: E402
from helpers import RECORDS, cases, make, one_dtype, outputs  # noqa: E402

import autograd_cy as ag  # noqa: E402
from autograd_cy._C import devices  # noqa: E402
from autograd_cy.ops import _schema as schema  # noqa: E402

BY_KEY = {r.key: r for r in RECORDS}


def slots():
    """{slot: (what `without` takes, record)} of all slots."""
    found = {}
    for key in devices.signatures():
        found[key] = (key, BY_KEY.get(key.removesuffix(".sizes")))
    for r in RECORDS:
        if isinstance(r.kernel, schema.elementwise) and r.tests.samples:
            found.setdefault(f"elementwise {r.kernel.name}", (r.kernel.name, r))
    return found


def sample_of(record):
    """A program: the first sample of a record, and its gradients."""
    case = cases(lambda r: r is record)[0].values[0]
    call = make(case, one_dtype(record))

    def run(place):
        ins = [t if t is None else t.to(place) for t in call.tensors()]
        wanted = [ins[i].requires_grad_() for i in call.moving]
        results = [t for t in outputs(call(ins)) if isinstance(t, ag.Tensor)]
        smooth = [t for t in results if t.requires_grad]
        if wanted and smooth:
            ones = [ag.ones_like(t) for t in smooth]
            results += ag.autograd.grad(smooth, wanted, ones, allow_unused=True)
        return [t for t in results if t is not None]

    return run


def stepping(name):
    """A program: two steps of an optimizer with a scaler and clipping, which look at gradients."""

    def run(place):
        p = ag.arange(1.0, 5.0).to(place).requires_grad_()
        method = getattr(ag.optim, name)([p], lr=0.01)
        scaler = ag.amp.GradScaler(ag.device(place).type, init_scale=4.0)
        for _ in range(2):
            p.grad = None
            scaler.scale((p * p).sum()).backward()
            scaler.unscale_(method)
            ag.nn.utils.clip_grad_norm_([p], 1.0)
            scaler.step(method)
            scaler.update()
        return [p]

    return run


def layer(make, *shape, dtype=ag.float32):
    """A program: a module, or a function, of random numbers, and gradients of both."""

    def run(place):
        module = make()
        if isinstance(module, ag.nn.Module):
            module = module.to(place)
        x = ag.rand(*shape, dtype=dtype).to(place).requires_grad_()
        y = module(x)
        y = y[0] if isinstance(y, tuple) else y
        if y.requires_grad:
            y.sum().backward()
        return [y] if x.grad is None else [y, x.grad]

    return run


nn, F = ag.nn, ag.nn.functional
METHODS = "SGD Adam AdamW Adagrad Adadelta Adamax RMSprop Rprop ASGD NAdam RAdam".split()
DRAWS = {
    "uniform": lambda x: x.detach().clone().uniform_(1, 2),
    "normal": lambda x: x.detach().clone().normal_(0, 2),
    "exponential": lambda x: x.detach().clone().exponential_(),
    "random": lambda x: x.detach().clone().random_(0, 9),
    "bernoulli": lambda x: x.detach().clone().bernoulli_(0.5),
    "bernoulli of": lambda x: ag.bernoulli(x.detach()),
    "bernoulli each": lambda x: x.detach().clone().bernoulli_(x.detach()),
    "bernoulli like": lambda x: ag.bernoulli(x.detach(), 0.5),
    "randperm": lambda x: ag.randperm(9, device=x.device),
    "normal mean": lambda x: ag.normal(x.detach(), 1.0),
    "normal std": lambda x: ag.normal(0.0, x.detach()),
    "normal both": lambda x: ag.normal(x.detach(), x.detach()),
    "rrelu": lambda x: F.rrelu(x - 0.5, training=True),
    "dropout": F.dropout,
    "dropout2d": lambda x: F.dropout2d(x[..., None, None]),
    "multinomial": lambda x: ag.multinomial(x.detach(), 2),
}


def shrunk(x):
    return F.interpolate(x, size=(3, 3), mode="bilinear", antialias=True)


# Programs beyond the samples, for slots that none of these reach.
MORE = {
    **{name: stepping(name) for name in METHODS},
    **{name: layer(lambda f=f: f, 4, 6) for name, f in DRAWS.items()},
    "lstm": layer(lambda: nn.LSTM(6, 5), 4, 2, 6),
    "attention": layer(lambda: lambda x: F.scaled_dot_product_attention(x, x, x), 2, 3, 4),
    "layer norm": layer(lambda: nn.LayerNorm(6), 4, 6),
    "group norm": layer(lambda: nn.GroupNorm(2, 6), 4, 6),
    "rms norm": layer(lambda: nn.RMSNorm(6), 4, 6),
    "batch norm": layer(lambda: nn.BatchNorm1d(6), 4, 6),
    "batch norm fixed": layer(lambda: nn.BatchNorm1d(6).eval(), 4, 6),
    "embedding": layer(lambda: lambda x: nn.Embedding(5, 3).to(x.device)((x * 4).long()), 4),
    "bag": layer(lambda: lambda x: nn.EmbeddingBag(5, 3).to(x.device)((x * 4).long()), 4, 2),
    "unfold": layer(lambda: nn.Unfold(2), 1, 2, 4, 4),
    "fold": layer(lambda: nn.Fold((4, 4), 2), 1, 8, 9),
    "pad": layer(lambda: nn.ReflectionPad1d(1), 2, 3, 4),
    "max pool": layer(lambda: nn.MaxPool2d(2), 1, 2, 4, 4),
    "average pool": layer(lambda: nn.AvgPool2d(2), 1, 2, 4, 4),
    "adaptive pool": layer(lambda: nn.AdaptiveAvgPool2d(2), 1, 2, 5, 5),
    "resample": layer(lambda: nn.Upsample(scale_factor=2, mode="bilinear"), 1, 2, 3, 3),
    "grid": layer(lambda: lambda x: F.grid_sample(x, x[:, :2].permute(0, 2, 3, 1)), 1, 2, 3, 3),
    "logcumsumexp": layer(lambda: lambda x: ag.logcumsumexp(x, 0), 5),
    "unique": layer(lambda: lambda x: (x.detach() * 3).long().unique().float(), 9),
    "unique rows": layer(lambda: lambda x: (x.detach() * 2).long().unique(dim=0).float(), 9, 2),
    "runs": layer(lambda: lambda x: ag.unique_consecutive((x.detach() * 3).long()).float(), 9),
    "counts": layer(lambda: lambda x: ag.bincount((x.detach() * 3).long()).float(), 9),
    "repeats": layer(lambda: lambda x: x.repeat_interleave((x.detach() * 3).long()), 9),
    "alpha dropout": layer(lambda: lambda x: F.alpha_dropout(x, 0.5, True), 4, 6),
    "feature alpha dropout": layer(lambda: lambda x: F.feature_alpha_dropout(x, 0.5, True), 4, 6),
    "filter": layer(lambda: shrunk, 1, 2, 6, 6),
    "filter bytes": layer(lambda: lambda x: shrunk((x.detach() * 99).byte()).float(), 1, 2, 6, 6),
    "logcumsumexp forward": layer(
        lambda: lambda x: ag.func.jvp(lambda t: t.logcumsumexp(0), (x.detach(),), (x.detach(),)), 5
    ),
    "index": layer(lambda: lambda x: x[ag.tensor([1, 0]).to(x.device)], 3, 2),
}


def programs():
    """{name: program}."""
    found = {r.key: sample_of(r) for r in RECORDS if r.tests.samples and tensors_of(r)}
    return {**found, **MORE}


def tensors_of(record):
    return any(a.is_tensor for a in record.args)


def outcome(program, place):
    ag.manual_seed(4)
    return [t.detach().cpu().resolve_conj().resolve_neg().numpy() for t in program(place)]


def reached(module):
    """{slot: names of programs that call its kernel}, found on a device that has all."""
    module.register("late")
    found = {}
    for name, program in programs().items():
        module.forget()
        try:
            outcome(program, "late")
        except Exception:
            continue  # it can't run on any device; other tests say why
        for key in module.state()["calls"]:
            found.setdefault(key, []).append(name)
    return found


def verdict(module, without, names):
    """Find what the first of these programs does on a device without a slot."""
    module.register("late", without=(without,))
    if not names:
        return "unreached", ""
    program = programs()[names[0]]
    try:
        got = outcome(program, "late")
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    expected = outcome(program, "cpu")
    if len(got) == len(expected) and all(map(close, got, expected)):
        return "same", ""
    return "wrong", f"{names[0]}: {got} for {expected}"


def close(a, b):
    """Composites round otherwise than the kernel that they stand for."""
    return a.shape == b.shape and np.allclose(a, b, 1e-4, 1e-5, equal_nan=True)


def apart(work, *given):
    """Call a function in a child of this process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = work(*given)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        with os.fdopen(writer, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        text = answer.read()
    status = os.waitpid(child, 0)[1]
    assert text, f"{work.__name__}{given[1:]}: the process ended with status {status}"
    return json.loads(text)


if __name__ == "__main__":
    module = built_devices.load(sys.argv[1])
    users = apart(reached, module)
    found = {}
    for slot, (without, record) in slots().items():
        if sys.argv[2:] and slot not in sys.argv[2:]:
            continue
        names = users.get(without, [])
        own = [name for name in names if record is not None and name == record.key]
        found[slot] = apart(verdict, module, without, own or names)
    print(json.dumps(found))
