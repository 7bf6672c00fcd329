"""REINFORCE on a small grid, by the stochastic functions of early 2017.

    pip install -e ".[train]"
    python examples/legacy_reinforce.py

A walker starts anywhere on a grid with walls, wants to reach the goal and must not fall into the
pit. Its steps are drawn by ``probs.multinomial()``; when an episode is over, ``step.reinforce(r)``
gives each step its reward, and ``backward`` finds the gradients of the policy by itself. The
picture of the policy goes to legacy_reinforce.png.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np

import autograd_cy.legacy as torch
import autograd_cy.legacy.autograd as autograd
import autograd_cy.legacy.nn as nn
import autograd_cy.legacy.nn.functional as F
import autograd_cy.legacy.optim as optim
from autograd_cy.legacy.autograd import Variable

GRID = ("....G", ".##.P", ".....", ".#.#.", ".....")
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
ARROWS = "↑→↓←"
GOAL, PIT, STEP = 1.0, -1.0, -0.04
ROWS, COLUMNS = len(GRID), len(GRID[0])
FREE = [i for i in range(ROWS * COLUMNS) if GRID[i // COLUMNS][i % COLUMNS] == "."]


def there(x, device):
    """A tensor or module, moved to a GPU if that is the device."""
    return x if device == "cpu" else x.cuda(int(device.partition(":")[2] or 0))


class World:
    """Many walkers at once, each somewhere on the grid."""

    def __init__(self, walkers, random, device="cpu"):
        self.device = device
        self.places = random.choice(FREE, walkers)
        self.done = np.zeros(walkers, bool)

    def state(self):
        """A row for each walker, with a one at its place."""
        seen = torch.zeros(len(self.places), ROWS * COLUMNS)
        seen.scatter_(1, torch.from_numpy(self.places[:, None].astype("int64")), 1)
        return there(seen, self.device)

    def step(self, actions):
        """Move; what each walker gets for it."""
        rewards = np.where(self.done, 0.0, STEP)
        for i, action in enumerate(actions):
            if self.done[i]:
                continue
            row = self.places[i] // COLUMNS + MOVES[action][0]
            column = self.places[i] % COLUMNS + MOVES[action][1]
            if not (0 <= row < ROWS and 0 <= column < COLUMNS) or GRID[row][column] == "#":
                continue
            self.places[i] = row * COLUMNS + column
            if GRID[row][column] in "GP":
                self.done[i] = True
                rewards[i] += GOAL if GRID[row][column] == "G" else PIT
        return rewards


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Linear(ROWS * COLUMNS, len(MOVES), bias=False)
        self.scores.weight.data.zero_()

    def forward(self, state):
        return F.softmax(self.scores(state))


def episode(policy, walkers, random, length=24, gamma=0.95, device="cpu"):
    """(steps that were drawn, returns from each on, how many reached the goal, mean return)."""
    world = World(walkers, random, device)
    steps, rewards = [], []
    for _ in range(length):
        action = policy(Variable(world.state())).multinomial()
        steps.append(action)
        rewards.append(world.step(action.data.view(-1).tolist()))
        if world.done.all():
            break
    returns, after = [], np.zeros(walkers)
    for reward in reversed(rewards):
        after = reward + gamma * after
        returns.insert(0, after)
    goal = np.isin(world.places, [i for i in range(25) if GRID[i // COLUMNS][i % COLUMNS] == "G"])
    return steps, np.array(returns), goal.mean(), np.sum(rewards, 0).mean()


def train(episodes=120, walkers=64, seed=0, device="cpu"):
    """(policy, mean return and part that reached the goal of each episode)."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    policy = there(Policy(), device)
    optimizer = optim.Adam(policy.parameters(), lr=0.15)
    curve = []
    for number in range(1, episodes + 1):
        steps, returns, reached, mean = episode(policy, walkers, random, device=device)
        advantages = (returns - returns.mean(1, keepdims=True)) / (returns.std() + 1e-6)
        for step, advantage in zip(steps, advantages):
            reward = torch.from_numpy(advantage[:, None].astype("float32") / walkers)
            step.reinforce(there(reward, device))
        optimizer.zero_grad()
        autograd.backward(steps, [None for _ in steps])
        optimizer.step()
        curve.append((mean, reached))
        if number % max(1, episodes // 6) == 0:
            print(f"Episode {number}: mean return {mean:.3f}, {reached:.0%} reached the goal")
    return policy, curve


def probabilities(policy):
    """A row of probabilities for each place; the input is volatile, so nothing is recorded."""
    places = torch.eye(ROWS * COLUMNS).type_as(policy.scores.weight.data)
    return policy(Variable(places, volatile=True)).data.cpu()


def as_text(policy):
    """The best step of each place."""
    best = probabilities(policy).max(1)[1].view(-1)
    cells = [
        ARROWS[best[i]] if i in FREE else GRID[i // COLUMNS][i % COLUMNS]
        for i in range(ROWS * COLUMNS)
    ]
    return "\n".join(" ".join(cells[r * COLUMNS : (r + 1) * COLUMNS]) for r in range(ROWS))


INK, MUTED, BLUE, GREEN, RED = "#1a1a1a", "#6b6b6b", "#2166ac", "#2e8b57", "#c0392b"


def draw(policy, curve, path):
    """Write a picture: the curve on the left, the policy on the right."""
    importlib.import_module("matplotlib").use("Agg")
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(11, 5), facecolor="white")
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (1.2, 1)})
    figure.subplots_adjust(left=0.07, right=0.98, top=0.8, bottom=0.12)
    figure.text(0.07, 0.91, "REINFORCE on a grid", fontsize=17, weight="bold", color=INK)
    reached = np.mean([part for _, part in curve[-10:]])
    figure.text(0.07, 0.85, f"{reached:.0%} of the walkers reach the goal in the end", color=MUTED)
    left.plot([mean for mean, _ in curve], color=BLUE, lw=2)
    left.set(xlabel="episode", ylabel="mean return of 64 walkers")
    left.grid(color="#e4e4e4", lw=0.8)
    left.spines[["top", "right"]].set_visible(False)
    table = probabilities(policy).numpy()
    right.set(xlim=(-0.5, COLUMNS - 0.5), ylim=(ROWS - 0.5, -0.5), aspect="equal")
    right.set(xticks=[], yticks=[])
    for i, cell in enumerate("".join(GRID)):
        row, column = divmod(i, COLUMNS)
        color = {"#": "#444444", "G": GREEN, "P": RED}.get(cell, "#f4f4f4")
        corner = (column - 0.5, row - 0.5)
        patches = importlib.import_module("matplotlib.patches")
        right.add_patch(patches.Rectangle(corner, 1, 1, facecolor=color, edgecolor="white", lw=2))
        if cell in "GP":
            text = "goal" if cell == "G" else "pit"
            right.text(column, row, text, ha="center", va="center", color="white", weight="bold")
        if cell == ".":
            for chance, (down, along) in zip(table[i], MOVES):
                if chance > 0.05:  # an arrow as long as its step is likely
                    right.annotate(
                        "",
                        (column + 0.42 * along * chance, row + 0.42 * down * chance),
                        (column, row),
                        arrowprops={"arrowstyle": "-|>", "color": BLUE, "lw": 2.4 * chance},
                    )
    figure.savefig(path, dpi=120)


def main():
    """Train, report and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=120, metavar="N", help="(%(default)s)")
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    parser.add_argument(
        "--output", type=Path, default=Path("legacy_reinforce.png"), help="picture to write"
    )
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        message = 'matplotlib missing. Install with: pip install -e ".[train]"'
        print(f"legacy_reinforce: {message}", file=sys.stderr)
        return 2
    policy, curve = train(options.episodes, device=options.device)
    print(as_text(policy))
    draw(policy, curve, options.output)
    print(f"Picture: {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
