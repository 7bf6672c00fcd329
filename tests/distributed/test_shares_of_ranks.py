"""Threads of a rank: its processors and the quota of its container, divided by who shares them."""

import os
import socket

import pytest

from autograd_cy._environment import threads
from autograd_cy.distributed import _watch


class Comm:
    """The communicator of rank 0, whose other ranks have places of the test's."""

    def __init__(self, others):
        self.others = others

    def Dup(self):
        return self

    def Set_errhandler(self, handler):
        pass

    def Get_rank(self):
        return 0

    def Get_size(self):
        return 1 + len(self.others)

    def allgather(self, place):
        return [place, *((*other, ("", 0)) for other in self.others)]


def share(monkeypatch, mask, quota, *others):
    """Return the processors of rank 0; others are (host, mask, cgroup)."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(mask))
    monkeypatch.setattr(socket, "gethostname", lambda: "a")
    monkeypatch.setattr(_watch, "cpu_quota", lambda: quota)
    monkeypatch.setattr(_watch, "cgroup_path", lambda: "0:/job")
    members = {"COMM_WORLD": Comm(list(others)), "ERRORS_RETURN": None}
    members |= {"THREAD_MULTIPLE": 3, "Query_thread": staticmethod(lambda: 3)}
    mpi = type("MPI", (), members)
    return _watch.Watch(mpi, {}).processors


EIGHT, FOUR = tuple(range(8)), tuple(range(4))


@pytest.mark.parametrize(
    ("mask", "quota", "others", "processors"),
    [
        (EIGHT, None, [("a", EIGHT, "0:/job"), ("b", EIGHT, "0:/job")], 4),
        (FOUR, None, [("a", (4, 5, 6, 7), "0:/job")], 4),  # bound by the launcher
        ((0,), None, [("a", (0,), "0:/job")], 1),
        (EIGHT, 2.0, [("a", EIGHT, "0:/job")], 1),
        (EIGHT, 3.0, [("b", EIGHT, "0:/job"), ("a", EIGHT, "0:/other")], 3),
    ],
)
def test_ranks_divide_what_they_share(monkeypatch, mask, quota, others, processors):
    assert share(monkeypatch, mask, quota, *others) == processors


@pytest.mark.skipif(not os.path.exists("/proc/self/cgroup"), reason="needs cgroups of Linux")
def test_a_cgroup_has_one_name_in_all_its_processes():
    assert threads.cgroup_path() == threads.cgroup_path() != ""
