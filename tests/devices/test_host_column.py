"""Kernels that let the host compute for a device: each slot, in place, `out=`, state, errors."""

import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))

import numpy as np
import operators
import pytest
from calls import RECORDS, cases, few
from grouping import each
from proof import bits

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy._C import cuda_host, cuda_mirrors, devices, interpreted_kernels
from autograd_cy._C.streams import _stream_on

ROOT = Path(__file__).resolve().parents[2]
NAME = "byhost"
EVERY = cases(lambda r: bool(r.tests.samples))


@pytest.fixture(scope="session")
def column(hostdevice):
    """The module with "byhost" registered, all of whose slots are the host's."""
    kind = devices.register(
        NAME, hostdevice.services_capsule(False), cuda_host.KERNELS, cuda_host.KERNELS
    )
    interpreted_kernels.let_host_compute(kind, cuda_host.through_host)
    return hostdevice


@pytest.fixture
def byhost(column):
    """The device for one test, without counts of others; memory is as it should be afterwards."""
    cuda_mirrors.forget_calls()
    yield column
    cuda_mirrors.show()
    column.run_all()
    assert column.state()["broken"] == 0, "a kernel wrote over the ends of its memory"


def there(*tensors):
    return [t.to(NAME) for t in tensors]


@each("case", few(EVERY, 1))
def test_all_forms_of_all_operators_are_those_of_the_cpu(byhost, case):
    operators.agree(case, device=NAME)


def test_every_slot_has_a_kernel_of_its_signature():
    known = devices.signatures()
    # A test beside this one may have made an operator that is in no table.
    known.pop("late_flip", None)
    assert cuda_host.KERNELS.keys() == known.keys()
    for key, capsule in cuda_host.KERNELS.items():
        assert f'"{known[key]}"' in repr(capsule), key


def test_what_can_be_made_of_others_is(byhost):
    """A kernel of the host isn't called where other operators can do the same."""
    assert {"_attention", "_recurrent", "_fused_rms_norm"} < cuda_host.COMPOSED
    (x,) = there(ag.rand(2, 4, 3))
    nn.functional.scaled_dot_product_attention(x, x, x)
    nn.functional.rms_norm(x, (3,))
    nn.GRU(3, 3).to(NAME)(x)
    called = cuda_mirrors.host_calls()
    assert called and not cuda_host.COMPOSED & called.keys()


def test_operators_of_numpy_are_those_of_the_table():
    made = {r.shown: r.key for r in RECORDS if type(r.kernel).__name__ == "host"}
    assert made == cuda_host.NUMPY


# --- what is written ------------------------------------------------------------------------------


def test_only_what_the_kernel_writes_goes_back(byhost):
    x, y = there(ag.rand(3, 4), ag.rand(4, 5))
    byhost.forget()
    x @ y
    calls = byhost.state()["calls"]
    assert (calls["copy out"], calls["copy in"]) == (2, 1)
    byhost.forget()
    x.sum()
    calls = byhost.state()["calls"]
    assert (calls["copy out"], calls["copy in"]) == (1, 1)


def test_an_operand_that_comes_twice_is_copied_once(byhost):
    (x,) = there(ag.rand(3, 3))
    byhost.forget()
    product = x @ x
    assert byhost.state()["calls"]["copy out"] == 1
    np.testing.assert_allclose(product.cpu().numpy(), (x.cpu() @ x.cpu()).numpy(), rtol=1e-6)


def test_an_expanded_operand_is_copied_once(byhost):
    x = ag.rand(1, 2)
    (far,) = there(x)
    wide = far.expand(1000, 2)
    before = ag.memory_summary()["peak_bytes"]
    ag.reset_peak_memory()
    held = ag.memory_summary()["live_bytes"]
    got = wide.amax(0)
    assert ag.memory_summary()["peak_bytes"] - held < 4000, before
    assert bits(got) == bits(x[0])


@pytest.mark.parametrize("view", [lambda t: t[:, 1:3], lambda t: t[::2].t()[1:], lambda t: t[:, 0]])
def test_what_lies_between_the_places_of_a_view_stays(byhost, view):
    x = ag.arange(20.0).reshape(5, 4)
    (far,) = there(x)
    for t in (x, far):
        view(t).index_fill_(0, ag.tensor([0]).to(t.device), 7.0)
        view(t).cumsum_(0)
        view(t).index_add_(0, ag.tensor([0, 0]).to(t.device), ag.ones_like(view(t)[:2]))
        view(t).uniform_(0, 0)
    assert bits(far) == bits(x)


def test_running_statistics_move(byhost):
    x = ag.rand(4, 3, 5)
    norms = [nn.BatchNorm1d(3), nn.BatchNorm1d(3).to(NAME)]
    for norm in norms:
        for _ in range(2):
            norm(x.to(norm.weight.device))
        norm.eval()
    here, far = norms
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        assert bits(getattr(here, name)) == bits(getattr(far, name)), name
    assert bits(here(x)) == bits(far(x.to(NAME)))


DRAWS = {
    "dropout": lambda x: nn.functional.dropout(x, 0.5),
    "uniform": lambda x: x.clone().uniform_(),
    "normal": lambda x: x.clone().normal_(1, 2),
    "normal of tensors": lambda x: ag.normal(x, x + 1),
    "normal with a mean": lambda x: ag.normal(x, 2.0),
    "normal with a width": lambda x: ag.normal(1.0, x),
    "exponential": lambda x: x.clone().exponential_(),
    "bernoulli": lambda x: ag.bernoulli(x),
    "bernoulli in place": lambda x: x.clone().bernoulli_(0.25),
    "random": lambda x: x.clone().random_(0, 9),
    "randperm": lambda x: ag.randperm(7, device=x.device),
    "rrelu": lambda x: nn.functional.rrelu(x - 0.5, training=True),
    "channels": lambda x: nn.functional.dropout1d(x, 0.5, training=True),
    "alpha": lambda x: nn.functional.alpha_dropout(x, 0.5, training=True),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_draws_move_the_generator_on(byhost, draw):
    x = ag.rand(3, 5)
    found = []
    for t in (x, *there(x)):
        ag.manual_seed(4)
        found.append([bits(draw(t)), bits(draw(t))])
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


OPTIMIZERS = [
    ("SGD", {"momentum": 0.9, "nesterov": True}),
    ("SGD", {}),
    ("Adam", {"amsgrad": True}),
    ("Adam", {}),
    ("AdamW", {}),
    ("Adagrad", {}),
    ("Adadelta", {}),
    ("Adamax", {}),
    ("NAdam", {}),
    ("RAdam", {}),
    ("RMSprop", {"centered": True, "momentum": 0.5}),
    ("RMSprop", {}),
    ("Rprop", {}),
    ("ASGD", {}),
]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_steps_of_optimizers(byhost, name, options):
    found = []
    for device in ("cpu", NAME):
        ag.manual_seed(3)
        shared = ag.randn(3, 4).to(device)
        # The last two are views of one memory, one of them turned.
        params = [ag.randn(5).to(device), shared, shared.t()]
        params = [nn.Parameter(p) for p in params]
        optimizer = getattr(ag.optim, name)(params, lr=0.1, **options)
        for step in range(3):
            for p in params:
                p.grad = ((p.detach() + step) * 0.5).clone()
            optimizer.step()
        state = [t for s in optimizer.state.values() for t in s.values() if ag.is_tensor(t)]
        found.append([bits(t) for t in params + state])
    assert found[0] == found[1]


def test_a_scaled_step_that_overflows_changes_nothing(byhost):
    found = []
    for device in ("cpu", NAME):
        p = nn.Parameter(ag.ones(3).to(device))
        optimizer = ag.optim.Adam([p], lr=0.1)
        scaler = ag.amp.GradScaler(device, init_scale=4.0, growth_interval=1)
        for worst in (1.0, float("inf"), 2.0):
            optimizer.zero_grad()
            scaler.scale((p * ag.tensor([1.0, 2.0, worst]).to(device)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            found.append((bits(p), scaler.get_scale()))
    assert found[:3] == found[3:]


# --- errors and ways to see it --------------------------------------------------------------------

FAULTS = {
    "embedding": lambda t: nn.functional.embedding(ag.tensor([5], device=t.device), t),
    "gather": lambda t: t.gather(0, ag.full((1, 2), 9, device=t.device)),
    "index_add_": lambda t: t.index_add_(0, ag.tensor([4], device=t.device), t[:1].clone()),
    "bernoulli_": lambda t: t.bernoulli_(t + 2),
    "multinomial": lambda t: ag.multinomial(t - 5, 1),
}


@pytest.mark.parametrize("call", FAULTS.values(), ids=FAULTS)
def test_faults_of_values_are_raised_at_once(byhost, call):
    x = ag.rand(3, 2)
    (far,) = there(x)
    with pytest.raises((IndexError, RuntimeError)) as here:
        call(x.clone())
    with pytest.raises(here.type, match=re.escape(str(here.value).replace("cpu", NAME))):
        call(far)
    assert bits(far) == bits(x)
    far.sum().cpu()  # nothing waits to be raised


def test_calls_are_counted_by_key(byhost):
    (x,) = there(ag.eye(3))
    x.sum(0)
    x.sum(1)
    x.nonzero()
    ag.linalg.inv(x)
    found = cuda_mirrors.host_calls()
    assert found == {"sum_dim": 2, "nonzero.sizes": 1, "nonzero": 1, "linalg_inv": 1}


def test_what_goes_by_the_host_warns_once_for_each_operator(byhost):
    (x,) = there(ag.eye(3))
    cuda_mirrors.show("warn")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(2):
            x.sum(0)
            ag.linalg.inv(x)
            x + x
    said = [str(w.message).partition(":")[0] for w in found]
    assert said == ["sum", "linalg.inv"]
    assert all(w.category is UserWarning and w.filename == __file__ for w in found)
    assert "copied to the host" in str(found[0].message) and NAME in str(found[0].message)


def test_what_goes_by_the_host_can_be_refused(byhost):
    (x,) = there(ag.eye(3))
    cuda_mirrors.show("error")
    for call, name in ((lambda: x.cumsum_(0), "cumsum"), (lambda: ag.linalg.inv(x), "linalg.inv")):
        with pytest.raises(RuntimeError, match=rf"^{name}: there is no kernel .* \.cpu\(\)"):
            call()
    assert bits(x) == bits(ag.eye(3))
    cuda_mirrors.show()
    assert bits(x.cumsum_(0)) == bits(ag.eye(3).cumsum(0))


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="'warn' or 'error'.*'loud'"):
        cuda_mirrors.show("loud")


def test_a_side_stream_gets_the_results(byhost):
    side = ag.Stream(f"{NAME}:0")
    (x,) = there(ag.rand(4, 4))
    side.wait_stream(_stream_on(f"{NAME}:0"))
    with side:
        y = (x + 1) @ x
        z = y * 2
    side.synchronize()
    assert bits(z) == bits((x.cpu() + 1) @ x.cpu() * 2)


def test_a_lazy_operand_and_result(byhost):
    x = ag.rand(3, 3) + 1j * ag.rand(3, 3)
    (far,) = there(x)
    assert bits(far.conj() @ far.t().conj()) == bits(x.conj() @ x.t().conj())
    assert bits(far.conj().imag.sum(0)) == bits(x.conj().imag.sum(0))
