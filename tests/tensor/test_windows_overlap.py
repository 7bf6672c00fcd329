"""Windows on memory that reach an element twice, against a count of what each index reaches."""

import itertools
import random

import autograd_cy as ag


def test_windows_are_written_unless_they_reach_an_element_twice():
    draw = random.Random(1)
    wrong = []
    for _ in range(3000):
        dims = draw.randint(1, 4)
        sizes = [draw.randint(1, 4) for _ in range(dims)]
        strides = [draw.randint(0, 12) for _ in range(dims)]
        reached = [
            sum(i * s for i, s in zip(index, strides))
            for index in itertools.product(*map(range, sizes))
        ]
        try:
            ag.zeros(160).as_strided(sizes, strides).add_(1)
            refused = False
        except RuntimeError:
            refused = True
        if refused != (len(set(reached)) < len(reached)):
            wrong.append((sizes, strides))
    assert wrong == []
