"""A worker: runs cases as it is told, and tells of each that it starts and how it ends.

Started by drive.py as ``python -m tests.fuzz.worker`` with two file descriptors. What a case prints
goes to the error file of the worker; if the worker dies, its last words are there too.
"""

import faulthandler
import gc
import importlib
import os
import resource
import signal
import sys
import traceback
import warnings
from multiprocessing.connection import Connection

from . import breakage, parts
from .case import Result, Wrong, random_numbers

MEMORY = 3 << 30  # bytes of address space that a worker may take beyond what it starts with


def limit_memory(extra=MEMORY):
    """From here on, asking for more than `extra` bytes more is a MemoryError."""
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + extra, resource.RLIM_INFINITY))


def check_modes(lib):
    """Nothing that a case has set may be left behind."""
    left = []
    if not lib.is_grad_enabled():
        left.append("gradients are off")
    if lib.is_inference_mode_enabled():
        left.append("inference mode is on")
    if lib.is_anomaly_enabled():
        left.append("anomaly mode is on")
    if lib.get_default_dtype() != lib.float32:
        left.append("the default dtype is another")
    if left:
        raise Wrong(f"after the case {', '.join(left)}")
    x = lib.ones(3, requires_grad=True)
    (x * x).sum().backward()
    if x.grad.tolist() != [2.0, 2.0, 2.0]:
        raise Wrong("after the case a backward gives wrong gradients")


def run_case(part, seed, number, lib, with_values):
    """(status, title, text, source, result) of one case."""
    module = parts.load(part)
    case = module.make(random_numbers(seed, part, number))
    try:
        result = module.run(case, lib)
        check_modes(lib)
    except Wrong as wrong:
        return wrong.kind, case.title, str(wrong), case.source(), None
    except MemoryError as error:
        if type(error).__module__.startswith("numpy"):  # a reference needs more than the library
            return "refused", case.title, "too large for the reference", "", None
        return "wrong", case.title, f"MemoryError: {error}", case.source(), None
    except Exception as error:
        last = "".join(traceback.format_exception(error)[-4:])
        name = type(error).__name__
        return "wrong", case.title, f"{name}: {error}\n{last}", case.source(), None
    source = case.source() if with_values else ""
    return result.status, case.title, result.text, source, result if with_values else None


def serve(connection, library):
    lib = importlib.import_module(library)
    if library == "autograd_cy":
        breakage.apply(lib, os.environ.get("AUTOGRAD_CY_FUZZ_BREAK", ""))
    limit_memory()
    while True:
        request = connection.recv()
        if request is None:
            return
        part, seed, numbers, with_values = request
        for number in numbers:
            connection.send(("start", number))
            status, title, text, source, result = run_case(part, seed, number, lib, with_values)
            try:
                connection.send(("end", number, status, title, text, source, result))
            except Exception as error:
                connection.send(("end", number, "wrong", title, repr(error), source, Result()))
        gc.collect()
        connection.send(("batch", None))


def main():
    read, write, library = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    warnings.simplefilter("ignore")
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    os.dup2(2, 1)
    os.environ["AUTOGRAD_CY_FUZZ_WORKER"] = "1"
    serve(_TwoWay(Connection(read, writable=False), Connection(write, readable=False)), library)


class _TwoWay:
    def __init__(self, source, target):
        self.recv, self.send = source.recv, target.send


if __name__ == "__main__":
    main()
