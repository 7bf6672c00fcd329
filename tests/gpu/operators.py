"""The operator table on a device beside the CPU: every form of a call, and how results compare.

A form takes a call of tests/ops/calls.py and a function that places a tensor, and returns what it
gives as a list. `agree` runs all that a call has on the CPU and on the device, counts each by its
way, by kernels of the device alone or also by the host, and says what differs.
"""

import collections
import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "ops"))

import numpy as np
from calls import EVALUATOR, claimed, make, outputs, to_array
from test_op_inplace_and_out import inplace_form

import autograd_cy as ag
from autograd_cy._C import cuda_mirrors
from autograd_cy._C.streams import _stream_on
from autograd_cy.autograd import forward_ad
from autograd_cy.ops import _schema as schema
from ext.codegen.kernel_specs import SPECS

SEED = 11
# Elementwise kernels whose loops on the CPU are nothing but the formula that GPUs share: the others
# compute whole vectors, by instructions that only some processors have.
PLAIN = {spec.name for spec in SPECS if not (spec.is_staged or spec.wide or spec.far)}
# (form, way) -> how many cases; ("host", key) -> of how many the host computed that operator.
COUNTS = collections.Counter()


class Place:
    """The device on which the tensors of a call are."""

    def __init__(self, device):
        self.device = device

    def __call__(self, t):
        """A tensor of the same dtype, shape and strides there."""
        return t if t is None or self.device == "cpu" else t.to(self.device)

    def finish(self):
        if self.device != "cpu":
            _stream_on(self.device).synchronize()

    def factories(self, call):
        """Make the tensors that come from numbers alone on that device, too."""
        without = self.device == "cpu" or call.leaves
        return contextlib.nullcontext() if without else ag.device(self.device)


HERE = Place("cpu")


# --- forms ------------------------------------------------------------------------------------


def value(call, ins, place):
    with place.factories(call):
        return [*outputs(call(ins)), *ins]  # arguments stay as they are


def moved(call, ins):
    """The inputs with a derivative, and the results that have one."""
    wanted = [ins[i].requires_grad_() for i in call.moving]
    return wanted, [t for t in outputs(call(ins)) if isinstance(t, ag.Tensor) and t.requires_grad]


def weights(results):
    """Return factors for the results: no two elements count the same."""
    found = []
    for t in results:
        line = ag.linspace(0.5, 1.5, max(t.numel(), 1), dtype=ag.float64)[: t.numel()]
        found.append(line.reshape(t.shape).to(t.dtype).to(t.device))
    return found


def gradient(call, ins, place):
    wanted, results = moved(call, ins)
    if not results:
        return []
    return list(ag.autograd.grad(results, wanted, weights(results), allow_unused=True))


def second(call, ins, place):
    wanted, results = moved(call, ins)
    if not results:
        return []
    found = ag.autograd.grad(
        results, wanted, weights(results), allow_unused=True, create_graph=True
    )
    found = [t for t in found if t is not None and t.requires_grad]
    if not found:
        return []
    return list(ag.autograd.grad(found, wanted, weights(found), allow_unused=True))


def tangent(call, ins, place):
    with forward_ad.dual_level():
        for i, t in zip(call.moving, weights([ins[i] for i in call.moving])):
            ins[i] = forward_ad.make_dual(ins[i], t)
        results = [t for t in outputs(call(ins)) if isinstance(t, ag.Tensor)]
        return [forward_ad.unpack_dual(t).tangent for t in results]


def in_place(call, ins, place):
    call(ins, inplace_form(call.record))
    return ins


def out_form(call, ins, place):
    """Into memory that has gaps, and into fresh memory."""
    form = EVALUATOR.form(call.record)
    args, kwargs = call.arguments(ins)
    with place.factories(call):
        made = outputs(form(*args, **kwargs))
        gaps = [ag.full((*t.shape, 2), 1, dtype=t.dtype, device=t.device)[..., 0] for t in made]
        given = []
        for outs in (gaps, [ag.empty(0, dtype=t.dtype, device=t.device) for t in made]):
            given += outs
            ag.manual_seed(SEED)
            form(*args, **kwargs, out=outs[0] if len(outs) == 1 else tuple(outs))
    return given


def batched(call, ins, place):
    """Two examples of the first tensor that has a derivative."""
    first = call.moving[0]

    def function(x):
        return tuple(
            t
            for t in outputs(call([*ins[:first], x, *ins[first + 1 :]]))
            if isinstance(t, ag.Tensor)
        )

    one = call.tensors()[first]
    return list(ag.func.vmap(function)(place(ag.stack([one, one + one]))))


FORMS = {
    "values": value,
    "gradients": gradient,
    "second derivatives": second,
    "tangents": tangent,
    "in place": in_place,
    "out=": out_form,
    "vmap": batched,
}


def forms_of(call):
    """The forms that a call has: those of derivatives ask for an argument that has one."""
    found = ["values"]
    if call.moving:
        found += ["gradients", "second derivatives", "tangents", "vmap"]
    if call.record.call.inplace:
        found.append("in place")
    if call.record.call.out:
        found.append("out=")
    return found


# --- comparing --------------------------------------------------------------------------------

EPSILON = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52}
REAL = {"complex64": "float32", "complex128": "float64"}
# How many roundings of the largest element an element may be off.
ROUNDINGS = {
    "values": 16,
    "in place": 16,
    "out=": 16,
    "gradients": 64,
    "second derivatives": 256,
    "tangents": 64,
    "vmap": 16,
}


def outcome(form, call, place):
    """("result", what a form gives) or ("error", its type and text)."""
    ag.manual_seed(SEED)
    ins = [place(t) for t in call.tensors()]
    try:
        made = form(call, ins, place)
        place.finish()  # faults of values are raised there
        return "result", made
    except Exception as error:
        return "error", (type(error), str(error).replace(f"{place.device}:0", "cpu"))


def difference(name, expected, got, exact, strides, device, scale):
    """Describe the difference between two results, or return None."""
    if expected is None or got is None:
        return None if got is expected else f"{got} where the CPU has {expected}"
    if not isinstance(expected, ag.Tensor):
        return None if got == expected else f"{got} where the CPU has {expected}"
    if got.device.type != device:
        return f"a result on {got.device}"
    if (got.dtype, got.shape) != (expected.dtype, expected.shape):
        return (
            f"{got.dtype} {tuple(got.shape)} where the CPU has {expected.dtype} "
            f"{tuple(expected.shape)}"
        )
    if strides and got.numel() > 1 and got.stride() != expected.stride():
        return f"strides {got.stride()} where the CPU has {expected.stride()}"
    x, y = to_array(expected), to_array(got.cpu())
    if x.tobytes() == y.tobytes():
        return None
    dtype = str(expected.dtype).rpartition(".")[2]
    dtype = REAL.get(dtype, dtype)
    if exact or dtype not in EPSILON:
        return f"other bits: {y} where the CPU has {x}"
    x, y = (t.astype(np.complex128 if np.iscomplexobj(t) else np.float64) for t in (x, y))
    with np.errstate(all="ignore"):
        finite = np.abs(x[np.isfinite(x)])
        room = ROUNDINGS[name] * EPSILON[dtype] * max(scale, finite.max() if finite.size else 0.0)
        if dtype in ("float16", "bfloat16"):
            room /= 4
        if np.allclose(y, x, rtol=0, atol=room, equal_nan=True):
            return None
    return f"other values: {y} where the CPU has {x}"


def compare(name, expected, got, device, exact=False, strides=True, scale=1.0):
    """Describe the difference between two outcomes, or return None; results are of the size of
    `scale` at least."""
    if expected[0] != got[0]:
        return f"{got[0]} {got[1]} where the CPU has {expected[0]} {expected[1]}"
    if expected[0] == "error":
        return None if got[1] == expected[1] else f"{got[1]} where the CPU has {expected[1]}"
    if len(expected[1]) != len(got[1]):
        return f"{len(got[1])} results where the CPU has {len(expected[1])}"
    for x, y in zip(expected[1], got[1]):
        told = difference(name, x, y, exact, strides, device, scale)
        if told:
            return told
    return None


@contextlib.contextmanager
def by_way(form):
    """Count a case by the way that it takes."""
    before = cuda_mirrors.host_calls()
    yield
    after = cuda_mirrors.host_calls()
    used = [key for key, n in after.items() if n != before.get(key, 0)]
    COUNTS[form, "host" if used else "device"] += 1
    for key in used:
        COUNTS["host", key] += 1


# Forms whose results lie as those of the CPU; gradients may be made of other operators.
LAID = ("values", "in place", "out=")


def differing(case, name, device="cuda", forms=tuple(FORMS), counted=True):
    """Every form of a case in one dtype: {form: what differs}."""
    call, there, found = make(case, name), Place(device), {}
    kernel = call.record.kernel
    formula = isinstance(kernel, schema.elementwise) and kernel.name in PLAIN
    for form in [form for form in forms_of(call) if form in forms]:
        expected = outcome(FORMS[form], call, HERE)
        with by_way(form) if counted else contextlib.nullcontext():
            got = outcome(FORMS[form], call, there)
        laid = form in LAID
        told = compare(form, expected, got, device, exact=formula and laid, strides=laid)
        if told:
            found[form] = told
    return found


def agree(case, *names, **options):
    """Nothing differs in these dtypes, or in all that the record claims; see `differing`."""
    wrong = [
        f"{form} in {name}: {told}"
        for name in names or claimed(case.record)
        for form, told in differing(case, name, **options).items()
    ]
    assert not wrong, "\n".join([case.id, *wrong])
