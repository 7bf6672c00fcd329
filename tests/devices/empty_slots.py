"""
For each slot, in a process of its own: a device without it, and what the operator's sample does.

    python empty_slots.py LIBRARY     # of hostdevice; prints one JSON object

Each value is ["same", ""] where composites of other kernels give the CPU's bits, ["error", type and
text], or ["wrong", what differs]. `elementwise NAME` stands for an elementwise kernel.
"""

import json
import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).parent)]

import building
from helpers import RECORDS, make, one_dtype, outputs
from proof import bits

import autograd_cy as ag
from autograd_cy._C import devices
from autograd_cy.ops import _schema as schema

BY_KEY = {r.key: r for r in RECORDS}


def slots():
    """{slot: (what `without` takes, record)} of all slots that some record with samples has."""
    found = {}
    for key in devices.signatures():
        record = BY_KEY.get(key.removesuffix(".sizes"))
        found[key] = (key, record)
    for r in RECORDS:
        if isinstance(r.kernel, schema.elementwise) and r.samples:
            found.setdefault(f"elementwise {r.kernel.name}", (r.kernel.name, r))
    return found


def outcome(record, place):
    from helpers import cases

    case = cases(lambda r: r is record)[0].values[0]
    call = make(case, one_dtype(record))
    ag.manual_seed(4)
    ins = [t if t is None else t.to(place) for t in call.tensors()]
    return [t if not isinstance(t, ag.Tensor) else bits(t) for t in outputs(call(ins))]


def verdict(module, without, record):
    if record is None or not record.samples:
        return "same", "no samples"
    module.register("late", without=(without,))
    try:
        got = outcome(record, "late")
    except Exception as error:
        return "error", f"{type(error).__name__}: {error}"
    return ("same", "") if got == outcome(record, "cpu") else ("wrong", "other bits")


def apart(module, without, record):
    """The verdict, found in a child of this process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = verdict(module, without, record)
        except BaseException as error:
            found = "wrong", repr(error)
        with os.fdopen(writer, "w") as out:
            json.dump(found, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as given:
        text = given.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(text) if text else ["wrong", f"the process ended with status {status}"]


if __name__ == "__main__":
    module = building.load(sys.argv[1])
    print(json.dumps({slot: apart(module, *given) for slot, given in slots().items()}))
