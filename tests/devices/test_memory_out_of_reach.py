"""Memory of the test device ends whoever touches it on the host, so that no proof is fooled."""

import signal
import subprocess
import sys
from pathlib import Path

import built_devices
import pytest

PROGRAM = """
import ctypes, faulthandler, sys
sys.path.insert(0, {here!r})
import built_devices
import autograd_cy as ag
device = built_devices.load({path!r})
device.register("late")
x = ag.arange(4.0, device="late")
assert x.tolist() == [0.0, 1.0, 2.0, 3.0]
address = x.data_ptr()
faulthandler.disable()
print("so far", flush=True)
{touch}
print("touched", flush=True)
"""
TOUCHES = {
    "read": "ctypes.string_at(address, 4)",
    "write": "ctypes.memset(address, 0, 4)",
    "read of the last byte": "ctypes.string_at(address + 15, 1)",
    "a view": "ctypes.string_at(x[2:].data_ptr(), 4)",
    "a kernel of the host": (
        "ag.frombuffer((ctypes.c_char * 16).from_address(address), dtype=ag.float32) + 1"
    ),
    "nothing": "",
}


@pytest.mark.skipif(not hasattr(signal, "SIGSEGV"), reason="no such signal")
@pytest.mark.parametrize("name", TOUCHES)
def test_the_host_is_ended_when_it_touches_memory_of_the_device(hostdevice, name):
    program = PROGRAM.format(
        here=str(Path(__file__).parent), path=hostdevice.__file__, touch=TOUCHES[name]
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env=built_devices.environment(),
        capture_output=True,
        text=True,
    )
    if name == "nothing":
        assert run.returncode == 0 and "touched" in run.stdout
    else:
        assert run.returncode == -signal.SIGSEGV and run.stdout == "so far\n", run.stderr
