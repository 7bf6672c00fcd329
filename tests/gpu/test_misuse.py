"""Misuse of several devices raises torch's errors, and leaves all as before."""

import io

import pytest

import autograd_cy as torch


def test_a_hook_that_moves_a_gradient_is_refused():
    x = torch.ones(3, device="cuda", requires_grad=True)
    for tensor in (x, x * 2):
        handle = tensor.register_hook(lambda grad: grad.cpu())
        with pytest.raises(RuntimeError, match="has changed the type of value .*cuda:0 to .*cpu"):
            (tensor * 2).sum().backward()
        handle.remove()
    assert x.grad is None
    net = torch.nn.Linear(3, 3).to("cuda")
    net.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0].cpu(),))
    with pytest.raises(RuntimeError, match="has changed the type of value .*cuda:0 to .*cpu"):
        net(x).sum().backward()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0] * 3


def test_memory_of_another_device_is_not_set():
    x, y = torch.ones(3, device="cuda"), torch.zeros(3)
    for source in (y, y.untyped_storage(), y.storage()):
        with pytest.raises(RuntimeError, match="Attempted to set the storage .*different device"):
            x.set_(source)
    with pytest.raises(RuntimeError, match="different device"):
        y.set_(x.untyped_storage(), 0, (3,))
    assert x.tolist() == [1.0] * 3 and y.tolist() == [0.0] * 3


def test_storages_go_between_devices():
    x = torch.arange(4.0)
    there = x.untyped_storage().cuda(1)
    assert (str(there.device), there.is_cuda, there.get_device()) == ("cuda:1", True, 1)
    assert there.cuda(1) is there and x.untyped_storage().cpu() is x.untyped_storage()
    assert not x.untyped_storage().is_cuda and x.untyped_storage().get_device() == -1
    assert there.cpu().tolist() == x.untyped_storage().tolist()
    typed = x.storage().cuda()
    assert typed.is_cuda and typed.get_device() == 0 and typed.cpu().tolist() == x.tolist()
    assert typed.cuda(0) is typed
    with pytest.raises(torch.AcceleratorError, match="invalid device ordinal"):
        x.untyped_storage().cuda(9)


def test_a_function_maps_storages_when_a_file_is_read():
    file = io.BytesIO()
    torch.save(torch.arange(3.0), file)
    file.seek(0)
    x = torch.load(file, map_location=lambda storage, place: storage.cuda(1))
    assert str(x.device) == "cuda:1" and x.tolist() == [0.0, 1.0, 2.0]


def test_memory_of_a_negative_size_is_refused():
    with pytest.raises(ValueError, match="size must not be negative, got -1"):
        torch.cuda.caching_allocator_alloc(-1)
    with pytest.raises(TypeError):
        torch.cuda.caching_allocator_alloc("x")
