"""Claims of docs/devices.md: its device is built and used, its tables are complete."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from snippets import blocks

import autograd_cy as ag
from autograd_cy._C import devices
from ext.codegen import table

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/devices.md").read_text()
BLOCKS = list(blocks(PAGE))


def block(info):
    (found,) = [b.text for b in BLOCKS if b.info.endswith(info)]
    return found


def run(folder, *args):
    """A process that finds the package as this one does."""
    paths = [str(Path(ag.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    paths += [os.environ.get("AUTOGRAD_CY_PXD", ""), str(folder)]
    env = {**os.environ, "CFLAGS": "-O0", "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *args],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


# What more is said of services: this runs after the program of the page.
MORE = """
import threading

assert torch.accelerator.current_accelerator() == torch.device("mydevice")
assert torch.device(0) == torch.device("mydevice:0") == y.device
assert torch.empty(0, device="mydevice").tolist() == []
assert (table + torch.tensor(2.0))[0].tolist() == [2.0, 3.0]
assert torch.zeros(2, 2, device="mydevice").t().fill_(3).tolist() == [[3.0, 3.0], [3.0, 3.0]]
assert torch.memory_summary("mydevice:0") != torch.memory_summary()

for call, kind, words in (
    (lambda: torch.ones(2, device="mydevice:1"), RuntimeError, "invalid device ordinal"),
    (lambda: table.double(), NotImplementedError, "dtypes are converted on the CPU"),
    (lambda: torch.mm(table, table.t()), NotImplementedError, "mm: there is no kernel of"),
    (lambda: torch.ones(2).pin_memory(), RuntimeError, "when none is available"),
):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)

# The fault is that of the device, whichever thread asks, and is raised once.
torch.nn.functional.embedding(torch.tensor([9, 8]).to("mydevice"), table)
said = []

def ask():
    try:
        torch.accelerator.synchronize()
    except IndexError as error:
        said.append(str(error))

thread = threading.Thread(target=ask)
thread.start()
thread.join()
torch.accelerator.synchronize()
assert said == ["index out of range in self (embedding: index 9 in a table of 3 rows)"]

with torch.Stream("mydevice:0") as stream:
    event = stream.record_event()
    torch.accelerator.current_stream().wait_event(event)
    assert event.query() and stream.query()
del table, rows, more, x, y, call, event, stream
assert torch.accelerator.memory_allocated() == 0
"""


def test_the_device_of_the_page_is_built_and_computes(tmp_path):
    pytest.importorskip("Cython")
    (tmp_path / "mydevice.pyx").write_text(block("cython"))
    (tmp_path / "setup.py").write_text(block("a test builds it as setup.py"))
    run(tmp_path, "setup.py", "-q", "build_ext", "--inplace")
    program = block("a test runs it with the device above")
    (tmp_path / "program.py").write_text(program + MORE)
    printed = run(tmp_path, "program.py")
    said = [m.split("...")[0] for m in re.findall(r"(?:print\(.*\)  |^)# (.*)", program, re.M)]
    assert len(printed) == len(said) > 4
    for line, words in zip(printed, said):
        assert line.startswith(words)


def test_the_table_of_services_is_that_of_the_struct():
    header = (ROOT / "autograd_cy/_C/devices.pxd").read_text()
    struct = header.partition("cdef struct Services:")[2].partition("cdef Services services")[0]
    struct = re.sub(r" *#.*", "", struct)
    fields = ["size", "traits"]
    for name, taken in re.findall(r"\(\*(\w+)\)\(([^)]*)\)", struct):
        names = [part.split()[-1].strip("*") for part in taken.split(",") if part.strip()]
        fields.append(f"{name}({', '.join(names)})")
    rows = PAGE.partition("| service | contract |")[2].partition("\n\n")[0]
    said = [
        name for row in rows.splitlines()[2:] for name in re.findall("`(.*?)`", row.split("|")[1])
    ]
    assert sorted(said) == sorted(fields)


def slots_after(words):
    """The slots that a sentence names."""
    return set(re.findall(r"`(\w+)`", PAGE.partition(words)[2].partition(".")[0]))


def test_the_slots_that_are_named_are_all_there_are():
    known = devices.signatures()
    records = [r for family in table.load().values() for r in family]
    sized = {key.removesuffix(".sizes") for key in known if key.endswith(".sizes")}
    assert slots_after("Sized are") == sized
    drawing = {r.key for r in records if getattr(r.kernel, "draws", False)}
    named = slots_after("Slots that draw are")
    assert drawing and named == drawing
    for key in re.findall(r"`(_?\w+\.sizes|_fused_\w+_|_cumprod|arange)`", PAGE):
        assert key in known
