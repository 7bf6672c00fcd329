"""Tensors that can't be written, or have no values, are refused before data move."""

import warnings

import numpy as np
import pytest

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy._C import rank_messages
from autograd_cy.distributed import _mpi
from autograd_cy.distributed._operation import run
from autograd_cy.distributed._world import world

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()
after = (rank + 1) % size
one, many = torch.full((4,), 7.0), [torch.full((4,), 7.0) for _ in range(size)]

# Name -> a call that writes a tensor of 4 elements on this rank. Others would wait for it.
WRITES = {
    "all_reduce": dist.all_reduce,
    "broadcast": lambda x: dist.broadcast(x, after),
    "reduce": lambda x: dist.reduce(x, rank),
    "all_gather": lambda x: dist.all_gather([x] * size, one),
    "all_gather_into_tensor": lambda x: dist.all_gather_into_tensor(x, one[: 4 // size]),
    "gather": lambda x: dist.gather(one, [x] * size, rank),
    "scatter": lambda x: dist.scatter(x, many, rank),
    "reduce_scatter": lambda x: dist.reduce_scatter(x, many),
    "reduce_scatter_tensor": lambda x: dist.reduce_scatter_tensor(x, torch.cat(many)),
    "all_to_all": lambda x: dist.all_to_all([x] * size, many),
    "all_to_all_single": lambda x: dist.all_to_all_single(x, one),
    "irecv": lambda x: dist.irecv(x, after),
}
# The same for lists of inputs.
READS = {
    "scatter": lambda x: dist.scatter(one, [x] * size, rank),
    "reduce_scatter": lambda x: dist.reduce_scatter(one, [x] * size),
    "all_to_all": lambda x: dist.all_to_all(many, [x] * size),
}

data = np.ones(4, dtype=np.float32).tobytes()
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    constant = torch.frombuffer(data, dtype=torch.float32)
base = torch.ones(5)
with torch.inference_mode():
    inferred = torch.ones(4)
refused = {
    "shows read-only memory": constant,
    "single memory location": base[:1].expand(4),
    "a single memory": base.as_strided((2, 2), (1, 1)),
}
for name, call in WRITES.items():
    for text, tensor in refused.items():
        version = tensor._version
        with pytest.raises(RuntimeError, match=f"{name}: .*{text}"):
            call(tensor)
        assert tensor._version == version
    with pytest.raises(RuntimeError, match=f"{name}: Inplace update to inference tensor"):
        call(inferred)
    with pytest.raises(RuntimeError, match="vmap: distributed: "):
        torch.func.vmap(call)(torch.ones(2, 4))
    with pytest.raises(TypeError, match="on device meta"):
        call(torch.ones(4, device="meta"))
for call in READS.values():
    with pytest.raises(RuntimeError, match="vmap: distributed: "):
        torch.func.vmap(call)(torch.ones(2, 4))
    with pytest.raises(TypeError, match="on device meta"):
        call(torch.ones(4, device="meta"))
assert np.frombuffer(data, dtype=np.float32).tolist() == [1] * 4
assert base.tolist() == [1] * 5
for sizes in ([0.5] * (size - 1) + [size - 0.5 * (size - 1)], [1.0] * size, ["1"] * size):
    with pytest.raises(TypeError, match="must be whole numbers"):
        dist.all_to_all_single(torch.ones(size), torch.ones(size), sizes, sizes)
for first, second in ((2, 1), (1, 2)):
    result = torch.zeros(first * size)
    with pytest.raises(RuntimeError, match="equal parts need as many elements"):
        dist.all_to_all_single(result, torch.ones(second * size))
    assert not result.any()
with pytest.raises(TypeError, match="integer"):
    dist.new_group([0.5, 1.5])

# What is only read may be anything, and the source of a broadcast keeps its version.
for tensor in refused.values():
    result = torch.zeros_like(tensor) if rank else tensor
    version = tensor._version
    dist.broadcast(result, 0)
    assert result.tolist() == torch.ones_like(tensor).tolist() and tensor._version == version
    total = tensor.clone() if rank == 0 else tensor
    dist.reduce(total, 0)
    assert total.unique().tolist() == [1 if rank else size]
counts = np.ones(size, dtype=np.int64)  # not only a list
received = torch.zeros(size)
dist.all_to_all_single(received, torch.full((size,), float(rank)), counts, counts)
assert received.tolist() == list(range(size))

# Large messages are sent in parts, where MPI takes fewer elements at once.
rank_messages.set_limits(300_001)
for count in (1 << 20, (1 << 20) + 5):
    x = torch.arange(count) * (rank == 0)
    dist.broadcast(x, 0)
    assert torch.equal(x, torch.arange(count))
    parts = [torch.zeros(count) for _ in range(size)]
    dist.all_gather(parts, torch.arange(float(count)) + rank)
    for number, part in enumerate(parts):
        assert torch.equal(part, torch.arange(float(count)) + number)
# Messages of one tensor are not: the error says what to do.
_mpi.MANY = 100
if world.mpi.VERSION < 4:
    for call in (
        lambda: dist.send(torch.ones(100), after),
        lambda: dist.recv(torch.ones(100), after),
        lambda: dist.broadcast_object_list([bytes(100)], 0),
        lambda: dist.all_gather_object([None] * size, bytes(100)),
        lambda: dist.gather_object(bytes(100), [None] * size if rank == 0 else None),
    ):
        with pytest.raises(RuntimeError, match="too many elements; .* use several calls"):
            call()


def out_of_memory():
    raise world.mpi.Exception(world.mpi.ERR_NO_MEM)


# Other errors of such an MPI stay what they are.
message = "too many elements" if world.mpi.VERSION < 4 else "memory"
with pytest.raises(RuntimeError, match=message):
    run(dist.group.WORLD, "own", "own", out_of_memory, list, False, (), 1 << 31)
dist.barrier()
print("refused", flush=True)
