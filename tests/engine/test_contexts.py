"""Every context manager of the package puts back what it changed, wherever an interrupt comes.

``CONTEXTS`` has a use of each; a test looks for those that it lacks. Two ways to interrupt: a trace
function that raises before each single bytecode, in turn, and a timer.
"""

import importlib
import inspect
import pkgutil
import random
import signal
import sys
import time

import pytest

import autograd_cy as ag
import autograd_cy.autograd.forward_ad as fw
from autograd_cy._C import saved
from autograd_cy._C.tensor import _get_global_modes, _get_modes
from autograd_cy._environment.contexts import _Context
from autograd_cy._tensors import printing
from autograd_cy._vmap import mapping as _vmap
from autograd_cy.amp import autocast_mode
from autograd_cy.autograd import grad_mode, graph
from autograd_cy.func._modules import _reparametrize_module
from autograd_cy.nn.utils import parametrize
from autograd_cy.utils import checkpoint

EXEMPT = {
    # What `no_grad` is, without its ways to be a decorator.
    "autograd_cy.optim._fused._NoGrad",
    # Not a change of state: the file closes itself when it is freed.
    "autograd_cy.serialization._opened",
    # Modes of torch functions are objects of the program, with methods in Python of its own; an
    # interrupt between entering one and its block leaves it active, as in torch.
    "autograd_cy.overrides.TorchFunctionMode",
    "autograd_cy.overrides.BaseTorchFunctionMode",
    "autograd_cy._tensors.overriding.DisableTorchFunction",
    "autograd_cy.utils._selective_checkpoints._FirstRun",
    "autograd_cy.utils._selective_checkpoints._Again",
    # A value that many blocks may enter: the same holds for them.
    "autograd_cy._C.placement.device",
    "autograd_cy._C.streams.Stream",
    # Of an accelerator, which this process has none of.
    "autograd_cy.accelerator.device_index",
    "autograd_cy.cuda.devices.device",
    "autograd_cy.cuda.devices.device_of",
    "autograd_cy.cuda.streams.ExternalStream",
    "autograd_cy.cuda.streams.Stream",
    "autograd_cy.cuda.streams.StreamContext",
    # A span of time, in C; it ends with its object, which an interrupt before the block drops.
    "autograd_cy._C.recorder.record_function",
    # Recordings stop when their object is freed, which an interrupt before the block does.
    "autograd_cy.autograd.profiler.profile",
    "autograd_cy.profiler._steps.profile",
    "autograd_cy.profiler._ranges._Emitter",
    "autograd_cy.profiler._ranges.emit_nvtx",
    "autograd_cy.profiler._ranges.emit_itt",
    # An import changes no state that its block could leave.
    "autograd_cy._environment.loading.explained",
    # An interrupt of one rank ends the job.
    "autograd_cy.distributed.algorithms.join.Join",
    # What they change is another tool's.
    "autograd_cy.cuda.profiler.profile",
    "autograd_cy.cuda.nvtx.range",
    # Switches that only programs read: no kernel is chosen by them.
    "autograd_cy.backends.cuda.sdp_kernel",
    "autograd_cy.nn.attention.sdpa_kernel",
    # The processors of a thread, while it starts a process.
    "autograd_cy._environment.threads.unbound",
    # The signals of a thread, likewise.
    "autograd_cy.utils.preemption.signals_blocked",
    # A handler is an object of the program, which `close` takes away.
    "autograd_cy.utils.preemption.PreemptionHandler",
    # The process that waits ends with this one, or with the pipe between them.
    "autograd_cy.distributed._limit.limit",
    # The schedule's own field, which says only whether a warning is due.
    "autograd_cy.optim.lr_scheduler._scheduler._enable_get_lr_call",
    # Says only how gradients lie in memory; it is switched when it is made, as in torch.
    "autograd_cy.autograd.grad_mode.enforce_grad_layout_policy",
    # It is on from its making, with or without a block, as the import of a program is.
    "autograd_cy._as_torch.switch._AsTorch",
    # Changes nothing.
    "autograd_cy.autograd.graph.region_activation_memory_budget",
}
# What the contexts of this module are made of.
BASES = {
    "Restoring",
    "ModeContext",
    "SwitchContext",
    "AnomalyContext",
    "ItemsContext",
    "HooksContext",
    "NoHooksContext",
    "GuardContext",
    "AutocastContext",
    "HandleContext",
    "DualContext",
    "_Mode",
    "_Switch",
    "_Anomaly",
    "_Context",
}

pytestmark = pytest.mark.filterwarnings("ignore:Anomaly Detection")

X = ag.ones(3)
LEAF = ag.ones(3, requires_grad=True)
LAYER = ag.nn.Linear(3, 1)


class Twice(ag.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return g * 2


def in_block(make):
    def use():
        with make():
            X + 1

    return use


def decorated(make):
    def use():
        make()(lambda: X + 1)()

    return use


def version():
    with grad_mode._unsafe_preserve_version_counter(X):
        X.add_(0)


def square(t):
    return t * t


def keep(t):
    return t


# The name of each context, and what makes one (None: its use is in USES).
CONTEXTS = {
    "flags": lambda: ag.backends.cudnn.flags(enabled=False, benchmark=True),
    "autocast": lambda: ag.autocast("cpu", cache_enabled=False),
    "no_grad": ag.no_grad,
    "enable_grad": ag.enable_grad,
    "set_grad_enabled": lambda: ag.set_grad_enabled(False),
    "inference_mode": ag.inference_mode,
    "set_multithreading_enabled": lambda: grad_mode.set_multithreading_enabled(False),
    "_force_original_view_tracking": lambda: grad_mode._force_original_view_tracking(True),
    "set_fwd_grad_enabled": lambda: fw.set_fwd_grad_enabled(False),
    "dual_level": fw.dual_level,
    "DisableTorchFunctionSubclass": ag._C.DisableTorchFunctionSubclass,
    "saved_tensors_hooks": lambda: graph.saved_tensors_hooks(keep, keep),
    "save_on_cpu": graph.save_on_cpu,
    "disable_saved_tensors_hooks": lambda: graph.disable_saved_tensors_hooks("none here"),
    "allow_mutation_on_saved_tensors": graph.allow_mutation_on_saved_tensors,
    "set_detect_anomaly": lambda: ag.autograd.set_detect_anomaly(True, check_nan=False),
    "detect_anomaly": ag.autograd.detect_anomaly,
    "printoptions": lambda: ag.printoptions(precision=1),
    "fork_rng": ag.random.fork_rng,
    "set_checkpoint_early_stop": lambda: checkpoint.set_checkpoint_early_stop(False),
    "set_checkpoint_debug_enabled": lambda: checkpoint.set_checkpoint_debug_enabled(True),
    "these_vmaps": lambda: _vmap.these_vmaps([(2, "same")]),
    "safe_globals": lambda: ag.serialization.safe_globals([square]),
    "cached": parametrize.cached,
    "_reparametrize_module": lambda: _reparametrize_module(LAYER, {"weight": ag.ones(1, 3)}),
    "LevelContext": None,
    "_unsafe_preserve_version_counter": None,
    "RemovableHandle": None,
    "_MultiHandle": None,
    "_NoHooks": None,  # of disable_saved_tensors_hooks
    "_Allowing": None,  # of allow_mutation_on_saved_tensors
}
# As decorators; not those whose object is used once, or whose decorated form torch hasn't.
DECORATORS = [
    "no_grad",
    "enable_grad",
    "set_grad_enabled",
    "inference_mode",
    "set_multithreading_enabled",
    "_force_original_view_tracking",
    "set_fwd_grad_enabled",
    "dual_level",
    "disable_saved_tensors_hooks",
    "allow_mutation_on_saved_tensors",
    "printoptions",
    "fork_rng",
]
USES = {name: in_block(make) for name, make in CONTEXTS.items() if make is not None}
USES |= {f"@{name}": decorated(CONTEXTS[name]) for name in DECORATORS}
USES |= {
    "preserved version": version,
    "nested": ag.no_grad()(in_block(ag.enable_grad)),
    "fork_rng with draws": lambda: ag.random.fork_rng()(lambda: ag.rand(2))(),
    # What changes the state inside the package.
    "autocast around a function in Python": ag.autocast("cpu")(
        lambda: ag.nn.functional.normalize(X, dim=0)
    ),
    "vmap": lambda: ag.vmap(lambda t: ag.vmap(lambda u: u * 2)(t))(ag.ones(2, 2)),
    "vmap of a Function": lambda: ag.vmap(Twice.apply)(X),
    "vmap with draws": ag.random.fork_rng()(
        lambda: ag.vmap(lambda t: t + ag.rand(2), randomness="same")(X)
    ),
    "jvp": lambda: ag.func.jvp(lambda t: t * t, (X,), (X,)),
    "grad": lambda: ag.func.grad(lambda t: (t * t).sum())(X),
    "checkpoint": lambda: (
        checkpoint.checkpoint(square, LEAF, use_reentrant=False).sum().backward(inputs=[LEAF])
    ),
    "functional jvp": lambda: ag.autograd.functional.jvp(lambda t: t * t, X, X),
    "functional_call": lambda: ag.func.functional_call(LAYER, {"weight": ag.ones(1, 3)}, X),
    "differences": lambda: ag.testing.check_grads(lambda t: t * t, (DOUBLE,), order=1),
    "backward": lambda: ag.autograd.grad((LEAF * LEAF).sum(), LEAF),
}
DOUBLE = ag.tensor([0.5, 1.5], dtype=ag.float64, requires_grad=True)


def state():
    """All that contexts change."""
    hooks = LEAF._backward_hooks
    return (
        _get_modes(),
        _get_global_modes(),
        list(_vmap.frames.list),
        saved._get_hooks(),
        saved._write_guards(),
        fw._level,
        fw._current_level,
        printing._options,
        (checkpoint._early_stop, checkpoint._debug),
        ag.get_rng_state().tolist(),
        X.tolist(),
        DOUBLE.tolist(),
        len(hooks) if hooks else 0,
        {name: id(p) for name, p in LAYER.named_parameters()},
        ag.get_default_dtype(),
        (ag.backends.cudnn.enabled, ag.backends.cudnn.benchmark),
        vars(autocast_mode._state).copy(),
        ag.overrides._get_current_function_mode_stack(),
    )


def modules():
    for found in pkgutil.walk_packages(ag.__path__, "autograd_cy."):
        # The generator reads the table; the package never imports it.
        if not found.name.endswith("__main__") and not found.name.startswith("autograd_cy.ops"):
            try:
                yield importlib.import_module(found.name)
            except ImportError as error:  # kernels for another processor
                if "which this one lacks" not in str(error):
                    raise


def test_every_context_is_in_the_table():
    found = {}
    for module in modules():
        for name, thing in list(vars(module).items()):
            if getattr(thing, "__module__", None) != module.__name__:
                continue
            if getattr(thing, "__name__", name) != name:  # another name for it
                continue
            if inspect.isclass(thing):
                is_context = hasattr(thing, "__exit__") and hasattr(thing, "__enter__")
                is_context = is_context or "_change" in vars(thing)
            else:
                made = getattr(inspect.unwrap(thing), "__annotations__", {}).get("return")
                is_context = made in ("_Context", "ItemsContext") and not name.startswith("_")
                is_context = is_context or (
                    hasattr(thing, "__wrapped__")
                    and inspect.isgeneratorfunction(thing.__wrapped__)
                    and thing.__code__.co_filename == importlib.import_module("contextlib").__file__
                )
            if is_context:
                found[f"{module.__name__}.{name}"] = thing
    missing = {
        full
        for full in found
        if full.rpartition(".")[2] not in CONTEXTS.keys() | BASES and full not in EXEMPT
    }
    # A context of values of inputs, used by gradcheck and check_grads: "differences".
    missing.discard("autograd_cy.autograd._differences.restored")
    assert missing == set()
    assert len(found) > 20, sorted(found)


def interrupted_before(number, use):
    """Run `use` and raise before its `number`-th bytecode; False if it has fewer."""
    seen = 0
    outer = sys.gettrace()  # that of coverage.py, perhaps

    def tracer(frame, event, arg):
        nonlocal seen
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            seen += 1
            if seen == number:
                raise KeyboardInterrupt
        return tracer

    try:
        sys.settrace(tracer)
        use()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(outer)
    return False


@pytest.mark.parametrize("name", USES)
def test_state_comes_back_from_an_interrupt_before_each_bytecode(name):
    use = USES[name]
    for _ in range(2):
        interrupted_before(0, use)  # CPython 3.12 traces the bytecodes of code that it has traced
    before = state()
    number, done = 1, 0
    while interrupted_before(number, use):
        assert state() == before, number
        done += 1
        # All of a short one, a part of a long one.
        number += 1 + number // 200
    assert done > 3  # newer Pythons take fewer
    use()
    assert state() == before


@pytest.mark.parametrize("many", [False, True])
def test_handles_whose_block_is_interrupted_are_removed(many):
    for number in range(1, 100):
        handle = LEAF.register_hook(keep)
        if many:
            handle = graph._MultiHandle([handle, LEAF.register_hook(keep)])
        entered, handles = [], [handle]
        del handle

        def use(handles=handles, entered=entered):
            with handles.pop():
                entered.append(True)

        interrupted = interrupted_before(number, use)
        if entered:
            assert not LEAF._backward_hooks, number
        LEAF._backward_hooks = None
        if not interrupted:
            return
    raise AssertionError("never came to the end")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs signals by a timer")
def test_state_comes_back_from_interrupts_by_a_timer():
    drawn = random.Random(0)
    names = sorted(set(USES) - {"differences"})
    for name in names:
        USES[name]()
    before = state()
    hits, armed = 0, False

    def interrupt(*_):
        # A thread of a pool may take the signal, and be late with it: one that comes beside the
        # next one must not be raised a second time, where nobody waits for it.
        nonlocal armed
        if armed:
            armed = False
            raise KeyboardInterrupt

    def use_until_it_comes(use, wait):
        # Python 3.13.0 doesn't let the statements around a loop catch what a signal raises at
        # its head; what a call raises they do.
        nonlocal armed
        armed = True
        signal.setitimer(signal.ITIMER_REAL, wait)
        late = time.monotonic() + 0.5  # it came where nobody can raise, as in __del__
        while time.monotonic() < late:
            use()

    kept = signal.signal(signal.SIGALRM, interrupt)
    try:
        end = time.monotonic() + 60
        while hits < 500 and time.monotonic() < end:
            name = drawn.choice(names)
            use, wait = USES[name], drawn.uniform(1e-6, 1e-4)
            try:
                try:
                    use_until_it_comes(use, wait)
                finally:
                    armed = False
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
                hits += 1
            assert state() == before, (hits, name)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)
    assert hits == 500


def test_statements_that_drop_their_context_keep_the_change():
    """People write ``no_grad().__enter__()``; only an interrupt undoes what nobody leaves."""
    try:
        ag.set_grad_enabled(False)
        assert not ag.is_grad_enabled()
        ag.set_grad_enabled(True)
        ag.no_grad().__enter__()
        assert not ag.is_grad_enabled()
        ag.enable_grad().__enter__()
        try:
            fw.set_fwd_grad_enabled(False)
            raise ValueError
        except ValueError:
            assert not fw.is_fwd_grad_enabled()
    finally:
        fw.set_fwd_grad_enabled(True)
        ag.set_grad_enabled(True)
    assert ag.is_grad_enabled()


def test_a_change_that_fails_half_way_is_undone():
    first, second = {"a": 1}, (0,)
    with pytest.raises(TypeError):
        with _Context([(first, "a", 2), (first, "b", 3), (second, 0, 1)]):
            raise AssertionError("was entered")
    assert first == {"a": 1}


@pytest.mark.parametrize("name", DECORATORS)
def test_decorators_change_the_state_in_the_call_alone(name):
    before = state()
    inside = []
    function = CONTEXTS[name]()(lambda: inside.append(state()))
    assert state() == before
    function()
    function()
    assert state() == before
    if name not in ("enable_grad", "fork_rng"):
        assert inside[0] != before


def test_a_context_that_fails_on_its_way_in_leaves_nothing_behind(monkeypatch):
    from autograd_cy._tensors import overriding

    class Watched(overriding.TorchFunctionMode):
        def __torch_function__(self, f, types, args=(), kwargs=None):
            seen.append(f)
            return f(*args, **kwargs or {})

    def fail(stack):
        raise MemoryError

    class Asked(ag.Tensor):
        pass

    seen = []
    with Watched():
        monkeypatch.setattr(overriding._overrides, "_put_function_modes", fail)
        with pytest.raises(MemoryError), overriding.DisableTorchFunction():
            pytest.fail("the block is not reached")
        monkeypatch.undo()
        ag.ones(2).sum()
    assert seen
    assert isinstance(Asked(ag.ones(2)) + 1, Asked)  # classes are asked again


def test_a_mode_that_is_left_without_being_entered_changes_nothing():
    for mode in (ag.no_grad, ag.enable_grad, ag.inference_mode):
        for outside in (ag.no_grad, ag.enable_grad):
            with outside():
                before = ag.is_grad_enabled()
                mode().__exit__(None, None, None)
                assert ag.is_grad_enabled() == before
