"""The functions of `accelerator`, and pinned memory, in a process with one accelerator."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tracing import ROOT, built, tracer  # noqa: F401 - fixtures

import autograd_cy as ag
from autograd_cy._C import devices

PROGRAM = Path(__file__).with_name("alone.py")


def test_a_process_with_one_accelerator(built):
    paths = [str(ROOT), str(PROGRAM.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    run = subprocess.run(
        [sys.executable, str(PROGRAM), str(built)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    found = json.loads(run.stdout)
    assert len(found) == 14
    failed = {name: error for name, error in found.items() if error}
    assert not failed, "\n".join(failed.values())


def test_without_an_accelerator():
    """The errors are torch's, whatever other tests have registered here."""
    code = (
        "import autograd_cy as ag\n"
        "acc, found = ag.accelerator, []\n"
        "for call in (acc.synchronize, acc.current_stream, acc.current_device_index,\n"
        "             lambda: acc.set_device_index(0), lambda: ag.ones(1).pin_memory(),\n"
        "             lambda: acc.device_index(0).__enter__()):\n"
        "    try:\n"
        "        call()\n"
        "    except RuntimeError as error:\n"
        "        found.append(str(error))\n"
        "assert len(found) == 6\n"
        "words = 'Cannot access accelerator device when none is available.'\n"
        "assert all(words in x for x in found)\n"
        "assert acc.device_count() == 0 and not acc.is_available()\n"
        "assert acc.current_accelerator() is None and not ag.ones(1).is_pinned()\n"
        "assert ag.Stream().device == ag.device('cpu') == ag.Event().device\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


def test_what_the_accelerator_module_lacks_is_an_error():
    with pytest.raises(AttributeError, match="has no attribute 'Graph'"):
        ag.accelerator.Graph


def test_another_type_may_be_the_accelerator(tracer):
    """The type that numbers, pinned memory and torch.accelerator mean."""
    devices.choose_accelerator("bare")
    assert ag.accelerator.current_accelerator() == ag.device("bare")
    assert ag.device(1) == ag.device("bare:1")
    with pytest.raises(
        RuntimeError, match="no accelerator that pins memory|when none is available"
    ):
        ag.ones(2).pin_memory()
    devices.choose_accelerator("tracer")
    assert ag.ones(2).pin_memory().is_pinned() and ag.device(1) == ag.device("tracer:1")
    devices.choose_accelerator(None)
    assert not ag.accelerator.is_available()
    for name in ("nothing", "meta", "cpu"):
        with pytest.raises(ValueError, match="there is no accelerator of that name"):
            devices.choose_accelerator(name)
