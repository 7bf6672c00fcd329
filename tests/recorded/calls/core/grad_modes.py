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

def is_grad_enabled_inference_mode():
    with torch.no_grad():
        with torch.inference_mode(False):
            a = [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]
        a += [torch.is_grad_enabled()]
        with torch.inference_mode():
            with torch.enable_grad():
                a += [torch.is_grad_enabled()]
            with torch.inference_mode():
                a += [torch.is_grad_enabled()]
    return [*a, torch.is_grad_enabled()]

def set_grad_enabled_is_grad_enabled():
    torch.set_grad_enabled(False)
    a = [torch.is_grad_enabled()]
    torch.set_grad_enabled(True)
    return [*a, torch.is_grad_enabled()]

def set_grad_enabled_is_grad_enabled_2():
    c = torch.set_grad_enabled(False)
    a = [torch.is_grad_enabled(), c.mode]
    with c:
        a.append(torch.is_grad_enabled())
    return [*a, torch.is_grad_enabled(), torch.set_grad_enabled(True).mode]

def set_grad_enabled_is_grad_enabled_3():
    c = torch.no_grad()
    with c:
        with c:
            a = [torch.is_grad_enabled()]
        a.append(torch.is_grad_enabled())
    torch.set_grad_enabled(True)
    return a

def set_grad_enabled_is_grad_enabled_4():
    a = []
    @torch.no_grad()
    def f():
        a.append(torch.is_grad_enabled())
    @torch.set_grad_enabled(False)
    def g():
        a.append(torch.is_grad_enabled())
    b = torch.is_grad_enabled()
    @torch.inference_mode()
    def h():
        a.append(torch.is_inference_mode_enabled())
    @torch.inference_mode(mode=False)
    def k():
        a.append(torch.is_inference_mode_enabled())
    @torch.enable_grad()
    def l():
        a.append(torch.is_grad_enabled())
    f(), g(), h(), k()
    with torch.no_grad():
        l(), f()
        a.append(torch.is_grad_enabled())
    return [b, *a, torch.is_grad_enabled()]

def is_grad_enabled_key_error():
    def f():
        with torch.no_grad():
            raise KeyError("x")
    return [error_name(f), torch.is_grad_enabled()]

def is_grad_enabled_key_error_2():
    def f():
        with torch.inference_mode():
            raise KeyError("x")
    return [error_name(f), torch.is_grad_enabled(), torch.is_inference_mode_enabled()]

type(torch.no_grad().clone()).__name__
type(torch.enable_grad().clone()).__name__
torch.set_grad_enabled(True).clone().mode
type(torch.inference_mode(False).clone()).__name__
torch.inference_mode(False).mode
torch.inference_mode().mode

def is_grad_enabled_inference_mode_2():
    with torch.inference_mode(False).clone():
        a = torch.is_inference_mode_enabled()
    with torch.inference_mode().clone():
        b = torch.is_inference_mode_enabled()
    return [a, b, torch.is_grad_enabled()]

# Threads of backward, views replayed, forward mode
def is_multithreading_enabled_is_grad_enabled():
    with torch.autograd.set_multithreading_enabled(False):
        a = [torch.autograd.is_multithreading_enabled()]
        with torch.autograd.set_multithreading_enabled(True):
            a.append(torch.autograd.is_multithreading_enabled())
        a.append(torch.autograd.is_multithreading_enabled())
    return [*a, torch.autograd.is_multithreading_enabled(), torch.is_grad_enabled()]

def force_original_view_tracking_is_view_replay_enabled():
    with torch.autograd._force_original_view_tracking(True):
        a = [torch.autograd.is_view_replay_enabled()]
        with torch.autograd._force_original_view_tracking(False):
            a.append(torch.autograd.is_view_replay_enabled())
        a.append(torch.autograd.is_view_replay_enabled())
    return [*a, torch.autograd.is_view_replay_enabled()]

def set_fwd_grad_enabled_is_fwd_grad_enabled():
    with torch.autograd.forward_ad._set_fwd_grad_enabled(False):
        a = [torch.autograd.forward_ad._is_fwd_grad_enabled()]
        with torch.autograd.forward_ad._set_fwd_grad_enabled(True):
            a.append(torch.autograd.forward_ad._is_fwd_grad_enabled())
        a.append(torch.autograd.forward_ad._is_fwd_grad_enabled())
    return [*a, torch.autograd.forward_ad._is_fwd_grad_enabled(), torch.is_grad_enabled()]

def is_multithreading_enabled_is_grad_enabled_2():
    with torch.autograd.set_multithreading_enabled(False), torch.no_grad():
        with torch.inference_mode(False), torch.autograd.set_multithreading_enabled(True):
            a = [torch.autograd.is_multithreading_enabled(), torch.is_grad_enabled()]
        a += [torch.autograd.is_multithreading_enabled(), torch.is_grad_enabled()]
    return [*a, torch.autograd.is_multithreading_enabled(), torch.is_grad_enabled()]

# Anomaly mode
def detect_anomaly_is_anomaly_enabled():
    with torch.autograd.detect_anomaly():
        a = [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
        with torch.autograd.set_detect_anomaly(False):
            a += [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
        with torch.autograd.detect_anomaly(check_nan=False):
            a += [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
        a += [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
    return [*a, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]

def set_detect_anomaly_is_anomaly_enabled():
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    a = [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
    torch.autograd.set_detect_anomaly(False)
    return [*a, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]

def is_anomaly_enabled_check_nan():
    def f():
        with torch.autograd.detect_anomaly(check_nan=False):
            raise KeyError
    return [error_name(f), torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]

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
torch.autograd.set_detect_anomaly(1)
torch.autograd.set_detect_anomaly(True, 1)
with differs("torch refuses these when they are used"):
    torch.autograd.detect_anomaly(check_nan=1)
    torch.inference_mode(1)
error_name(torch.autograd.forward_ad._set_fwd_grad_enabled, 1)
torch.is_grad_enabled()
torch.is_anomaly_enabled()
torch.autograd.is_multithreading_enabled()
