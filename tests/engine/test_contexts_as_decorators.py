"""Every context manager that decorates functions in PyTorch does so here, by each kind of function.

`MAKE` has what makes each context manager that both packages have under one name; a test looks for
those of the package that it lacks.
"""

import inspect
import sys

import pytest
from grouping import each
from test_contexts import CONTEXTS

import autograd_cy as ag

pytestmark = [
    pytest.mark.filterwarnings("ignore:Anomaly Detection"),
    pytest.mark.filterwarnings("ignore:.*sdp_kernel.. is deprecated"),
]


@pytest.fixture(autouse=True)
def as_before():
    """Some change the state when they are made."""
    yield
    for package in (ag, sys.modules.get("torch", ag)):
        package.autograd.set_detect_anomaly(False)
        package.set_grad_enabled(True)
    ag.autograd.grad_mode._force_original_view_tracking(False)
    ag.autograd.grad_mode.set_multithreading_enabled(True)


def keep(x):
    return x


# By the name in CONTEXTS: its path, and its arguments.
MAKE = {
    "flags": ("backends.cudnn.flags", (), {"enabled": False}),
    "autocast": ("autocast", ("cpu",), {}),
    "no_grad": ("no_grad", (), {}),
    "enable_grad": ("enable_grad", (), {}),
    "set_grad_enabled": ("set_grad_enabled", (False,), {}),
    "inference_mode": ("inference_mode", (), {}),
    "set_multithreading_enabled": ("autograd.grad_mode.set_multithreading_enabled", (True,), {}),
    "_force_original_view_tracking": (
        "autograd.grad_mode._force_original_view_tracking",
        (True,),
        {},
    ),
    "dual_level": ("autograd.forward_ad.dual_level", (), {}),
    "DisableTorchFunctionSubclass": ("_C.DisableTorchFunctionSubclass", (), {}),
    "saved_tensors_hooks": ("autograd.graph.saved_tensors_hooks", (keep, keep), {}),
    "save_on_cpu": ("autograd.graph.save_on_cpu", (), {}),
    "disable_saved_tensors_hooks": ("autograd.graph.disable_saved_tensors_hooks", ("no",), {}),
    "allow_mutation_on_saved_tensors": (
        "autograd.graph.allow_mutation_on_saved_tensors",
        (),
        {},
    ),
    "set_detect_anomaly": ("autograd.set_detect_anomaly", (True,), {}),
    "detect_anomaly": ("autograd.detect_anomaly", (), {}),
    "fork_rng": ("random.fork_rng", (), {}),
    "set_checkpoint_early_stop": ("utils.checkpoint.set_checkpoint_early_stop", (False,), {}),
    "set_checkpoint_debug_enabled": ("utils.checkpoint.set_checkpoint_debug_enabled", (True,), {}),
    "cached": ("nn.utils.parametrize.cached", (), {}),
    "record_function": ("autograd.profiler.record_function", ("name",), {}),
    "sdpa_kernel": ("nn.attention.sdpa_kernel", ([],), {}),
    "device": ("device", ("cpu",), {}),
}
# Not in torch, or under another name there; the last takes a module of the package.
OTHERS = {"set_fwd_grad_enabled", "printoptions", "these_vmaps", "safe_globals"}
OTHERS.add("_reparametrize_module")


def made(package, name):
    path, args, options = MAKE[name]
    found = package
    for part in path.split("."):
        found = getattr(found, part)
    return found(*args, **options)


def outcome(use):
    try:
        return use()
    except Exception as error:
        return type(error).__name__


def as_decorators(package, name):
    """Results of each kind of function that the context decorates."""

    def plain(x):
        """Document."""
        return x + 1

    def generator(n):
        got = yield n
        yield got

    def run_generator():
        running = made(package, name)(generator)(3)
        return next(running), running.send(5)

    async def coroutine(x):
        return x * 2

    def run_coroutine():
        running = made(package, name)(coroutine)(4)
        try:
            running.send(None)
        except StopIteration as stop:
            return stop.value

    def twice():
        decorated = made(package, name)(plain)
        return decorated(1), decorated(x=2), decorated.__name__, inspect.getdoc(decorated)

    return [outcome(twice), outcome(run_generator), outcome(run_coroutine)]


def test_every_context_is_in_the_table():
    used = {name for name, make in CONTEXTS.items() if make is not None}
    assert used - MAKE.keys() - OTHERS == set()


RIGHT = [(2, 3, "plain", "Document."), (3, 5), 8]


@each("name", sorted(MAKE))
def test_contexts_decorate_as_in_torch(name):
    torch = pytest.importorskip("torch")
    assert as_decorators(ag, name) == as_decorators(torch, name)


@each("name", sorted(MAKE.keys() - {"DisableTorchFunctionSubclass", "saved_tensors_hooks"}))
def test_what_decorates_is_right(name):
    found = as_decorators(ag, name)
    if found[0] != "TypeError":
        assert found[:2] == RIGHT[:2]
    else:
        assert set(found) == {"TypeError"}
