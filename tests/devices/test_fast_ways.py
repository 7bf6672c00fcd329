"""Kept on other devices: fast ways of the engine, own kernels, constants made there."""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import built_devices
import pytest
from proof import NAME, bits, no_reads

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.autograd import forward_ad
from autograd_cy.nn.utils import rnn
from autograd_cy.utils.checkpoint import checkpoint

PLACES = (NAME, "meta")


def there(t, index=0):
    return t.to(f"{NAME}:{index}")


@contextlib.contextmanager
def calls(device):
    """Calls of the device meanwhile, by name."""
    before = device.state()["calls"]
    found = {}
    yield found
    for name, n in device.state()["calls"].items():
        if n != before.get(name, 0):
            found[name] = n - before.get(name, 0)


# --- gradients ----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_the_gradient_of_a_leaf_stays_where_it_is(late, place):
    x = ag.ones(3, 2, device=place).requires_grad_()
    (x * 2).sum().backward()
    grad, address, version = x.grad, x.grad.data_ptr(), x.grad._version
    for _ in range(2):
        (x * 2).sum().backward()
        x.grad.t()  # a view sees what comes
    assert x.grad is grad and grad.data_ptr() == address and grad._version == version + 2
    if place != "meta":
        assert grad.tolist() == [[6.0, 6.0]] * 3


def test_gradients_that_meet_are_added_in_place(late):
    """With one allocation for each product, and none for the sums."""
    a = there(ag.rand(4)).requires_grad_()
    loss = sum((a * float(k) for k in range(1, 5)), there(ag.zeros(4))).sum()
    blocks = late.state()["calls"].get("allocate", 0)
    with calls(late) as made:
        loss.backward()
    assert a.grad.tolist() == [10.0] * 4
    assert made["add"] == 3 and made["mul"] == 4 and "copy" not in made
    assert late.state()["calls"].get("allocate", 0) == blocks


def test_the_gradient_of_a_base_is_laid_out_in_place(late):
    """A change of a view, without a copy recorded by operators."""
    results = []
    for place in ("cpu", NAME):
        x = ag.arange(6.0).reshape(2, 3).to(place).requires_grad_()
        y = x * 1
        y[0].mul_(3)
        y.square().sum().backward()
        results.append(bits(x.grad))
    assert results[0] == results[1]


def test_broadcast_gradients_are_summed_by_the_kernel_of_the_device(late):
    b = there(ag.ones(3)).requires_grad_()
    with calls(late) as made:
        (there(ag.ones(2, 3)) * b).sum().backward()
    assert b.grad.tolist() == [2.0] * 3 and made["sum_dim"] >= 1


def test_a_gradient_from_another_device_is_refused(late):
    x = there(ag.ones(2)).requires_grad_()
    for gradient in (ag.ones(2), there(ag.ones(2), 1)):
        with pytest.raises(RuntimeError, match="device"):
            (x * 2).backward(gradient)
    assert x.grad is None
    (x * 2).backward(there(ag.ones(2)))
    assert x.grad.tolist() == [2.0, 2.0]


# --- kernels ------------------------------------------------------------------------------------


def lstm(place):
    ag.manual_seed(3)
    layer = nn.LSTM(3, 4, 2).to(place)
    x = ag.rand(5, 2, 3).to(place).requires_grad_()
    return layer, x


def test_recurrent_layers_use_their_kernel(late):
    found = []
    for place in ("cpu", NAME):
        layer, x = lstm(place)
        with calls(late) as made:
            layer(x)[0].sum().backward()
        found.append(bits(x.grad))
    assert made["_recurrent"] == 2 and made["_recurrent_backward"] == 2
    assert found[0] == found[1]


def test_packed_sequences_use_it_too(late):
    found = []
    for place in ("cpu", NAME):
        layer, _ = lstm(place)
        ag.manual_seed(4)
        packed = rnn.pack_padded_sequence(ag.rand(5, 2, 3).to(place), [3, 5], enforce_sorted=False)
        with calls(late) as made, no_reads(late):
            padded, lengths = rnn.pad_packed_sequence(layer(packed)[0])
        found.append((bits(padded), lengths.tolist()))
        assert lengths.is_cpu
    assert made["_recurrent"] == 2
    assert found[0] == found[1]


def attention(place, **options):
    ag.manual_seed(5)
    q, k, v = (ag.rand(2, 3, 4, 4).to(place).requires_grad_() for _ in range(3))
    y = nn.functional.scaled_dot_product_attention(q, k, v, **options)
    y.sum().backward()
    return y, q.grad, k.grad, v.grad


@pytest.mark.parametrize("causal", [False, True])
def test_attention_uses_its_kernel(late, causal):
    with calls(late) as made:
        got = attention(NAME, is_causal=causal)
    assert made["_attention"] == made["_attention_gradients"] == 1 and "softmax" not in made
    assert [bits(t) for t in got] == [bits(t) for t in attention("cpu", is_causal=causal)]


FUSED = (
    "_attention",
    "_attention_gradients",
    "_recurrent",
    "_recurrent_backward",
    "_cumprod",
    "_sum_of_squares",
    "_fused_layer_norm_backward",
    "_fused_rms_norm",
)


def without_kernels(late):
    """Results are those of operators where the same can be made of others."""
    late.register("without", without=(*FUSED, "arange"))
    of_operators(late, "without")


def by_host(late):
    """A kernel that copies to the host and back counts as none."""
    late.register("slow", by_host=FUSED)
    of_operators(late, "slow")


def of_operators(late, place):
    try:
        with calls(late) as made:
            got = attention(place, is_causal=True)
            layer, x = lstm(place)
            layer(x)[0].sum().backward()
            y = ag.arange(1.0, 5.0).to(place).requires_grad_()
            nn.functional.layer_norm(y, (4,)).square().sum().backward()
            normed = nn.functional.rms_norm(y.detach(), (4,))
            product, norm = y.detach().cumprod(0), y.detach().norm()
        assert not made.keys() & set(FUSED) and made["softmax"] and made["mm"]
        for a, b in zip(got, attention("cpu", is_causal=True)):
            ag.testing.assert_close(a.cpu(), b)
        here, z = lstm("cpu")
        here(z)[0].sum().backward()
        ag.testing.assert_close(x.grad.cpu(), z.grad)
        assert product.tolist() == [1.0, 2.0, 6.0, 24.0]
        assert abs(norm.item() - 30**0.5) < 1e-5
        expected = nn.functional.rms_norm(ag.arange(1.0, 5.0), (4,))
        ag.testing.assert_close(normed.cpu(), expected)
    finally:
        late.run_all()


def test_a_number_beside_halves_is_one_launch(late):
    """And one rounding, as on the CPU: the number is no half."""
    x, third = ag.tensor([1.0, 3.0, 7.0, 100.0], dtype=ag.float16), ag.tensor(1 / 3)
    y = there(x)
    with calls(late) as made:
        got = y * 0.1, y / third, y - 0.1, y > 0.1
    assert sum(made[name] for name in ("mul", "div", "sub", "gt")) == 4
    assert not {"cast", "copy in", "fill"} & made.keys()
    for a, b in zip(got, (x * 0.1, x / third, x - 0.1, x > 0.1)):
        assert bits(a) == bits(b)


# --- constants ----------------------------------------------------------------------------------

CONSTANTS = {
    "arange": lambda p: ag.arange(5, device=p),
    "arange by": lambda p: ag.arange(2, 9, 3, dtype=ag.int32, device=p),
    "arange of floats": lambda p: ag.arange(0.5, 3, 0.25, device=p),
    "arange of halves": lambda p: ag.arange(4, dtype=ag.bfloat16, device=p),
    "arange cut off": lambda p: ag.arange(0.5, 4.5, dtype=ag.int64, device=p),
    "arange into": lambda p: ag.arange(6, out=ag.zeros(2, 3, dtype=ag.int64, device=p)),
    "linspace": lambda p: ag.linspace(-1, 2, 7, device=p),
    "linspace of one": lambda p: ag.linspace(3, 4, 1, device=p),
    "linspace of integers": lambda p: ag.linspace(0, 10, 4, dtype=ag.int64, device=p),
    "logspace": lambda p: ag.logspace(0, 2, 3, device=p),
    "eye": lambda p: ag.eye(3, 4, device=p),
    "eye into": lambda p: ag.eye(2, out=ag.ones(2, 2, device=p)),
    "full": lambda p: ag.full((2, 2), 1.5, device=p),
    "full into": lambda p: ag.full((2,), 3.0, out=ag.zeros(2, device=p)),
    "tensor": lambda p: ag.tensor(2.5, device=p),
    "one_hot": lambda p: nn.functional.one_hot(ag.arange(3, device=p), 4),
    "tril": lambda p: ag.ones(3, 3, device=p).tril(),
    "vmap": lambda p: ag.vmap(lambda x, i: x[i])(ag.eye(3, device=p), ag.arange(3, device=p)),
    "affine_grid": lambda p: nn.functional.affine_grid(
        ag.eye(2, 3, device=p)[None], (1, 1, 2, 3), align_corners=False
    ),
    "causal": lambda p: attention(p, is_causal=True, dropout_p=1e-9)[0],
    "mask": lambda p: nn.Transformer.generate_square_subsequent_mask(3, device=p),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_made_there(late, name):
    """Nothing is copied, in either direction."""
    make = CONSTANTS[name]
    with calls(late) as made:
        got = make(NAME)
    if name != "causal":  # its dropout draws numbers
        assert not {"copy in", "copy out", "reads"} & made.keys(), made
    expected = make("cpu")
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    if name in ("logspace", "causal", "affine_grid"):
        ag.testing.assert_close(got.cpu(), expected)
    else:
        assert bits(got) == bits(expected)
    there_is = make("meta")
    assert (there_is.shape, there_is.dtype) == (expected.shape, expected.dtype)


def without_ranges(late):
    with calls(late) as made:
        got = ag.arange(5, device="without"), ag.linspace(0, 1, 3, device="without")
    assert made["copy in"] == 2 and "reads" not in made
    assert got[0].tolist() == [0, 1, 2, 3, 4] and got[1].tolist() == [0.0, 0.5, 1.0]


def test_missing_kernels_are_not_missed(tmp_path_factory):
    """The process is one of its own, as types of devices stay."""
    library = built_devices.library(tmp_path_factory)
    paths = os.pathsep.join((str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")))
    code = (
        f"import built_devices, test_fast_ways as t; m = built_devices.load({str(library)!r}); "
        "t.without_kernels(m); t.without_ranges(m); t.by_host(m)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **built_devices.environment(),
            "PYTHONPATH": os.pathsep.join((str(built_devices.ROOT), paths)),
        },
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr


# --- values that nobody waits for ---------------------------------------------------------------


def losses(place):
    """Losses and layers that check values on the CPU."""
    ag.manual_seed(6)
    f = nn.functional
    x, y = ag.rand(4, 5).to(place), ag.tensor([1, 0, 4, 2]).to(place)
    lengths = ag.tensor([3, 3]).to(place), ag.tensor([2, 1]).to(place)
    logs = ag.rand(3, 2, 5).log_softmax(2).to(place)
    yield "multi_margin_loss", lambda: f.multi_margin_loss(x, y)
    yield "gaussian_nll_loss", lambda: f.gaussian_nll_loss(x, x + 1, x)
    yield "one_hot", lambda: f.one_hot(y, 5).sum()
    yield "ctc_loss", lambda: f.ctc_loss(logs, ag.tensor([[1, 2], [3, -1]]).to(place), *lengths)
    yield "cross_entropy", lambda: f.cross_entropy(x, y, label_smoothing=0.1)
    yield "floor_divide", lambda: (y // (y + 1)).sum()
    yield "nan_to_num", lambda: x.nan_to_num().sum()
    norm = nn.BatchNorm1d(5, momentum=None).to(place)
    yield "batch_norm", lambda: (norm(x), norm(x + 1)) and norm.running_mean.sum()
    encoder = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    encoder = nn.TransformerEncoder(encoder, 1, enable_nested_tensor=False).to(place)
    mask = nn.Transformer.generate_square_subsequent_mask(3, device=place)
    z = ag.rand(2, 3, 4).to(place)
    yield "encoder", lambda: encoder(z, mask=mask).sum()
    yield "pdist", lambda: f.pdist(x).sum()


def test_losses_and_layers_read_nothing(late):
    for (name, run), (_, expected) in zip(losses(NAME), losses("cpu")):
        with calls(late) as made:
            got = run()
        assert not {"copy out", "reads"} & made.keys(), (name, made)
        ag.testing.assert_close(got.cpu(), expected(), msg=name)


def test_padding_of_targets_is_no_target(late):
    """Anything may lie behind the ends of short rows."""
    logs = ag.rand(3, 2, 5, dtype=ag.float64).log_softmax(2)
    lengths = [3, 3], [2, 1]
    want = nn.functional.ctc_loss(logs, ag.tensor([[1, 2], [3, 0]]), *lengths)
    got = nn.functional.ctc_loss(logs, ag.tensor([[1, 2], [3, -100]]), *lengths)
    assert got.item() == want.item()


def test_numbers_of_the_cpu_go_along(late):
    """Tensors without dimensions are copied as numbers, and change no device."""
    x, two = there(ag.ones(3)), ag.tensor(2.0)
    with calls(late) as made:
        y = x * two + ag.tensor(1, dtype=ag.int64)
        y.copy_(two)
        x[0] = two
        x.fill_(two)
    assert not {"copy in", "cast"} & made.keys(), made
    assert y.tolist() == [2.0] * 3 and x.tolist() == [2.0] * 3


def test_expanded_memory_is_filled_without_a_read(late):
    x, value = there(ag.zeros(2, 1)), there(ag.tensor(3.0))
    with no_reads(late):
        x.expand(2, 4).fill_(value)
    assert x.tolist() == [[3.0], [3.0]]


def test_checkpoints_compute_in_the_regions_of_their_forward(late):
    """The regions are those of each device, whatever is on when they are computed again."""
    dtypes = []

    def product(x):
        dtypes.append((x @ x).dtype)
        return x.exp()

    for place, region in ((NAME, NAME), ("cpu", NAME), ("cpu", "cpu"), (NAME, "cpu")):
        dtypes.clear()
        x = ag.rand(2, 2).to(place).requires_grad_()
        with ag.autocast(region, dtype=ag.bfloat16):
            assert ag.is_autocast_enabled(region)
            y = checkpoint(product, x, use_reentrant=False)
        assert not ag.is_autocast_enabled(region)
        y.sum().backward()
        lower = ag.bfloat16 if place == region else ag.float32
        assert dtypes == [lower, lower], (place, region)
    with ag.autocast(NAME, dtype=ag.float16), ag.autocast("cpu", dtype=ag.bfloat16):
        x = ag.rand(2, 2).requires_grad_()
        y = checkpoint(product, x, use_reentrant=False)
        with ag.autocast(NAME, enabled=False):
            z = there(x.detach())
            assert (z @ z).dtype == ag.float32 and (x @ x).dtype == ag.bfloat16
        assert (z @ z).dtype == ag.float16
    y.sum().backward()
    assert dtypes[-2:] == [ag.bfloat16, ag.bfloat16]


# --- the table of kernels -----------------------------------------------------------------------

# Functions of the CPU that are called past the table, behind a question for the device.
CHECKED_FIRST = {("accumulate.pyx", "sum_to_shape_fast")}


def test_no_kernel_of_the_cpu_is_called_past_the_table():
    """Operators made of others, and the engine, cimport nothing but constants from kernels."""
    ext = Path(__file__).resolve().parents[2] / "ext"
    kernels = {path.stem for path in (ext / "kernels").glob("*.pyx")}
    pattern = re.compile(r"^from autograd_cy\._C\.(\w+) cimport ((?:\([^)]*\))|[^\n]*)", re.M)
    found, looked = set(), 0
    for path in (*(ext / "engine").rglob("*.p[yx]x*"), *(ext / "composites").glob("*.pyx")):
        for module, names in pattern.findall(path.read_text(encoding="utf-8")):
            looked += 1
            if module in kernels and module != "interpreted_kernels":
                words = re.findall(r"\w+", names)
                found |= {(path.name, word) for word in words if not word.isupper()}
    assert looked > 100
    assert found == CHECKED_FIRST


def test_forward_mode_goes_along(late):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(there(ag.ones(2)), there(ag.ones(2)))
        _, t = forward_ad.unpack_dual((x * 3).cumprod(0))
    assert t.tolist() == [3.0, 18.0]
