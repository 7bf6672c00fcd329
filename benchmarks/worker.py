"""The process that runs one library's cases.

Started by ``side.py`` as ``python worker.py LIBRARY THREADS CLOCK``. It reads one JSON message per
line and answers each with one line: ``hello``, ``prepare``, ``sample``, ``drop``. Whatever the
library prints goes to standard error, so that it cannot garble the answers.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any, TextIO

if __name__ == "__main__":
    # Run as a file: an installed library comes before a folder of the same name beside this one.
    _HERE = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [*(path for path in sys.path if path != _HERE), os.path.dirname(_HERE)]

from benchmarks import case as cases
from benchmarks import digest, timing

_SUBMODULES = ("nn", "nn.functional", "optim")


class Worker:
    """Run cases of one library on request.

    Parameters
    ----------
    library : str
        Name of the module that stands for torch.
    threads : int
        Threads that the library may use.
    clock : {"wall", "cpu"}, optional
        Which time to take.

    Examples
    --------
    >>> Worker("math", 1).answer({"do": "drop"})
    {'status': 'ok'}
    """

    def __init__(self, library: str, threads: int, clock: str = "wall") -> None:
        self._library = library
        self._threads = threads
        self._clock = clock
        self._torch: Any = None
        self._loop: timing.Loop | None = None
        self._cost = 0.0
        self._costs: dict[bool, float] = {}

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Carry out one message and return the answer.

        Parameters
        ----------
        message : dict
            ``do`` names what to do; the other entries are its arguments.

        Returns
        -------
        dict
            ``status`` is ``"ok"``, ``"missing"`` (the library has no such thing) or ``"error"``;
            the latter two come with a ``note``.
        """
        arguments = {name: value for name, value in message.items() if name != "do"}
        action = {
            "hello": self.hello,
            "prepare": self.prepare,
            "sample": self.sample,
            "drop": self.drop,
        }[message["do"]]
        try:
            return {"status": "ok", **action(**arguments)}
        except (AttributeError, NotImplementedError, ImportError) as error:
            traceback.print_exc()
            return {"status": "missing", "note": _one_line(error)}
        except Exception as error:
            traceback.print_exc()
            return {"status": "error", "note": _one_line(error)}

    def hello(self) -> dict[str, Any]:
        """Import the library and describe it.

        Returns
        -------
        dict
        """
        self._torch = importlib.import_module(self._library)
        for name in _SUBMODULES:
            _import_if_there(f"{self._library}.{name}")
        _call_if_there(self._torch, "set_num_threads", self._threads)
        gc.freeze()  # keeps the collections between samples short: they need not look at modules
        numpy = sys.modules.get("numpy")
        return {
            "version": str(getattr(self._torch, "__version__", "unknown")),
            "python": platform.python_version(),
            "numpy": getattr(numpy, "__version__", None),
            "threads": _call_if_there(self._torch, "get_num_threads"),
        }

    def prepare(self, group: str, name: str, least: float) -> dict[str, Any]:
        """Set a case up, run it once for its result, and find the length of its loop.

        Parameters
        ----------
        group, name : str
            The case.
        least : float
            Seconds that a sample should take.

        Returns
        -------
        dict
            The result's digest, the loop length and a first estimate of the time per call.
        """
        self.drop()
        case = next(case for case in cases.load_group(group).CASES if case.name == name)
        made = case.setup(self._torch)
        if case.statement is None:
            statement, names = "function()", {"function": made}
            result = made()
        else:
            statement, names = case.statement, dict(made)
            result = _evaluate(statement, names)
        digested = digest.digest(result)
        del result, made
        self._cost = self._loop_cost(case.statement is None)
        self._loop = timing.compile_loop(statement, names, self._clock)
        self._count = timing.autorange(self._loop, least)
        first = timing.take_samples(self._loop, self._count, 1, self._cost)
        return {"result": digested, "count": self._count, "estimate": first[0]}

    def sample(self, samples: int) -> dict[str, Any]:
        """Take samples of the prepared case.

        Parameters
        ----------
        samples : int
            How many.

        Returns
        -------
        dict
            Seconds per call, one number per sample.
        """
        gc.collect()
        return {"samples": timing.take_samples(self._loop, self._count, samples, self._cost)}

    def drop(self) -> dict[str, Any]:
        """Free what the prepared case holds.

        Returns
        -------
        dict
        """
        self._loop = None
        gc.collect()
        return {}

    def _loop_cost(self, with_call: bool) -> float:
        if with_call not in self._costs:
            code = ("function()", {"function": timing.nothing}) if with_call else ("pass", {})
            self._costs[with_call] = timing.loop_cost(*code)
        return self._costs[with_call]


def serve(answer: Callable[[dict], dict], lines: Iterable[str], out: TextIO) -> None:
    """Answer messages until the input ends.

    Parameters
    ----------
    answer : callable
        Turns a message into an answer.
    lines : iterable of str
        One JSON message each.
    out : text file
        Where the answers go.

    Examples
    --------
    >>> serve(lambda message: {"got": message["do"]}, ['{"do": "hello"}'], sys.stdout)
    {"got": "hello"}
    """
    for line in lines:
        out.write(json.dumps(answer(json.loads(line))) + "\n")
        out.flush()


def _evaluate(statement: str, names: dict[str, Any]) -> Any:
    try:
        code = compile(statement, "<benchmark>", "eval")
    except SyntaxError:
        exec(statement, dict(names))
        return None
    return eval(code, dict(names))


def _import_if_there(name: str) -> None:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)


def _call_if_there(owner: Any, name: str, *arguments: Any) -> Any:
    function = getattr(owner, name, None)
    return function(*arguments) if function is not None else None


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def main() -> None:
    """Serve the process that started this one.

    Examples
    --------
    >>> callable(main)
    True
    """
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    serve(worker.answer, sys.stdin, out)


if __name__ == "__main__":
    main()
