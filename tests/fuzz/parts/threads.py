"""Random schedules of threads: graphs of their own, shared leaves and graphs, modes, forks."""

import os
import sys
import threading
from dataclasses import dataclass

from ..case import PRELUDE, Result, Wrong, chance, choice

ACTIONS = ("own graph", "shared leaf", "shared graph", "modes", "vmap", "large sum", "team size",
           "accumulate", "fork", "views", "hooks")  # fmt: skip


@dataclass(frozen=True)
class Schedule:
    """The actions of each thread, one after the other."""

    threads: tuple
    switching: float

    title = property(lambda self: "threads")

    def source(self):
        return f"{PRELUDE}# {self!r}\n# run by tests/fuzz/parts/threads.py\n"


def make(rng):
    count = int(rng.integers(2, 6))
    work = tuple(
        tuple(choice(rng, ACTIONS) for _ in range(int(rng.integers(1, 6)))) for _ in range(count)
    )
    return Schedule(work, 1e-6 if chance(rng, 0.7) else 0.005)


def run(case, lib):
    leaf = lib.zeros(4, requires_grad=True)
    base = lib.ones(4, requires_grad=True)
    graph = (base * 2).exp().sum()
    wanted, errors, lock = [0.0], [], threading.Lock()
    start = threading.Barrier(len(case.threads))
    before = lib.get_num_threads()

    def work(actions):
        try:
            start.wait(30)
            for action in actions:
                added = act(action, lib, leaf, base, graph)
                with lock:
                    wanted[0] += added
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(case.switching)
    try:
        threads = [threading.Thread(target=work, args=(a,), daemon=True) for a in case.threads]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(40)
        if any(thread.is_alive() for thread in threads):
            raise Wrong("a thread does not end", "hang")
    finally:
        sys.setswitchinterval(interval)
        lib.set_num_threads(before)
    if errors:
        raise Wrong("; ".join(errors))
    found = 0.0 if leaf.grad is None else leaf.grad.sum().item()
    if found != 4 * wanted[0]:
        raise Wrong(f"the shared leaf has {found}, expected {4 * wanted[0]}")
    return Result()


def act(action, lib, leaf, base, graph):
    """Do one thing and check it; returns what it adds to each element of the shared leaf's grad."""
    if action == "own graph":
        x = lib.ones(8, requires_grad=True)
        y = x
        for _ in range(30):
            y = y * 1.0 + 0.0
        y.sum().backward()
        _equal(x.grad.tolist(), [1.0] * 8, action)
    elif action == "shared leaf":
        (leaf * 3).sum().backward()
        return 3.0
    elif action == "accumulate":
        for _ in range(10):
            leaf.sum().backward()
        return 10.0
    elif action == "shared graph":
        (g,) = lib.autograd.grad(graph, base, retain_graph=True)
        _equal(g.tolist(), [(lib.ones(()) * 2).exp().item() * 2] * 4, action)
    elif action == "modes":
        with lib.no_grad():
            _equal((leaf * 2).requires_grad, False, action)
        with lib.inference_mode():
            _equal((leaf * 2).is_inference(), True, action)
        _equal((leaf * 2).requires_grad, True, action)
    elif action == "vmap":
        found = lib.vmap(lib.func.grad(lambda t: (t * t).sum()))(lib.ones(3, 2))
        _equal(found.tolist(), [[2.0, 2.0]] * 3, action)
    elif action == "large sum":
        x = lib.ones(300_000)
        _equal((x + x).sum().item(), 600_000.0, action)
    elif action == "team size":
        lib.set_num_threads(1 + threading.get_ident() % 3)
    elif action == "views":
        x = lib.ones(6, requires_grad=True)
        y = x * 1
        y[1:3].mul_(5)
        y.view(2, 3)[1].add_(1)
        y.sum().backward()
        _equal(x.grad.tolist(), [1.0, 5.0, 5.0, 1.0, 1.0, 1.0], action)
    elif action == "hooks":
        x, seen = lib.ones(2, requires_grad=True), []
        y = x * 2
        handle = y.register_hook(seen.append)
        y.sum().backward(retain_graph=True)
        handle.remove()
        y.sum().backward()
        _equal(len(seen), 1, action)
    elif action == "fork":
        _fork(lib)
    return 0.0


def _fork(lib):
    """A child with work of its own must end well."""
    child = os.fork()
    if child == 0:
        try:
            x = lib.ones(200_000, requires_grad=True)
            (x * 2).sum().backward()
            os._exit(0 if x.grad[0].item() == 2.0 else 3)
        except BaseException:
            os._exit(4)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise Wrong(f"a forked child ended with {code}")


def _equal(found, wanted, action):
    if found != wanted:
        raise Wrong(f"{action}: {found}, expected {wanted}")
