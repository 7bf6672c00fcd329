"""Hooks of pytest that print, in whatever process tests ran, which way the cases of the table went
and how many of the kernels that there are were launched."""

import re
import sys

import pytest
from emulator import control, places

WAYS = {}
LAUNCHED = set()


def note_launches():
    """To be called before the emulated driver forgets them."""
    LAUNCHED.update(control.launches())


def kernels():
    """Names of all kernels of this build, as its libraries export them."""
    found = set()
    for path in places.KERNELS.glob("*.fatbin"):
        library = places.BUILT / "images" / f"{path.stem}.so"
        names = re.findall(rb"\0emu_kernel_(\w+)(?=\0)", library.read_bytes())
        found.update(name.decode() for name in names)
    return found


def _mine():
    operators = sys.modules.get("operators")
    return dict(operators.COUNTS) if operators is not None else {}


def _add(counts):
    for key, n in counts.items():
        WAYS[key] = WAYS.get(key, 0) + n


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """A process of xdist sends its counts to the one that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["ways"] = [[list(k), n] for k, n in _mine().items()]
        session.config.workeroutput["launched"] = sorted(LAUNCHED)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    sent = getattr(node, "workeroutput", {})
    _add({tuple(k): n for k, n in sent.get("ways", [])})
    LAUNCHED.update(sent.get("launched", []))


def pytest_terminal_summary(terminalreporter):
    _add(_mine())
    if WAYS:
        terminalreporter.write_line(line(WAYS))
    there = kernels() if LAUNCHED and places.KERNELS.is_dir() else set()
    if there:
        never = sorted(there - LAUNCHED)
        terminalreporter.write_line(
            f"kernels of this build: {len(there)}, of them launched: {len(there) - len(never)}"
            + (f"; never {', '.join(never[:8])}{', ...' * (len(never) > 8)}" if never else "")
        )


def line(counts):
    """All in one line: by the device's kernels, by the host, and each form of both."""
    forms = dict.fromkeys(form for form, _ in counts if form != "host")
    device = {form: counts.get((form, "device"), 0) for form in forms}
    host = {form: counts.get((form, "host"), 0) for form in forms}
    each = ", ".join(f"{form} {device[form]} + {host[form]}" for form in forms)
    by_host = len([form for form, _ in counts if form == "host"])
    total = sum(device.values()) + sum(host.values())
    return (
        f"cases of the operator table on CUDA: {total}, of them {sum(device.values())} by kernels "
        f"of the device alone and {sum(host.values())} with some of {by_host} operators by the "
        f"host ({each})"
    )
