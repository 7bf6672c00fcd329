"""
Python programs in processes of their own: `run` is `subprocess.run` of this interpreter, but quick.

Most of what a short program needs is Python's start and the import of NumPy. One process has both
behind it and forks for each program, which imports autograd_cy itself: its variables are read, its
threads started and its exit handlers run as in any process. What would see a difference (options
of Python, as words or as variables) gets a new process; other variables, another one that forks.
"""

import atexit
import contextlib
import functools
import gc
import json
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import types
from typing import ClassVar

SIZE = struct.Struct("q")
# Of the package and the tests; other variables may have been read before a program starts.
OURS = ("AUTOGRAD_CY_", "OMP_", "GOMP_", "PYTHONPATH", "OMPI_COMM_", "MOVED", "PYTEST_")


def run(*command, env=None, cwd=None, timeout=120):
    """
    Run Python with a command line, as in ``run("-c", text, "argument")``.

    Parameters
    ----------
    *command
        What stands behind the interpreter's name.
    env : dict, optional
        All variables of the program; those of this process by default.
    cwd : path, optional
        Its folder.
    timeout : float
        Seconds; then it is killed and `subprocess.TimeoutExpired` is raised.

    Returns
    -------
    subprocess.CompletedProcess
        With the text of both outputs.
    """
    command = [str(word) for word in command]
    env = dict(os.environ if env is None else env)
    with contextlib.ExitStack() as stack:
        if not forks(command, env):
            return subprocess.run(
                [sys.executable, *command],
                env=env,
                cwd=cwd,
                timeout=timeout,
                text=True,
                stdin=subprocess.DEVNULL,
                capture_output=True,
            )
        outputs = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
        folder = os.fspath(cwd or os.getcwd())
        status = Nursery.get(env).run(command, env, folder, outputs, timeout)
        texts = []
        for file in outputs:
            file.seek(0)
            texts.append(file.read().decode())
        return subprocess.CompletedProcess([sys.executable, *command], status, *texts)


TESTS = """
import importlib, itertools, sys
file, *names = sys.argv[1:]
folder, _, name = file.rpartition("/")
sys.path[:0] = [folder, {tests!r}]
module = importlib.import_module(name.removesuffix(".py"))
for name in names:
    test = getattr(module, name)
    given = []
    for mark in getattr(test, "pytestmark", ()):
        assert mark.name == "parametrize", mark
        words, values = mark.args
        words = [w.strip() for w in words.split(",")] if isinstance(words, str) else words
        given.append([dict(zip(words, v if len(words) > 1 else (v,), strict=True)) for v in values])
    for parts in itertools.product(*given):
        values = {{k: v for part in parts for k, v in part.items()}}
        try:
            test(**values)
        except BaseException:
            print("failed:", name, values, file=sys.stderr)
            raise
        print("passed:", name)
"""


def run_tests(file, names, timeout=600, **variables):
    """
    Run tests of a file once more, in a process with other variables; raises if one fails.

    They have no fixtures, and no marks but `parametrize` of plain values. Returns their number.
    """
    text = TESTS.format(tests=os.path.dirname(os.path.abspath(__file__)))
    done = run("-c", text, file, *names, env=os.environ | variables, timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
    count = done.stdout.count("passed: ")
    assert count >= len(names), done.stdout
    return count


def forks(command, env):
    """Return whether the program sees no difference: no options, and nothing that was read
    before."""
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        return False
    if of_python(env) != of_python(os.environ):
        return False
    return command[0] in ("-c", "-m") or not command[0].startswith("-")


def of_python(env):
    """Return the options as variables."""
    return {k: v for k, v in env.items() if k.startswith("PYTHON") and k != "PYTHONPATH"}


def early(env):
    """The variables that may be read before a program starts."""
    return {name: value for name, value in env.items() if not name.startswith(OURS)}


@functools.cache
def bytecode():
    """A folder for what programs compile: Python may have been told to leave nothing in ours."""
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    atexit.register(folder.cleanup)
    return folder.name


class Nursery:
    """The process that forks, for programs that begin with the same variables."""

    many = 3  # at once: a test may change variables, and so may what a test imports
    all: ClassVar[dict] = {}
    lock = threading.Lock()

    @classmethod
    def get(cls, env):
        """Return the server of this process for these variables."""
        # A forked child of this process makes its own.
        key = os.getpid(), frozenset(early(env).items())
        with cls.lock:
            found = cls.all.pop(key, None)
            if found is None:
                while len(cls.all) >= cls.many:
                    cls.all.pop(next(iter(cls.all))).end()
                found = cls(env)
            cls.all[key] = found  # the last one used is the last to go
        return found

    def __init__(self, env):
        self.owner = os.getpid()
        self.busy = threading.Lock()
        self.connection, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno()), bytecode()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=env,
            )
        atexit.register(self.end)

    def end(self):
        with self.busy:
            self.connection.close()
            if self.owner == os.getpid():
                self.process.wait()

    def run(self, command, env, folder, outputs, timeout):
        """Run a program; its exit status as `subprocess` has it."""
        text = json.dumps([command, env, folder]).encode()
        with self.busy:
            fds = [file.fileno() for file in outputs]
            socket.send_fds(self.connection, [SIZE.pack(len(text))], fds)
            self.connection.sendall(text)
            pid = self.answer()
            self.connection.settimeout(timeout)
            try:
                return os.waitstatus_to_exitcode(self.answer())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self.connection.settimeout(None)
                self.answer()
                raise subprocess.TimeoutExpired(command, timeout) from None
            finally:
                self.connection.settimeout(None)

    def answer(self):
        found = self.connection.recv(SIZE.size, socket.MSG_WAITALL)
        if len(found) < SIZE.size:
            raise RuntimeError("the process that starts programs has ended")
        return SIZE.unpack(found)[0]


def serve(connection):
    """Wait for programs, in the process that forks; returns one in each child, None at the end."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is for the tests
    gc.freeze()
    while True:
        head, fds, *_ = socket.recv_fds(connection, SIZE.size, 2)
        if len(head) < SIZE.size:
            return None
        size = SIZE.unpack(head)[0]
        text = connection.recv(size, socket.MSG_WAITALL)
        pid = os.fork()
        if not pid:
            connection.close()
            for number, fd in enumerate(fds, 1):
                os.dup2(fd, number)
                os.close(fd)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return json.loads(text)
        for fd in fds:
            os.close(fd)
        connection.sendall(SIZE.pack(pid))
        connection.sendall(SIZE.pack(os.waitpid(pid, 0)[1]))


def become(command, env, folder):
    """Run a program as Python would with this command line."""
    old = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    rest = [path for path in sys.path[1:] if path not in old]
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    kind, text, *_ = [*command, None]
    first = {"-c": "", "-m": os.getcwd()}.get(kind)
    if first is None:
        first = os.path.dirname(os.path.abspath(kind))
    sys.path[:] = [first, *filter(None, env.get("PYTHONPATH", "").split(os.pathsep)), *rest]
    if kind == "-m":
        sys.argv[:] = command[1:]
        runpy.run_module(text, run_name="__main__", alter_sys=True)
        return
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__builtins__ = __builtins__
    if kind == "-c":
        sys.argv[:] = ["-c", *command[2:]]
        code = compile(text, "<string>", "exec")
    else:
        sys.argv[:] = command
        main.__file__ = kind
        with open(kind, "rb") as file:
            code = compile(file.read(), kind, "exec")
    exec(code, main.__dict__)


if __name__ == "__main__":
    import numpy  # noqa: F401
    import pytest  # noqa: F401

    if sys.dont_write_bytecode:
        # One program compiles a module for all; each would take as long for that as for the rest.
        sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[2]
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        program = serve(connection)
    if program is not None:
        become(*program)
