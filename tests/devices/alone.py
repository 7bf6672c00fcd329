"""
The view of a process whose one accelerator is the tracer: run by test_accelerator.py.

``python alone.py LIBRARY`` prints the names of the functions that failed, with their errors.
"""

import functools
import gc
import json
import sys
import threading
import traceback
import warnings

import tracing

import autograd_cy as ag
from autograd_cy._C import devices

acc = ag.accelerator


def raised(kind, call, words):
    try:
        call()
    except kind as error:
        assert words in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__} {words!r}")


def the_registered_device_is_the_accelerator(tracer):
    assert acc.current_accelerator() == ag.device("tracer") and acc.is_available()
    assert acc.device_count() == 2 and acc.current_device_index() == 0
    raised(RuntimeError, lambda: ag.device("nowhere"), "mtia, xla, tracer device type at start of")
    assert ag.device(1) == ag.device("tracer:1") and ag.ones(1, device=1).get_device() == 1
    assert ag.Stream().device == ag.device("tracer:0") == ag.Event().device
    tracer.set_count(0)
    assert not acc.is_available() and acc.device_count() == 0
    assert acc.current_accelerator(True) is None is not acc.current_accelerator()


def the_current_index_is_of_a_thread(tracer):
    acc.set_device_index(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(acc.current_device_index()))
    thread.start()
    thread.join()
    assert seen == [0] and acc.current_device_idx() == 1
    assert str(ag.ones(1, device="tracer").device) == "tracer:1"
    with acc.device_index(0):
        assert str(ag.ones(1).to("tracer").device) == "tracer:0"
        with acc.device_index(None):
            assert acc.current_device_index() == 0
    assert acc.current_device_index() == 1
    acc.set_device_index(-1)
    assert acc.current_device_index() == 1
    acc.set_device_idx("tracer:0")
    assert acc.current_device_index() == 0


def wrong_devices_are_refused(tracer):
    for call in (acc.set_device_index, acc.current_stream, acc.synchronize, acc.memory_allocated):
        raised(RuntimeError, lambda call=call: call(2), "no device 'tracer:2'")
        raised(RuntimeError, lambda call=call: call("tracer:2"), "no device 'tracer:2'")
        raised(ValueError, lambda call=call: call("cpu"), "cpu doesn't match the current accel")
    raised(RuntimeError, lambda: acc.device_index(5).__enter__(), "no device 'tracer:5'")
    raised(TypeError, lambda: acc.set_device_index(True), "bool")
    raised(TypeError, lambda: acc.set_stream(None), "Stream")
    assert acc.current_device_index() == 0


def streams_are_set_and_found(tracer):
    default = acc.current_stream()
    assert default.stream_id == 0 and default == acc.current_stream("tracer:0")
    s = ag.Stream("tracer:1")
    acc.set_stream(s)
    assert acc.current_stream() is s and acc.current_device_index() == 1
    assert acc.current_stream("tracer:0") == default and acc.current_stream(1) is s
    tracer.traced()
    ag.ones(1, device="tracer")
    assert [c[2] for c in tracer.traced() if c[0] == "fill"] == [s.stream_id]
    acc.set_stream(default)
    acc.set_stream(type(s).__new__(type(s)))  # of the CPU: nothing changes
    assert acc.current_device_index() == 0 and acc.current_stream(1) is s
    acc.set_stream(ag.Stream("tracer:1"))
    number = s.stream_id
    del s
    assert tracer.state()["streams"] == 1 and acc.current_stream(1).stream_id != number


def all_streams_are_waited_for(tracer):
    before = devices.host_reads()
    tracer.traced()
    acc.synchronize()
    acc.synchronize(1)
    acc.synchronize("tracer:1")
    assert [c[:2] for c in tracer.traced()] == [
        ("synchronize_all", 0),
        ("synchronize_all", 1),
        ("synchronize_all", 1),
    ]
    assert devices.host_reads() == before
    tracer.fail("synchronize_all", IndexError("out of bounds"))
    raised(IndexError, acc.synchronize, "out of bounds")


def memory_is_counted(tracer):
    acc.reset_peak_memory_stats()
    before = acc.memory_allocated()
    x = ag.empty(256, device="tracer")
    assert acc.memory_allocated() == acc.memory_allocated("tracer:0") == before + 1024
    del x
    assert acc.memory_allocated() == before and acc.max_memory_allocated() == before + 1024
    acc.reset_peak_memory_stats(0)
    assert acc.max_memory_allocated() == before


def memory_is_pinned(tracer):
    x = ag.arange(3.0)
    y = x.pin_memory()
    assert y.is_pinned() and y[1:].is_pinned() and y.data.is_pinned() and not x.is_pinned()
    assert y.pin_memory() is y and y.is_cpu and y.tolist() == [0, 1, 2]
    assert (y + 1).tolist() == [1, 2, 3] and not (y + 1).is_pinned()
    assert ag.memory_summary()["pinned_bytes"] == 12 and tracer.state()["pins"] == 1
    raised(RuntimeError, ag.ones(1, device="tracer").pin_memory, "only dense CPU tensors")
    raised(RuntimeError, ag.ones(1, device="meta").pin_memory, "only dense CPU tensors")
    raised(
        RuntimeError,
        lambda: ag.empty(2, device="tracer", pin_memory=True),
        "Only dense CPU tensors can be pinned, and this one would be on tracer:0",
    )
    there = ag.ones(2, device="tracer")
    pinned_like = functools.partial(ag.empty_like, there, pin_memory=True)
    raised(RuntimeError, pinned_like, "can be pinned")
    assert ag.empty_like(there, device="cpu", pin_memory=True).is_pinned()
    w = ag.ones(3, requires_grad=True)
    w.pin_memory().backward(ag.ones(3))
    assert w.grad.tolist() == [1, 1, 1] and not w.grad.is_pinned()
    del y, there, pinned_like
    assert tracer.state()["pins"] == 0 and ag.memory_summary()["pinned_bytes"] == 0
    tracer.fail("pin", MemoryError("no more"))
    raised(MemoryError, x.pin_memory, "no more")


def factories_pin(tracer):
    like = ag.zeros(2, 3)
    ag.manual_seed(0)
    expected = ag.rand(4)
    ag.manual_seed(0)
    assert ag.rand(4, pin_memory=True).tolist() == expected.tolist()
    made = {
        "empty": ag.empty(2, pin_memory=True),
        "zeros": ag.zeros(2, pin_memory=True),
        "ones": ag.ones(2, pin_memory=True),
        "full": ag.full((2,), 3.0, pin_memory=True),
        "tensor": ag.tensor([1, 2], pin_memory=True),
        "of a tensor": ag.tensor(like, pin_memory=True)
        if not warnings.simplefilter("ignore")
        else None,
        "scalar_tensor": ag.scalar_tensor(3, pin_memory=True),
        "arange": ag.arange(3, pin_memory=True),
        "linspace": ag.linspace(0, 1, 3, pin_memory=True),
        "eye": ag.eye(3, pin_memory=True),
        "empty_strided": ag.empty_strided((2, 3), (1, 2), pin_memory=True),
        "randn": ag.randn(2, pin_memory=True),
        "randint": ag.randint(3, (2,), pin_memory=True),
        "randperm": ag.randperm(3, pin_memory=True),
        "empty_like": ag.empty_like(like, pin_memory=True),
        "zeros_like": ag.zeros_like(like, pin_memory=True),
        "full_like": ag.full_like(like, 2, pin_memory=True),
        "rand_like": ag.rand_like(like, pin_memory=True),
        "new_ones": like.new_ones(2, pin_memory=True),
        "new_full": like.new_full((2,), 7, pin_memory=True),
        "new_tensor": like.new_tensor([1.0], pin_memory=True),
    }
    assert [name for name, t in made.items() if not t.is_pinned() or not t.is_cpu] == []
    assert made["full"].tolist() == [3, 3] and made["arange"].tolist() == [0, 1, 2]
    assert made["eye"].tolist() == ag.eye(3).tolist()


def pinned_memory_stays_while_a_copy_is_under_way(tracer):
    x = ag.ones(3).pin_memory()
    tracer.set_busy(True)
    tracer.traced()
    y = x.to("tracer", non_blocking=True)
    z = x.to("tracer", non_blocking=True)
    with ag.Stream("tracer:0"):
        w = x.to("tracer", non_blocking=True)
    names = [c[0] for c in tracer.traced()]
    assert names.count("event_record") == 3 and tracer.state()["events"] == 2
    del x
    assert tracer.state()["pins"] == 1
    v = ag.zeros(3, pin_memory=True)
    v.copy_(y, non_blocking=True)
    del v
    assert tracer.state()["pins"] == 2
    tracer.set_busy(False)
    ag.ones(1).pin_memory()  # looks whether copies have come to their end
    assert tracer.state() == {"blocks": 3, "streams": 1, "events": 0, "pins": 0}
    del w, y, z
    assert tracer.state() == {"blocks": 0, "streams": 0, "events": 0, "pins": 0}


def a_blocking_copy_keeps_nothing(tracer):
    x = ag.ones(3).pin_memory()
    tracer.set_busy(True)
    x.to("tracer")
    x.copy_(ag.zeros(3, device="tracer"))
    assert tracer.state()["events"] == 0
    del x
    assert tracer.state()["pins"] == 0


def pinned_memory_goes_with_a_device_that_fails(tracer):
    x = ag.ones(3).pin_memory()
    x.to("tracer", non_blocking=True)
    tracer.fail("event_query", RuntimeError("gone"))
    del x
    assert tracer.state()["pins"] == 0 == tracer.state()["events"]


def loaders_pin(tracer):
    from collections import namedtuple

    from autograd_cy.utils.data import DataLoader

    Pair = namedtuple("Pair", "a b")

    class Own:
        pinned = False

        def pin_memory(self):
            self.pinned = True
            return self

    rows = [{"x": ag.ones(2) * i, "y": (i, "name"), "z": Pair(float(i), [i])} for i in range(4)]
    for batch in DataLoader(rows, batch_size=2, pin_memory=True):
        assert batch["x"].is_pinned() and batch["y"][0].is_pinned()
        assert batch["y"][1] == ["name", "name"]
        assert type(batch["z"]) is Pair and batch["z"].a.is_pinned() and batch["z"].b[0].is_pinned()
    for batch in DataLoader(rows, batch_size=2):
        assert not batch["x"].is_pinned()
    own = next(iter(DataLoader([Own()], collate_fn=lambda x: x[0], pin_memory=True)))
    assert own.pinned
    packed = ag.nn.utils.rnn.pack_sequence([ag.ones(2), ag.ones(1)])
    assert packed.pin_memory().is_pinned() and not packed.is_pinned()


def saved_tensors_are_pinned(tracer):
    x = ag.ones(3, device="tracer", requires_grad=True)
    seen = []

    class Keep(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x + x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            seen.append(str(x.device))
            return grad + x

    tracer.traced()
    with ag.autograd.graph.save_on_cpu(pin_memory=True):
        y = Keep.apply(x)
    assert tracer.state()["pins"] == 1
    y.backward(ag.ones(3, device="tracer"))
    assert seen == ["tracer:0"] and x.grad.tolist() == [2, 2, 2]
    assert ("copy", 0, 0, True) in tracer.traced()


def there_are_at_most_sixteen_types(tracer):
    for i in range(13):
        tracer.register(f"type{i}")
    raised(ValueError, lambda: tracer.register("type13"), "at most 16 types of devices")
    raised(RuntimeError, lambda: ag.device("type13"), "type13")
    assert ag.ones(2, device="type12:1").tolist() == [1, 1]
    devices.choose_accelerator("type3")
    assert acc.current_accelerator() == ag.device("type3") and ag.device(1).type == "type3"
    for name in ("cpu", "meta", "nothing"):
        raised(ValueError, lambda name=name: devices.choose_accelerator(name), "no accelerator")
    devices.choose_accelerator(None)
    assert acc.current_accelerator() is None and acc.device_count() == 0
    raised(RuntimeError, lambda: ag.ones(1, pin_memory=True), "requires a CUDA or other")
    devices.choose_accelerator("tracer")
    assert acc.current_accelerator() == ag.device("tracer")


def check(tracer, function):
    before = tracer.state()
    tracer.traced()
    try:
        function(tracer)
    finally:
        tracer.fail()
        tracer.set_busy(False)
        tracer.set_count(2)
        for stream in defaults:
            acc.set_stream(stream)
    gc.collect()
    assert tracer.state() == before


if __name__ == "__main__":
    module = tracing.load(sys.argv[1])
    raised(RuntimeError, acc.synchronize, "Cannot access accelerator device when none is")
    raised(RuntimeError, ag.ones(1).pin_memory, "Cannot access accelerator device when none is")
    assert acc.current_accelerator() is None and acc.memory_allocated() == 0
    module.register("tracer")
    defaults = [acc.current_stream(1), acc.current_stream(0)]
    found = {}
    for name, function in list(globals().items()):
        if getattr(function, "__module__", "") == "__main__" and name not in ("raised", "check"):
            try:
                check(module, function)
                found[name] = ""
            except BaseException:
                found[name] = traceback.format_exc()
    print(json.dumps(found))
