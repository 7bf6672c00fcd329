"""Hooks of pytest that print which way the cases of the table went, in whatever process."""

import sys

import pytest

TOTAL = {}


def _mine():
    operators = sys.modules.get("operators")
    return dict(operators.COUNTS) if operators is not None else {}


def _add(counts):
    for key, n in counts.items():
        TOTAL[tuple(key)] = TOTAL.get(tuple(key), 0) + n


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """A process of xdist sends its counts to the one that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["ways"] = [[list(k), n] for k, n in _mine().items()]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    _add({tuple(k): n for k, n in getattr(node, "workeroutput", {}).get("ways", [])})


def pytest_terminal_summary(terminalreporter):
    _add(_mine())
    if TOTAL:
        terminalreporter.write_line(line(TOTAL))


def line(counts):
    """All in one line: by the device's kernels, by the host, and each form of both."""
    forms = dict.fromkeys(form for form, way in counts if form != "host")
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
