"""One rank on each of two hosts, which a network connects."""

import pytest
from faults_of_ranks import MESSAGES
from grouping import each
from hosts import two_hosts


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    with two_hosts(tmp_path_factory.mktemp("hosts")) as both:
        yield both


def test_each_host_has_one_rank_of_the_world(hosts):
    outcome = hosts.run("world")
    assert outcome.status == 0, outcome.text
    for rank, name in enumerate(hosts.names):
        line = f"{name}: RANK={rank}, WORLD_SIZE=2, LOCAL_RANK=0, LOCAL_WORLD_SIZE=1"
        assert line in outcome.text, outcome.text


def test_tensors_cross_the_network(hosts):
    before = hosts.bytes_between()
    outcome = hosts.run("traffic", 5)
    assert outcome.status == 0, outcome.text
    sent, received = (
        after - first for after, first in zip(hosts.bytes_between(), before, strict=True)
    )
    # A sum of 4 MB over two ranks sends and receives at least so many, five times.
    assert sent >= 20e6, (sent, received)
    assert received >= 20e6, (sent, received)


def test_a_thread_lets_reductions_between_hosts_go_on(hosts):
    outcome = hosts.run("background")
    assert outcome.status == 0, outcome.text
    assert outcome.text.count("went on by a thread") == 2, outcome.text


@each("fault", ["shape", "dtype", "skipped", "exits", "exception", "stopped", "computes"])
def test_a_fault_on_another_host_ends_the_job_with_its_message(hosts, fault):
    outcome = hosts.run("faults", fault, timeout=40)
    assert outcome.status != 0, outcome.text
    for part in MESSAGES[fault]:
        assert part in outcome.text, outcome.text[-4000:]
    assert outcome.text.count("autograd_cy.distributed: ") == 1, outcome.text
    assert any(f"on {name}" in outcome.text for name in hosts.names), outcome.text


@each("fault", ["killed", "killed_in_backward"])
def test_mpirun_names_the_host_of_a_rank_that_was_killed(hosts, fault):
    outcome = hosts.run("faults", fault, timeout=40)
    assert outcome.status != 0, outcome.text
    assert f"RUNNING AT {hosts.addresses[1]}" in outcome.text, outcome.text
