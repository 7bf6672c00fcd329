"""Arguments of launches are used again: never while a launch has them, nor with old bytes."""

import sys
import threading

import pytest

import autograd_cy as torch
from autograd_cy._C import cuda_launch

ARGUMENTS = 144  # bytes of a flat elementwise kernel; all zero: no elements


def test_each_launch_has_its_own_arguments():
    xs = [torch.full((3,), float(k), device="cuda") for k in range(50)]
    sums = [x + k for k, x in enumerate(xs)]
    assert [s.tolist() for s in sums] == [[2.0 * k] * 3 for k in range(50)]


def test_the_arguments_of_a_launch_that_fails_serve_the_next_one():
    number = cuda_launch.kernel_number("ew_f32", "add_f32")
    for _ in range(3):
        with pytest.raises(RuntimeError, match="invalid configuration argument"):
            cuda_launch.launch_kernel(number, 0, 0, (1, 1, 1), (2048, 1, 1), bytes(ARGUMENTS))
        assert (torch.ones(3, device="cuda") + 1).tolist() == [2.0] * 3


@pytest.mark.parametrize("grid", [(1, 1, 1), (3000, 1, 1), (2, 3, 1), (1, 1, 2)])
def test_sizes_of_grids(grid):
    """No element to compute, in any number of blocks."""
    number = cuda_launch.kernel_number("ew_f32", "add_f32")
    for size in (grid, (1, 1, 1), grid):
        cuda_launch.launch_kernel(number, 0, 0, size, (32, 1, 1), bytes(ARGUMENTS))
    torch.cuda.synchronize()


@pytest.mark.parametrize("shape", [(4,), (2, 3), (1, 5, 1), (2, 1, 3), (7, 1), (1,), (), (0, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int16, torch.complex128])
def test_dense_work_of_all_shapes(shape, dtype):
    a = torch.arange(24)[: max(1, torch.ones(shape).numel())].to(dtype)
    a = a[: torch.ones(shape).numel()].reshape(shape)
    d = a.to("cuda")
    for other in (3, torch.tensor(2).to(dtype), a):
        there = other.to("cuda") if isinstance(other, torch.Tensor) else other
        for x, y, p, q in ((d, there, a, other), (there, d, other, a)):
            assert (x * y).tolist() == (p * q).tolist()
    assert (d.sqrt() if dtype.is_floating_point else d + d).shape == shape


@pytest.mark.parametrize("steps", [(0, 1), (4, 1), (1, 4), (0, 0), (5, 1), (3, 1)])
def test_strides_that_are_not_plain(steps):
    a = torch.arange(30.0)
    d = a.to("cuda")
    shape = (3, 4)
    x, y = a.as_strided(shape, steps), d.as_strided(shape, steps)
    dense = torch.arange(12.0).reshape(shape)
    assert (y + dense.to("cuda")).tolist() == (x + dense).tolist()
    assert (dense.to("cuda") * y).tolist() == (dense * x).tolist()
    assert (y - y[:, :1]).tolist() == (x - x[:, :1]).tolist()


def test_threads_launch_at_once():
    failed = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(k):
        x = torch.zeros(5, device="cuda")
        for _ in range(100):
            x = x + k
        if x.tolist() != [100.0 * k] * 5:
            failed.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert not failed


def test_products_of_several_threads():
    found = {}

    def work(k):
        m = torch.full((3, 3), float(k), device="cuda")
        found[k] = [(m @ m)[0, 0].item() for _ in range(3)]

    for round_ in range(2):
        threads = [threading.Thread(target=work, args=(k + round_,)) for k in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {k: [3.0 * k * k] * 3 for k in range(4)}


def test_backward_on_several_streams():
    s, t = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.ones(4, device="cuda", requires_grad=True)
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        y = x * 3
    t.wait_stream(s)
    with torch.cuda.stream(t):
        z = (y * y).sum()
    z.backward()
    assert x.grad.tolist() == [18.0] * 4
    with torch.cuda.stream(s):
        (grad,) = torch.autograd.grad((x * 5).sum(), x)
    torch.cuda.current_stream().wait_stream(s)
    assert grad.tolist() == [5.0] * 4
