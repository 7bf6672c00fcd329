"""Numbers that are the same in both libraries: data and initial weights from NumPy."""

import numpy as np
import torch


def normal(*shape, seed=0, dtype=torch.float64):
    """Return a tensor of normal numbers of NumPy's generator of this seed."""
    return torch.from_numpy(np.random.RandomState(seed).standard_normal(shape)).to(dtype)


def integers(high, shape, seed=0):
    """Return a tensor of integers from 0 up to below ``high``."""
    return torch.from_numpy(np.random.RandomState(seed).randint(0, high, shape).astype(np.int64))


def fill_weights(module, scale=0.3, seed=0):
    """Give the parameters of a module, in their order, normal numbers of NumPy's generator."""
    generator = np.random.RandomState(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            values = scale * generator.standard_normal(tuple(parameter.shape))
            parameter.copy_(torch.from_numpy(np.asarray(values)))
    return module


def train(step, optimizer, steps):
    """Make ``steps`` steps of an optimizer and return the losses, before each step."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = step()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
