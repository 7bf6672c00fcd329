"""The parent's hold on one worker process: start, ask, time limit, restart after a crash."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

_WORKER = Path(__file__).with_name("worker.py")


def thread_environment(threads: int, bind: bool) -> dict[str, str]:
    """Return the environment variables that set the number of threads and their places.

    Parameters
    ----------
    threads : int
        Threads per library.
    bind : bool
        Whether OpenMP threads keep to one core each.

    Returns
    -------
    dict

    Examples
    --------
    >>> thread_environment(2, True)["OMP_PROC_BIND"]
    'true'
    """
    counts = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    environment = {name: str(threads) for name in counts}
    if bind:
        environment.update(OMP_PROC_BIND="true", OMP_PLACES="cores")
    return environment


class Side:
    """One library in a process of its own.

    Parameters
    ----------
    library : str
        Name of the module to import.
    python : str
        Interpreter to run it with.
    threads : int
        Threads that the library may use.
    environment : dict
        Environment variables to add.
    clock : {"wall", "cpu"}, optional
        Which time the worker takes.
    limit : float, optional
        Seconds after which an unanswered message counts as a hang.

    Examples
    --------
    >>> import sys
    >>> with Side("math", sys.executable, 1, {}) as side:
    ...     side.ask(do="hello")["status"]
    'ok'
    """

    def __init__(
        self,
        library: str,
        python: str,
        threads: int,
        environment: dict[str, str],
        clock: str = "wall",
        limit: float = 300.0,
    ) -> None:
        self.library = library
        self.python = python
        self._threads = threads
        self._clock = clock
        self._limit = limit
        self.environment = {**os.environ, **environment}
        self._process: subprocess.Popen | None = None
        self._log: Any = None
        self._pending = b""

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def ask(self, **message: Any) -> dict[str, Any]:
        """Send a message and return the answer.

        Parameters
        ----------
        **message
            ``do`` and its arguments, see ``worker.py``.

        Returns
        -------
        dict
            The worker's answer. A crash or a hang gives ``{"status": "crash", "note": ...}``, and
            the next message starts a fresh process.
        """
        try:
            if self._process is None:
                self._start()
                if message["do"] != "hello":
                    self._exchange({"do": "hello"})
            return self._exchange(message)
        except (EOFError, BrokenPipeError):
            return {"status": "crash", "note": self._end_of_process()}
        except TimeoutError:
            self._process.kill()
            self.stop()
            return {"status": "crash", "note": f"no answer within {self._limit:g} s"}

    def cpu_time(self) -> float:
        """Return the processor seconds that the worker has used.

        Returns
        -------
        float
            Zero where the system does not tell.
        """
        if self._process is None:
            return 0.0
        try:
            text = Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:
            return 0.0
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End the worker process, if there is one."""
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()
        try:
            process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._log.close()
        self._pending = b""

    def _start(self) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115, closed by stop
        self._process = subprocess.Popen(
            [self.python, str(_WORKER), self.library, str(self._threads), self._clock],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=self.environment,
        )

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        return json.loads(self._read_line())

    def _read_line(self) -> bytes:
        pipe = self._process.stdout.fileno()
        deadline = time.monotonic() + self._limit
        while b"\n" not in self._pending:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            chunk = os.read(pipe, 1 << 16)
            if not chunk:
                raise EOFError
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _end_of_process(self) -> str:
        """Say how the worker ended, with the last line it wrote to standard error."""
        code = self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        self.stop()
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"
        return f"worker {how}: {lines[-1]}" if lines else f"worker {how}"
