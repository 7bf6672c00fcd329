"""Grad modes: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from tests.recorded.inputs import differs, error_name, iota


# Grad mode
def is_grad_enabled_set_grad_enabled():
    x = iota(2).requires_grad_(True)
    a = [torch.is_grad_enabled()]
    with torch.no_grad():
        a += [torch.is_grad_enabled(), (x * 2).requires_grad]
        with torch.enable_grad():
            a += [torch.is_grad_enabled(), (x * 2).requires_grad]
        with torch.set_grad_enabled(True):
            a += [(x * 2).requires_grad]
        a += [torch.is_grad_enabled(), (x * 2).requires_grad]
    return [*a, torch.is_grad_enabled(), (x * 2).requires_grad]

def is_grad_enabled_is_inference():
    x = iota(2).requires_grad_(True)
    with torch.inference_mode():
        a = [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), (x * 2).requires_grad]
        with torch.enable_grad():
            a += [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), (x * 2).requires_grad,
                (x * 2).is_inference()]
            with torch.no_grad():
                a += [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]
            a += [torch.is_grad_enabled()]
        a += [torch.is_grad_enabled()]
        with torch.inference_mode(False):
            a += [torch.is_grad_enabled(), torch.is_inference_mode_enabled(), (x * 2).requires_grad,
                (x * 2).is_inference()]
            with torch.no_grad():
                a += [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]
        a += [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]
    return [*a, torch.is_grad_enabled(), torch.is_inference_mode_enabled()]

type(torch.no_grad().clone()).__name__
type(torch.enable_grad().clone()).__name__
torch.set_grad_enabled(True).clone().mode
type(torch.inference_mode(False).clone()).__name__
torch.inference_mode(False).mode
torch.inference_mode().mode

# Threads of backward, views replayed, forward mode
def append_is_view_replay_enabled():
    with torch.autograd._force_original_view_tracking(True):
        a = [torch.autograd.is_view_replay_enabled()]
        with torch.autograd._force_original_view_tracking(False):
            a.append(torch.autograd.is_view_replay_enabled())
        a.append(torch.autograd.is_view_replay_enabled())
    return [*a, torch.autograd.is_view_replay_enabled()]

def is_multithreading_enabled_is_grad_enabled():
    with torch.autograd.set_multithreading_enabled(False), torch.no_grad():
        with torch.inference_mode(False), torch.autograd.set_multithreading_enabled(True):
            a = [torch.autograd.is_multithreading_enabled(), torch.is_grad_enabled()]
        a += [torch.autograd.is_multithreading_enabled(), torch.is_grad_enabled()]
    return [*a, torch.autograd.is_multithreading_enabled(), torch.is_grad_enabled()]

# Anomaly mode
def is_anomaly_enabled_sqrt():
    def f(check_nan, mode=True):
        x = torch.tensor([-1.0]).requires_grad_(True)
        with torch.autograd.set_detect_anomaly(mode, check_nan):
            (x.sqrt() * 1).sum().backward()
    return [error_name(f, True), error_name(f, False), error_name(f, True, False),
        torch.is_anomaly_enabled()]

# What is no switch
torch.set_grad_enabled(1)
torch.set_grad_enabled(None)
torch.autograd.set_multithreading_enabled(1)
torch.autograd.set_detect_anomaly(True, 1)
with differs("torch refuses these when they are used"):
    torch.autograd.detect_anomaly(check_nan=1)
    torch.inference_mode(1)
error_name(torch.autograd.forward_ad._set_fwd_grad_enabled, 1)
torch.is_grad_enabled()
torch.is_anomaly_enabled()
torch.autograd.is_multithreading_enabled()
