"""Models: the same number of training steps by one and by two Python threads, without locks.

Each thread has its own gradients and writes into shared weights, as in examples/train_hogwild.py.
Two threads must take less time than one. Run with ``--threads 1``, so that the cores are for the
threads of Python. Weights depend on which step came first, so only their finiteness is compared.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from benchmarks.case import Case
from benchmarks.inputs import integers, leaf, normal

STEPS = 32


def _case(threads: int, width: int, batch: int) -> Callable:
    def setup(torch: Any) -> Callable:
        shared = [normal(torch, width, width, seed=seed) * width**-0.5 for seed in range(2)] + [
            normal(torch, 10, width, seed=2) * width**-0.5
        ]
        x = normal(torch, batch, width, seed=7)
        target = integers(torch, batch, high=10)
        functional = torch.nn.functional

        def work(steps: int) -> None:
            mine = [leaf(weight.data) for weight in shared]
            update = torch.optim.SGD(mine, lr=1e-4)
            for _ in range(steps):
                update.zero_grad()
                hidden = torch.relu(functional.linear(x, mine[0]))
                hidden = torch.relu(functional.linear(hidden, mine[1]))
                functional.cross_entropy(functional.linear(hidden, mine[2]), target).backward()
                update.step()

        def run() -> Any:
            if threads == 1:
                work(STEPS)
            else:
                team = [
                    threading.Thread(target=work, args=(STEPS // threads,)) for _ in range(threads)
                ]
                for thread in team:
                    thread.start()
                for thread in team:
                    thread.join()
            return torch.isfinite(shared[0]).all()

        return run

    return setup


CASES = [
    Case(
        f"32 steps of {width}-{width}-10, batch {batch}, {threads} thread(s)",
        _case(threads, width, batch),
    )
    for width, batch in ((128, 64), (512, 256))
    for threads in (1, 2)
]
