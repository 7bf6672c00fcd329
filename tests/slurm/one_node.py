"""A SLURM of one node, this machine, for the time of a command or of the tests:

    apt-get install slurm-wlm munge      # Debian; no service needs to run
    python tests/slurm/one_node.py srun -n 2 hostname
    python tests/slurm/one_node.py --missing         # says what is missing

Its folder, ports and key are its own, so that it runs beside another SLURM. It needs root, as the
daemon of a node does, and ends by the ids of its processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEMPLATE = Path(__file__).with_name("slurm.conf")
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "scontrol", "squeue")
# Daemons stand outside of a user's PATH.
FOLDERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])


def missing() -> str:
    """Return the reason why no SLURM can be started here, an empty text if one can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=FOLDERS) is None]
    if absent:
        return f"SLURM's {', '.join(absent)} are missing: apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return "SLURM's daemons are started by root"
    return ""


def _end_with_parent() -> None:
    """Have the kernel end this process when its parent is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class OneNode:
    """A running SLURM; ``variables`` make its commands find it.

    Raises
    ------
    RuntimeError
        If it isn't ready in time, with what its daemons have written.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))  # sockets: short paths
        self.folder.chmod(0o755)
        self.variables = {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": FOLDERS,
        }
        self._daemons: list[subprocess.Popen[bytes]] = []
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        controller, node = _free_ports(2)
        text = TEMPLATE.read_text().format(
            host=socket.gethostname().partition(".")[0],
            folder=self.folder,
            controller_port=controller,
            node_port=node,
            first_job=1 + time.time_ns() // 10**8 % 60_000_000,
        )
        (self.folder / "slurm.conf").write_text(text)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(os.urandom(128))
        at = self.folder
        self._daemon(
            *("munged", "--foreground", "--force", "--num-threads=2", f"--key-file={key}"),
            *(f"--socket={at}/munge.socket", f"--pid-file={at}/munged.pid"),
            *(f"--log-file={at}/munged.log", f"--seed-file={at}/munge.seed"),
        )
        self._wait(lambda: (at / "munge.socket").exists())
        self._daemon("slurmctld", "-D", "-i")
        self._daemon("slurmd", "-D")
        self._wait(lambda: self.ask("sinfo", "-h", "-o", "%T").strip() == "idle")

    def _daemon(self, *command: str) -> None:
        with (self.folder / f"{command[0]}.out").open("wb") as output:
            process = subprocess.Popen(
                [shutil.which(command[0], path=FOLDERS) or command[0], *command[1:]],
                env=os.environ | self.variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        self._daemons.append(process)

    def _wait(self, is_ready) -> None:
        until = time.monotonic() + 30
        while not is_ready():
            ended = [daemon.args for daemon in self._daemons if daemon.poll() is not None]
            if ended or time.monotonic() > until:
                raise RuntimeError(f"SLURM doesn't start; {ended} ended:\n{self.log()}")
            time.sleep(0.1)

    def log(self) -> str:
        """Return the last words of the daemons."""
        return "\n".join(
            f"{path.name}: {path.read_text(errors='replace')[-2000:]}"
            for path in sorted(self.folder.glob("*.out"))
        )

    def ask(self, *command: str) -> str:
        """Return the output of a command of SLURM, empty if it fails."""
        done = subprocess.run(
            command, env=os.environ | self.variables, capture_output=True, text=True, timeout=30
        )
        return done.stdout if done.returncode == 0 else ""

    def stop(self) -> None:
        """End the jobs and the daemons, and remove the folder."""
        if len(self._daemons) == 3:
            self.ask("scancel", "--signal=KILL", "--user=root")
            self.ask("scancel", "--user=root")
            until = time.monotonic() + 15
            while self.ask("squeue", "-h").strip() and time.monotonic() < until:
                time.sleep(0.2)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> OneNode:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def main(command: list[str]) -> int:
    """Run a command beside a SLURM, and return its exit status."""
    reason = missing()
    if command == ["--missing"]:
        print(f"jobs of SLURM are not tested: {reason}" if reason else "SLURM: all is there")
        return 0
    if reason or not command:
        sys.stderr.write(f"{reason or __doc__}\n")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with OneNode() as node:
        return subprocess.run(command, env=os.environ | node.variables).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
