"""
Run samples of the operator table in threads with small stacks; see test_op_small_stacks.py.

    python small_stacks.py BYTES FIRST STEP

Prints each case before it runs, as a crash leaves no other trace.
"""

import contextlib
import os
import sys
import threading
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What operators import at first use: to compile a module, Python needs more stack than these
# threads have.
import scipy.fft
import scipy.linalg
import scipy.special  # noqa: F401
from calls import CLASS_OF, cases, claimed, differentiable, make, outputs

import autograd_cy as ag


def run(call, grad):
    found = [t for t in outputs(call(call.tensors(grad))) if t.requires_grad]
    if found:
        sums = [t.abs().sum() if t.is_complex() else t.sum() for t in found]
        ag.autograd.backward(sums)


def quietly(call, grad):
    # What is refused, is refused on any stack.
    with contextlib.suppress(RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
        run(call, grad)


def main(size, first, step):
    warnings.simplefilter("ignore")
    ag.set_num_threads(1)
    threading.stack_size(size)
    jobs = [(p.values[0], name) for p in cases() for name in claimed(p.values[0].record)]
    for case, name in jobs[first::step]:
        record = case.record
        grad = CLASS_OF[name] in "hfc" and isinstance(record.derivatives.vjp, dict)
        os.write(1, f"{case.id} {name}\n".encode())
        try:
            call = make(case, name)
        except ValueError:
            continue
        thread = threading.Thread(
            target=quietly, args=(call, grad and bool(differentiable(record)))
        )
        thread.start()
        thread.join()
    os.write(1, b"done\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
