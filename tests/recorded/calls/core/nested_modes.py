"""Nested modes: calls of tensors and arguments (`ext/core`)."""

import copy
import pickle

import numpy as np

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, iota, sines


# Grad modes within each other, and what is left behind
def asked_enable_grad():
    def asked():
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled(), (
            sines(1).requires_grad_(not torch.is_inference_mode_enabled()) * 2).requires_grad
    found = []
    with torch.no_grad():
        with torch.enable_grad():
            found.append(asked())
        found.append(asked())
        with torch.inference_mode():
            found.append(asked())
            with torch.enable_grad():
                found.append(asked())
            with torch.inference_mode(False):
                found.append(asked())
            found.append(asked())
        found.append(asked())
    return [found, asked()]

def asked_set_grad_enabled():
    def asked():
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled()
    found = []
    with torch.inference_mode():
        with torch.enable_grad():
            with torch.no_grad():
                found.append(asked())
            found.append(asked())
            with torch.inference_mode():
                found.append(asked())
        with torch.set_grad_enabled(True):
            found.append(asked())
        found.append(asked())
    return [found, asked()]

def set_grad_enabled_mode():
    s = torch.set_grad_enabled(False)
    found = [torch.is_grad_enabled(), s.mode]
    s.__exit__(None, None, None)
    return [found, torch.is_grad_enabled(), repr(s.clone().mode), torch.is_grad_enabled(),
        torch.set_grad_enabled(True).mode, torch.is_grad_enabled()]

def set_grad_enabled_is_grad_enabled():
    @torch.set_grad_enabled(False)
    def f():
        return torch.is_grad_enabled()
    @torch.no_grad()
    def g():
        return torch.is_grad_enabled(), error_name(lambda: 1 / 0)
    return [f(), g(), torch.is_grad_enabled()]

def enter_is_grad_enabled():
    found = []
    try:
        with torch.no_grad():
            found.append(torch.is_grad_enabled())
            raise ValueError
    except ValueError:
        found.append(torch.is_grad_enabled())
    s = torch.no_grad()
    s.__enter__()
    u = torch.enable_grad()
    u.__enter__()
    found.append(torch.is_grad_enabled())
    u.__exit__(None, None, None)
    found.append(torch.is_grad_enabled())
    s.__exit__(None, None, None)
    return [found, torch.is_grad_enabled()]

def is_anomaly_enabled_detect_anomaly():
    A = torch.autograd.set_detect_anomaly
    a = torch.is_anomaly_enabled
    n = torch.is_anomaly_check_nan_enabled
    found = [(a(), n())]
    with A(True, False):
        found.append((a(), n()))
        with A(False):
            found.append((a(), n()))
        with torch.autograd.detect_anomaly():
            found.append((a(), n()))
        found.append((a(), n()))
    return [found, a(), n(), error_name(A, 1), error_name(A, True, 1), a()]

[error_name(torch.set_grad_enabled, x) for x in (1, None, "a")] + [torch.is_grad_enabled()]

# Sizes
def size_numel():
    S = torch.Size
    return [S(), int(S([2, np.int64(3)])[1]), S((1, torch.tensor(2))), error_name(S, [1.0]),
        error_name(S, 3), S([2, 3]).numel(), S().numel(), S([2, 0]).numel(), S([2])[0],
        type(S([2, 3])[:1]).__name__, type(S([2, 3])[0]).__name__, type(S([2]) * 2).__name__,
        type(2 * S([2])).__name__, S([2]) + (3,), type(S([2]) + (3,)).__name__,
        error_name(lambda: S([2]) + [3]), error_name(lambda: [3] + S([2])),]

repr(torch.Size([2, 3])).rpartition(".")[2]
repr(torch.Size([])).rpartition(".")[2]
pickle.loads(pickle.dumps(iota(2, 3).shape)) == (2, 3)
type(copy.copy(iota(2).shape)).__name__
type((3,) + torch.Size([2])).__name__
(3,) + torch.Size([2])

# Memory given from outside, of more dimensions than before and of fewer
def stride_is_contiguous():
    x = iota(2)
    x.data = iota(2, 1, 1, 1, 3, 1, 1, 1, 1).transpose(0, 4)
    found = x.shape, x.stride(), x.is_contiguous()
    x.data = iota(3)
    y = x[1:]
    x.data = iota(2, 2).t()
    return [found, x, y, x.stride(), x.is_contiguous(), x._version]

with differs("We have at most 64 dimensions"):
    torch.zeros([1] * 65)
torch.ones(1).expand(2**40, 2**40)
torch.empty(2**40, 2**40)
torch.empty(-1)
torch.empty(2, -3)
torch.empty_strided((2, 3), (-1, 2))
torch.empty_strided((2, 0), (7, 5)).stride()
torch.empty_strided((2, 3), (1, 2)).untyped_storage().nbytes()
torch.empty_strided((2, 3), (1, 1)).untyped_storage().nbytes()
torch.empty_strided((2, 3), (0, 4)).untyped_storage().nbytes()
torch.empty_strided((), ()).stride()
