"""Operators that go by the host on CUDA are shown, counted and listed."""

import subprocess
import sys

import pytest
from borrowed import NAME, generators  # noqa: F401
from emulator import places

import autograd_cy as ag
from autograd_cy._C import cuda_host, cuda_mirrors

PROGRAM = """
import autograd_cy as ag
x = ag.tensor([[2.0, 1.0], [0.0, 3.0]], device="cuda")
y = (x @ x + 1).sum(0)
print("kernels", y.tolist())
for call in (lambda: x.median(1)[0], lambda: x.median(1)[0], lambda: ag.linalg.inv(x)):
    try:
        print("host", call().tolist())
    except RuntimeError as error:
        print("refused", error)
"""


def output(word):
    more = {"AUTOGRAD_CY_CUDA_HOST": word} if word else {}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=places.environment(**more),
        capture_output=True,
        text=True,
    )
    return run.returncode, run.stdout, run.stderr


@pytest.mark.emulated
def test_nothing_is_said_of_the_host_without_being_asked():
    status, said, errors = output("")
    assert (status, errors) == (0, "")
    assert said.count("host") == 3 and "kernels [6.0, 16.0]" in said


@pytest.mark.emulated
def test_the_environment_asks_for_warnings():
    status, said, errors = output("warn")
    assert status == 0 and said.count("host") == 3
    told = [line for line in errors.splitlines() if "UserWarning" in line]
    assert len(told) == 2
    assert "median: there is no kernel of this operator for device 'cuda:0'" in told[0]
    assert "linalg.inv: " in told[1] and "copied to the host" in told[1]


@pytest.mark.emulated
def test_the_environment_asks_for_errors():
    status, said, errors = output("error")
    assert (status, errors) == (0, "")
    assert "kernels [6.0, 16.0]" in said and said.count("refused") == 3
    assert "refused median: " in said and "move the operands with .cpu()" in said


@pytest.mark.emulated
def test_other_words_are_refused_when_cuda_starts():
    status, _, errors = output("loud")
    assert status == 1
    assert "AUTOGRAD_CY_CUDA_HOST is 'warn' or 'error', or isn't set; not 'loud'" in errors


def test_calls_are_counted_by_key():
    x = ag.rand(3, device=NAME)
    cuda_mirrors.forget_calls()
    x.median(0)
    ag.fft.fft(x)
    (x + x).sum()
    assert cuda_mirrors.host_calls() == {"median_dim": 1, "fft_fft": 1}


def test_what_is_made_of_others_is_not_listed():
    listed = set(ag.cuda.host_operators())
    assert {"linalg_inv", "fft_fft", "median_dim", "histc"} <= listed
    assert not cuda_host.COMPOSED & listed
    x = ag.rand(2, 4, 3, device=NAME)
    cuda_mirrors.forget_calls()
    ag.nn.functional.rms_norm(x, (3,))
    ag.nn.functional.scaled_dot_product_attention(x, x, x)
    ag.nn.GRU(3, 3).to(NAME)(x)
    assert set(cuda_mirrors.host_calls()) <= listed
