"""A Function of the old style with NumPy inside, checked and then used to sharpen a signal.

    pip install -e ".[train]"
    python examples/legacy_function.py

``CircularConvolution`` computes by NumPy's Fourier transforms, which nothing here could
differentiate, so it brings its own ``backward``. ``gradcheck`` compares that with differences.
Then gradient descent finds the signal of which a blurred and noisy one was made. The picture goes
to legacy_function.png.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np

import autograd_cy.legacy as torch
import autograd_cy.legacy.optim as optim
from autograd_cy.legacy.autograd import Function, Variable, gradcheck


class CircularConvolution(Function):
    """``out[n]`` is the sum of ``signal[n - k] kernel[k]``, with indices that go round."""

    def forward(self, signal, kernel):
        self.save_for_backward(signal, kernel)
        spectrum = spectrum_of(signal) * spectrum_of(kernel)
        return torch.from_numpy(np.fft.irfft(spectrum, len(signal))).type_as(signal)

    def backward(self, grad_output):
        signal, kernel = self.saved_tensors
        grad = spectrum_of(grad_output)
        # Going back is correlating: the spectrum of the other one is conjugated.
        results = []
        for needed, other in zip(self.needs_input_grad, (kernel, signal)):
            spectrum = grad * np.conj(spectrum_of(other))
            result = torch.from_numpy(np.fft.irfft(spectrum, len(signal))) if needed else None
            results.append(None if result is None else result.type_as(signal))
        return tuple(results)


def spectrum_of(x):
    """NumPy's Fourier transform, which the host computes."""
    return np.fft.rfft(x.cpu().numpy())


def there(x, device):
    """A tensor, moved to a GPU if that is the device."""
    return x if device == "cpu" else x.cuda(int(device.partition(":")[2] or 0))


def check():
    """Return whether ``backward`` agrees with differences."""
    torch.manual_seed(0)
    inputs = [Variable(torch.randn(8).double(), requires_grad=True) for _ in range(2)]
    return gradcheck(lambda s, k: CircularConvolution()(s, k), inputs)


def problem(size=128, noise=0.01, seed=0):
    """(signal, kernel that blurs, blurred and noisy signal)."""
    random = np.random.default_rng(seed)
    signal = np.zeros(size)
    signal[20:45], signal[60:70], signal[90:93] = 1.0, -0.6, 1.4
    away = np.minimum(np.arange(size), size - np.arange(size))
    kernel = np.exp(-0.5 * (away / 2.5) ** 2)
    kernel /= kernel.sum()
    blurred = np.fft.irfft(np.fft.rfft(signal) * np.fft.rfft(kernel), size)
    return signal, kernel, blurred + random.normal(0, noise, size)


def sharpen(steps=400, smoothness=1e-3, device="cpu"):
    """(signal, blurred, found, losses): descent on the error plus a price of steep places."""
    signal, kernel, blurred = problem()
    target = Variable(there(torch.from_numpy(blurred), device))
    blur = Variable(there(torch.from_numpy(kernel), device))
    found = Variable(there(torch.from_numpy(blurred.copy()), device), requires_grad=True)
    optimizer = optim.Adam([found], lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        error = CircularConvolution()(found, blur) - target
        steep = found.narrow(0, 1, len(signal) - 1) - found.narrow(0, 0, len(signal) - 1)
        loss = (error * error).sum() + steep.abs().sum() * smoothness
        loss.backward()
        optimizer.step()
        losses.append(loss.data[0])
    return signal, blurred, found.data.cpu().numpy(), losses


def draw(signal, blurred, found, losses, path):
    """Write a picture: the three signals, and the loss."""
    importlib.import_module("matplotlib").use("Agg")
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(11, 4.6))
    left, right = figure.subplots(1, 2, gridspec_kw={"width_ratios": (2, 1)})
    figure.subplots_adjust(left=0.06, right=0.98, top=0.78, bottom=0.13, wspace=0.2)
    figure.text(0.06, 0.9, "Sharpened through a Function with NumPy inside", fontsize=16)
    before, after = (np.sqrt(np.mean((x - signal) ** 2)) for x in (blurred, found))
    figure.text(0.06, 0.83, f"root mean square error {before:.3f} → {after:.3f}", color="#6b6b6b")
    left.plot(signal, color="#b0b0b0", lw=5, label="signal")
    left.plot(blurred, color="#d95f02", lw=1.5, label="blurred and noisy")
    left.plot(found, color="#2166ac", lw=1.8, label="found")
    left.legend(frameon=False)
    right.semilogy(losses, color="#2166ac", lw=2)
    right.set(xlabel="step", ylabel="loss")
    for axes in (left, right):
        axes.grid(color="#e4e4e4", lw=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


def main():
    """Check, sharpen, report and draw."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cpu", help="such as cuda or cuda:1 (%(default)s)")
    parser.add_argument(
        "--output", type=Path, default=Path("legacy_function.png"), help="picture to write"
    )
    options = parser.parse_args()
    if importlib.util.find_spec("matplotlib") is None:
        message = 'matplotlib missing. Install with: pip install -e ".[train]"'
        print(f"legacy_function: {message}", file=sys.stderr)
        return 2
    print(f"gradcheck: {check()}")
    signal, blurred, found, losses = sharpen(device=options.device)
    for name, x in (("blurred", blurred), ("found", found)):
        print(f"{name:<8} root mean square error {np.sqrt(np.mean((x - signal) ** 2)):.4f}")
    draw(signal, blurred, found, losses, options.output)
    print(f"Picture: {options.output}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
