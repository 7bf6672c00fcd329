"""Two hosts of one machine: network namespaces with a link between them, and names of their own."""

import contextlib
import json
import os
import shutil
import subprocess
import time

import pytest
import ranks

PROGRAMS = ("ip", "unshare", "hostname")
# MPICH's mpirun calls it as it calls ssh: [-x] address command.
LAUNCHER = """#!/bin/sh
[ "$1" = -x ] && shift
address=$1
shift
case $address in
{cases}
esac
exec ip netns exec "$space" unshare --uts sh -c "hostname $space; exec $*"
"""


class TwoHosts:
    """Runs programs with one rank on each host, and counts the bytes between them."""

    def __init__(self, folder):
        number = os.getpid() % 250
        self.names = [f"host{letter}-{os.getpid()}" for letter in "ab"]
        self.links = [f"veth{letter}{os.getpid()}" for letter in "ab"]
        self.addresses = [f"10.213.{number}.{last}" for last in (1, 2)]
        self.script = folder / "launch"

    def start(self):
        """Make the namespaces and the link; raises CalledProcessError where they aren't allowed."""
        for name in self.names:
            _ip("netns", "add", name)
        (host, other), (link, end) = self.names, self.links
        _ip("-n", host, "link", "add", link, "type", "veth", "peer", "name", end, "netns", other)
        for name, link, address in zip(self.names, self.links, self.addresses, strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", link)
            _ip("-n", name, "link", "set", "lo", "up")
            _ip("-n", name, "link", "set", link, "up")
        until = time.monotonic() + 10
        while time.monotonic() < until and not self._is_up():
            time.sleep(0.05)
        cases = "\n".join(
            f"    {address}) space={name} ;;"
            for address, name in zip(self.addresses, self.names, strict=True)
        )
        self.script.write_text(LAUNCHER.format(cases=cases))
        self.script.chmod(0o755)

    def _is_up(self):
        """Return whether MPI would find the link usable in both namespaces."""
        states = [
            json.loads(_ip("-n", name, "-j", "link", "show", link))[0]["operstate"]
            for name, link in zip(self.names, self.links, strict=True)
        ]
        return states == ["UP", "UP"]

    def stop(self):
        """Remove the namespaces, and the link with them."""
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)

    def bytes_between(self):
        """Return the bytes that have left the first host and come to it."""
        text = _ip("-n", self.names[0], "-s", "-j", "link", "show", self.links[0])
        counters = json.loads(text)[0]["stats64"]
        return counters["tx"]["bytes"], counters["rx"]["bytes"]

    def run(self, program, *arguments, timeout=60, **environment):
        """Run a program in two ranks, one on each host, by MPICH's mpirun on the first one."""
        script = str(ranks.PROGRAMS / f"{program}.py")
        command, variables = ranks.mpi_launcher.command_of(
            ranks.launcher(), 2, [script, *map(str, arguments)]
        )
        options = ["-launcher", "ssh", "-launcher-exec", str(self.script), "-ppn", "1"]
        options += ["-hosts", ",".join(self.addresses), "-localhost", self.addresses[0]]
        command[1:1] = options
        # The hosts share a kernel: without this, ranks would find each other's memory.
        variables |= ranks.variables_of_ranks() | {"UCX_TLS": "self,tcp"} | environment
        name = self.names[0]
        line = f'hostname {name}; exec "$@"'
        inside = ["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c", line, "sh", *command]
        return ranks.finish(inside, variables, timeout)


def _ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=True)
    return done.stdout


@contextlib.contextmanager
def two_hosts(folder):
    """Two hosts for MPICH's mpirun; where they can't be made, the test is skipped."""
    starter = ranks.launcher()
    if isinstance(starter, str):
        pytest.skip(starter)
    if starter.vendor != "MPICH":
        pytest.skip(f"two hosts are made for MPICH's mpirun, and mpi4py uses {starter.vendor}")
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        pytest.skip(f"{', '.join(absent)} are missing: apt-get install iproute2 util-linux")
    hosts = TwoHosts(folder)
    try:
        try:
            hosts.start()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces can be made: {error.stderr.strip()}")
        yield hosts
    finally:
        hosts.stop()
