"""A process that has used a GPU ends with its own status, silently, in each order of teardown."""

import pytest
from core_scripts import run, told

# Everything that may be alive at exit: tensors, graphs, streams, events, pinned memory, work.
USE = """
    x = torch.arange(8.0, device="cpu").to("cuda").requires_grad_()
    y = (x * x + 1).sum()
    s = torch.cuda.Stream()
    e = torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(s):
        s.wait_stream(torch.cuda.default_stream())
        z = x.detach() * 2
        e.record()
    x.detach().record_stream(s)
    p = torch.ones(1000).pin_memory()
    q = p.to("cuda", non_blocking=True)
"""

ENDINGS = {
    "as it is": "",
    "after a synchronisation": "torch.cuda.synchronize()",
    "with all deleted": "del x, y, s, e, z, p, q",
    "with streams deleted first": "del s, e; torch.cuda.empty_cache()",
    "in a cycle": "class Node: pass\nn = Node(); n.me = n; n.kept = (x, y, s, e, z, p, q)",
    "kept by builtins": "import builtins; builtins.kept = [x, y, s, e, z, p, q]",
    "kept by sys": "sys.kept = [x, y, s, e, z, p, q]",
    "kept by a module that was removed": (
        "import types; m = types.ModuleType('m'); m.kept = (x, s, p); sys.modules['m'] = m\n"
        "del x, s, p"
    ),
    "without PyCUDA's modules": (
        "for name in [n for n in sys.modules if n.startswith('pycuda')]: del sys.modules[name]"
    ),
    "without our modules": (
        "for name in [n for n in sys.modules if n.startswith('autograd_cy')]: del sys.modules[name]"
    ),
    "by sys.exit": "sys.exit(0)",
    "by os._exit": "import os; sys.stdout.flush(); os._exit(0)",
    "with use in a handler": (
        "import atexit\n@atexit.register\ndef late(): print((x.detach() + 1).tolist())"
    ),
    "with use in a destructor": (
        "class Late:\n    def __del__(self): torch.cuda.synchronize()\nkept = Late()"
    ),
    "with the collector off": "import gc; gc.disable(); c = [x, s, p]; c.append(c)",
}


def indented(text):
    return "\n".join("    " + line for line in text.splitlines())


@pytest.mark.parametrize("ending", ENDINGS)
def test_exit_is_silent(ending):
    told(USE + indented(ENDINGS[ending]))


def test_handlers_that_were_registered_before_the_import_may_use_the_gpu():
    out = told(
        "print(float(kept[0].sum()))\n",
        begin="""
import atexit
kept = []
@atexit.register
def last():
    print((kept[0] * 2).sum().item())
import autograd_cy as torch
kept.append(torch.ones(4).to("cuda"))
""",
    )
    assert out.split() == ["4.0", "8.0"]


def test_an_exception_is_the_only_thing_on_standard_error():
    status, _, err = run(USE + "    raise KeyError('mine')")
    assert status == 1
    lines = err.splitlines()
    assert lines[0].startswith("Traceback") and lines[-1] == "KeyError: 'mine'"
    assert len(lines) <= 5, err


def test_a_failed_backward_ends_as_any_exception():
    status, _, err = run(
        """
        x = torch.ones(3, requires_grad=True).to("cuda")
        class Bad(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x): return x * 2
            @staticmethod
            def backward(ctx, g): raise ValueError("in backward")
        Bad.apply(x).sum().backward()
        """
    )
    assert status == 1 and err.splitlines()[-1] == "ValueError: in backward", err


WORK = """
import threading
kept = []
def work():
    x = torch.ones(64).to("cuda")
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        s.wait_stream(torch.cuda.default_stream())
        y = x * 3
        s.synchronize()
    kept.append((x, y, s, x.cpu().pin_memory()))
    del kept[:-3]
"""

THREADS = {
    "that has ended": "t = threading.Thread(target=work); t.start(); t.join()",
    "that starts the GPU": "t = threading.Thread(target=work); t.start(); t.join(); kept.clear()",
    "of many": "ts = [threading.Thread(target=work) for _ in range(8)]\n"
    "[t.start() for t in ts]; [t.join() for t in ts]",
    "that isn't joined": "threading.Thread(target=work).start()",
    "that is a daemon": (
        "def forever():\n"
        "    while True: work()\n"
        "threading.Thread(target=forever, daemon=True).start(); import time; time.sleep(0.2)"
    ),
    "that raises": (
        "def bad():\n"
        "    work(); raise SystemExit\n"
        "t = threading.Thread(target=bad); t.start(); t.join()"
    ),
    "of a pool": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "pool = ThreadPoolExecutor(3); list(pool.map(lambda i: work(), range(9)))"
    ),
}


@pytest.mark.parametrize("kind", THREADS)
@pytest.mark.parametrize("first", ["main", "thread"])
def test_exit_with_a_thread(kind, first):
    told(WORK + ("work()\n" if first == "main" else "") + THREADS[kind])


PYCUDAS_OWN = ("PyCUDA WARNING: a clean-up operation failed", "cuCtxDetach failed")

OTHERS = {
    "PyCUDA's primary context, before": (
        "import pycuda.autoprimaryctx as mine\nimport autograd_cy as torch\n",
        "x = torch.ones(3).to('cuda'); print((x + 1).tolist())",
    ),
    "PyCUDA's primary context, after": (
        "import autograd_cy as torch\n",
        "x = torch.ones(3).to('cuda') + 1\n"
        "import pycuda.driver as d; d.init(); c = d.Device(0).retain_primary_context(); c.push()\n"
        "import atexit; atexit.register(c.pop)\n"
        "s = d.Stream(); a = d.mem_alloc(100); print((x * 1).tolist())\n",
    ),
    "a library that makes the context current by the driver": (
        """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
ctx = ctypes.c_void_p()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0) == 0
assert cuda.cuCtxSetCurrent(ctx) == 0
import atexit
@atexit.register
def end():
    cuda.cuDevicePrimaryCtxRelease_v2(0)
import autograd_cy as torch
""",
        "x = torch.ones(3).to('cuda'); print((x + 1).tolist())",
    ),
    "a library that resets nothing and ends first": (
        """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
import autograd_cy as torch
""",
        "x = torch.ones(3).to('cuda') + 1\n"
        "ctx = ctypes.c_void_p(); cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0)\n"
        "now = ctypes.c_void_p(); cuda.cuCtxGetCurrent(ctypes.byref(now))\n"
        "assert now.value == ctx.value\n"
        "cuda.cuDevicePrimaryCtxRelease_v2(0); print((x * 1).tolist())\n",
    ),
}


@pytest.mark.parametrize("other", OTHERS)
def test_exit_with_another_user_of_the_context(other):
    begin, script = OTHERS[other]
    status, out, err = run(script, begin=begin)
    assert (status, out.strip()) == (0, "[2.0, 2.0, 2.0]"), err
    # PyCUDA destroys its user's primary contexts by the wrong function, and says that this failed;
    # it does so without us, too.
    lines = [line for line in err.splitlines() if not line.startswith(PYCUDAS_OWN)]
    assert not lines, err


def test_the_context_is_the_primary_one_and_no_thread_keeps_it_pushed():
    out = told(
        """
        import ctypes
        x = torch.ones(3).to("cuda")
        torch.cuda.Stream(); (x + 1).tolist()
        from autograd_cy._C import cuda_driver
        cuda = ctypes.CDLL("libcuda.so.1")
        ctx = ctypes.c_void_p(); cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0)
        print(cuda_driver.primary_context(0).handle == ctx.value)
        # PyCUDA's stack is empty: there is nothing to pop.
        import pycuda.driver as d
        try:
            d.Context.pop()
        except d.LogicError as error:
            print("cannot pop" in str(error))
        """
    )
    assert out.split() == ["True", "True"]


def test_nothing_of_cuda_is_touched_by_the_import():
    out = told(
        """
        import os
        torch.ones(3, requires_grad=True).sum().backward()
        print([m for m in sys.modules if "pycuda" in m or "_C.cuda_" in m])
        print("libcuda" in open("/proc/self/maps").read())
        """
    )
    assert out.split("\n")[:2] == ["[]", "False"]
