"""Every collective beside NumPy: dtypes, operations, strided, empty and large tensors."""

import numpy as np

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed import ReduceOp

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
COMPLEX = (torch.complex64, torch.complex128)
INTS = (
    *(torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
    *(torch.uint16, torch.uint32, torch.uint64),
)
SHAPES = ((), (0,), (5,), (3, 4), (70_001,))


def values(shape, dtype, of, seed=0):
    """The tensor of a rank, which every rank can compute."""
    numbers = np.random.default_rng(17 * seed + of).integers(0, 5, shape)
    tensor = torch.tensor(numbers)
    if dtype.is_complex:
        return torch.complex(tensor.double(), (tensor + of).double()).to(dtype)
    return tensor.to(dtype)


def strided(tensor):
    """A tensor of the same values in memory that isn't contiguous."""
    wide = torch.stack([tensor, tensor.clone()], -1)
    return wide[..., 0]


def wide(tensor):
    """Values as NumPy's largest dtype of the kind."""
    if tensor.dtype.is_complex:
        return tensor.to(torch.complex128).numpy()
    if tensor.dtype == torch.bool:
        return tensor.numpy()
    return tensor.to(torch.float64).numpy()


def check(result, expected, what):
    assert np.array_equal(wide(result), expected), (rank, what, result, expected)


REDUCTIONS = {
    ReduceOp.SUM: np.sum,
    ReduceOp.PRODUCT: np.prod,
    ReduceOp.MIN: np.min,
    ReduceOp.MAX: np.max,
}
BITS = {ReduceOp.BAND: np.bitwise_and, ReduceOp.BOR: np.bitwise_or, ReduceOp.BXOR: np.bitwise_xor}


def reductions():
    for dtype in (*FLOATS, *INTS, *COMPLEX):
        for shape in SHAPES:
            stack = np.stack([wide(values(shape, dtype, of)) for of in range(size)])
            for op, reduce in REDUCTIONS.items():
                if dtype.is_complex and op in (ReduceOp.MIN, ReduceOp.MAX):
                    continue
                x = values(shape, dtype, rank)
                version = x._version
                assert dist.all_reduce(x, op) is None
                check(x, reduce(stack, 0), (dtype, shape, op))
                assert x._version > version
            x = strided(values(shape, dtype, rank))
            dist.all_reduce(x)
            check(x, stack.sum(0), (dtype, shape, "strided"))
            x = values(shape, dtype, rank)
            dist.reduce(x, size - 1)
            if rank == size - 1:
                check(x, stack.sum(0), (dtype, shape, "reduce"))
            else:
                check(x, stack[rank], (dtype, shape, "reduce"))
    for dtype in FLOATS[:2]:
        x = torch.full((3,), float(rank), dtype=dtype)
        dist.all_reduce(x, ReduceOp.AVG)
        check(x, np.full(3, (size - 1) / 2), "average")
    for op, function in BITS.items():
        x = torch.tensor([rank + 1, 12, 5])
        dist.all_reduce(x, op)
        check(x, function.reduce([[of + 1, 12, 5] for of in range(size)]), op)
    flags = [[of == 0, False, True] for of in range(size)]
    for op, function in (
        (ReduceOp.SUM, np.logical_or),
        (ReduceOp.MAX, np.logical_or),
        (ReduceOp.PRODUCT, np.logical_and),
        (ReduceOp.MIN, np.logical_and),
        (ReduceOp.BXOR, np.logical_xor),
    ):
        x = torch.tensor(flags[rank])
        dist.all_reduce(x, op)
        check(x, function.reduce(flags), op)


def moving():
    for dtype in (*FLOATS, *INTS, *COMPLEX, torch.bool):
        for shape in SHAPES:
            every = [values(shape, dtype, of) for of in range(size)]
            mine = every[rank]
            for source in (mine, strided(mine)):
                x = (
                    strided(torch.zeros_like(mine))
                    if source is not mine
                    else torch.zeros_like(mine)
                )
                x.copy_(source)
                dist.broadcast(x, size - 1)
                check(x, wide(every[-1]), (dtype, shape, "broadcast"))
                results = [torch.zeros_like(mine) for _ in range(size)]
                dist.all_gather(results, source)
                for result, expected in zip(results, every):
                    check(result, wide(expected), (dtype, shape, "all_gather"))
                into = torch.zeros((size, *shape), dtype=dtype)
                dist.all_gather_into_tensor(into, source)
                check(into, np.stack([wide(each) for each in every]), (dtype, shape, "into"))
                results = [torch.zeros_like(mine) for _ in range(size)] if rank == 0 else None
                dist.gather(source, results, dst=0)
                for result, expected in zip(results or (), every):
                    check(result, wide(expected), (dtype, shape, "gather"))
                x = torch.zeros_like(mine)
                dist.scatter(x, every if rank == 0 else None, src=0)
                check(x, wide(mine), (dtype, shape, "scatter"))
            sent = [values(shape, dtype, rank, seed=to) for to in range(size)]
            results = [torch.zeros_like(mine) for _ in range(size)]
            dist.all_to_all(results, sent)
            for of, result in enumerate(results):
                check(
                    result, wide(values(shape, dtype, of, seed=rank)), (dtype, shape, "all_to_all")
                )
        if dtype != torch.bool:
            parts = [values((4,), dtype, rank, seed=to) for to in range(size)]
            expected = sum(wide(values((4,), dtype, of, seed=rank)) for of in range(size))
            x = torch.zeros(4, dtype=dtype)
            dist.reduce_scatter(x, parts)
            check(x, expected, (dtype, "reduce_scatter"))
            dist.reduce_scatter_tensor(x, torch.cat(parts))
            check(x, expected, (dtype, "reduce_scatter_tensor"))
    # Rank i sends i + j + 1 rows to rank j.
    rows = [rank + to + 1 for to in range(size)]
    x = torch.arange(sum(rows) * 2).reshape(-1, 2) + 1000 * rank
    y = torch.zeros(sum(rows), 2, dtype=x.dtype)
    dist.all_to_all_single(y, x, rows, rows)
    start = 0
    for of in range(size):
        begin = sum(of + to + 1 for to in range(rank))
        count = of + rank + 1
        expected = np.arange(begin * 2, (begin + count) * 2).reshape(-1, 2) + 1000 * of
        check(y[start : start + count], expected, "all_to_all_single")
        start += count


def asynchronous():
    x, y = torch.ones(4), torch.ones(100_000)
    works = [dist.all_reduce(t, async_op=True) for t in (x, y)]
    works[1].wait()
    assert works[0].wait() and works[0].is_completed() and works[0].is_success()
    assert works[0].result()[0] is x
    check(x, np.full(4, size), "async")
    check(y, np.full(100_000, size), "async")
    future = dist.all_reduce(torch.ones(2), async_op=True).get_future()
    doubled = future.then(lambda done: 2 * done.value()[0])
    check(doubled.wait(), np.full(2, 2 * size), "future")
    work = dist.barrier(async_op=True)
    work.wait()


def in_pieces():
    """Several large operations, which go on at another pace on each rank."""
    counts = [1_200_001, 200_003, 600_000, 70_000]
    tensors = [torch.arange(count, dtype=torch.float32) % 1009 + rank for count in counts]
    works = []
    for tensor in tensors:
        works.append(dist.all_reduce(tensor, async_op=True))
        for work in works[rank:]:
            work.is_completed()
    for work in works if rank else works[::-1]:
        work.wait()
    for count, tensor in zip(counts, tensors):
        expected = np.arange(count) % 1009 * size + sum(range(size))
        check(tensor, expected, (count, "in pieces"))
    count = 300_001
    whole = (torch.arange(size * count, dtype=torch.float64) + rank) % 101
    part = torch.zeros(count, dtype=torch.float64)
    dist.reduce_scatter_tensor(part, whole)
    indices = np.arange(rank * count, (rank + 1) * count)
    expected = sum((indices + of) % 101 for of in range(size))
    check(part, expected, "scattered in pieces")
    every = [torch.zeros(count, dtype=torch.float64) for _ in range(size)]
    dist.all_gather(every, part)
    check(every[rank], expected, "gathered")
    every = every if rank == 0 else None
    dist.gather(part, every, 0)
    part.zero_()
    dist.scatter(part, every, 0)
    check(part, expected, "back again")


def large_and_small():
    """Ranks whose parts are of very different size, or that wait at different times, still meet."""
    counts = [[(30_000 if of == 0 else 5) + to for to in range(size)] for of in range(size)]
    results = [torch.zeros(counts[of][rank]) for of in range(size)]
    dist.all_to_all(results, [torch.full((count,), 1.0 + rank) for count in counts[rank]])
    for of, result in enumerate(results):
        check(result, np.full(counts[of][rank], 1.0 + of), "all_to_all of uneven parts")
    x = torch.ones(100_000)
    work = dist.all_reduce(x, async_op=rank == 0)
    if work is not None:
        work.wait()
    check(x, np.full(100_000, size), "synchronous on some ranks")


def shared_memory():
    """What is sent may be a part of what is written."""
    x = torch.zeros(size, 3)
    x[rank] = 1.0 + rank
    dist.all_gather_into_tensor(x, x[rank])
    check(x, np.repeat(1.0 + np.arange(size)[:, None], 3, 1), "all_gather_into_tensor")
    x = torch.arange(2.0 * size) + 10 * rank
    dist.all_to_all_single(x, x)
    expected = [2 * rank + i + 10 * of for of in range(size) for i in range(2)]
    check(x, np.array(expected, dtype=float), "all_to_all_single")
    x = torch.arange(2.0 * size)
    part = x[2 * rank : 2 * rank + 2]
    dist.reduce_scatter_tensor(part, x)
    check(part, size * (2 * rank + np.arange(2.0)), "reduce_scatter_tensor")
    x = torch.arange(4.0).reshape(2, 2)
    dist.all_gather([x.t(), *(torch.zeros(2, 2) for _ in range(size - 1))], x)
    check(x, np.arange(4.0).reshape(2, 2).T, "all_gather into a view of the tensor")


def other_memory():
    """A tensor that gets other memory meanwhile leaves MPI the memory that it began with."""
    for count in (1000, 1 << 21, 1 << 23):
        x, y = torch.full((count,), 1.0 + rank), torch.full((count,), 100.0)
        before = x.detach()
        work = dist.all_reduce(x, ReduceOp.AVG, async_op=True)
        x.data = y
        work.wait()
        check(before, np.full(count, (size + 1) / 2), (count, "all_reduce"))
        assert y.unique().tolist() == [100]
        x = torch.full((count,), 1.0 + rank)
        if rank != size - 1:
            work = dist.broadcast(x, size - 1, async_op=True)
        x.data = torch.zeros(3)
        others = [torch.full((count,), 5.0) for _ in range(4)]  # in that memory, if it is free
        if rank == size - 1:
            x.data = torch.full((count,), 9.0)
            work = dist.broadcast(x, size - 1, async_op=True)
            x.data = torch.zeros(3)
            others += [torch.full((count,), 5.0) for _ in range(4)]
        work.wait()
        for each in others:
            assert each.unique().tolist() == [5]


def bools_of_others():
    """Any byte but 0 is true in memory that NumPy has written, and 1 where it arrives."""
    for count in (5, 100_000):
        flags = torch.from_numpy(np.full(count, 2 + 2 * rank, dtype=np.uint8).view(np.bool_))
        results = [torch.zeros(count, dtype=torch.bool) for _ in range(size)]
        dist.all_gather(results, flags)
        into = torch.zeros(size * count, dtype=torch.bool)
        dist.all_gather_into_tensor(into, flags)
        x = flags if rank == 0 else torch.zeros(count, dtype=torch.bool)
        dist.broadcast(x, 0)
        parts = [torch.zeros(count, dtype=torch.bool) for _ in range(size)]
        dist.all_to_all(parts, [flags] * size)
        for each in (*results, into, x, *parts):
            assert each.sum().item() == each.numel()
        dist.all_reduce(flags)
        assert flags.sum().item() == count


def dropped():
    """Memory stays until messages are sent, and results come, though nobody keeps the work."""
    count = 100_000
    if size > 1 and rank == 0:
        for number in range(8):
            dist.isend(torch.full((count,), float(number)), 1)
        for _ in range(20):
            torch.full((count,), -1.0)
    elif rank == 1:
        for number in range(8):
            x = torch.zeros(count)
            dist.recv(x, 0)
            check(x, np.full(count, float(number)), "dropped isend")
    x = strided(torch.ones(3, 4))
    dist.all_reduce(x, async_op=True)
    dist.broadcast(strided(torch.full((count,), 2.0)), 0, async_op=True)
    for _ in range(2):
        dist.barrier()
    check(x, np.full((3, 4), size), "dropped all_reduce")


def messages():
    following, before = (rank + 1) % size, (rank - 1) % size
    if size == 1:
        return
    for dtype in (*FLOATS, *INTS, *COMPLEX, torch.bool):
        x, y = values((7,), dtype, rank), torch.zeros(7, dtype=dtype)
        works = dist.batch_isend_irecv(
            [
                dist.P2POp(dist.isend, strided(x), following),
                dist.P2POp(dist.irecv, y, before, tag=0),
            ]
        )
        for work in works:
            work.wait()
        check(y, wide(values((7,), dtype, before)), dtype)
    if rank == 0:
        dist.send(torch.arange(3), 1, tag=5)
        dist.send(torch.arange(3) + 10, 1, tag=np.int64(4))
        dist.send_object_list([{"a": 1}, "b"], 1)
    elif rank == 1:
        x = torch.zeros(3, dtype=torch.int64)
        assert dist.recv(x, tag=4) == 0
        check(x, np.arange(3) + 10, "tag")
        assert dist.recv(x, 0, tag=5) == 0
        check(x, np.arange(3), "tag")
        objects = [None, None]
        assert dist.recv_object_list(objects) == 0
        assert objects == [{"a": 1}, "b"]


def objects():
    every = [None] * size
    dist.all_gather_object(every, {"rank": rank, "text": "x" * rank})
    assert every == [{"rank": of, "text": "x" * of} for of in range(size)]
    gathered = [None] * size if rank == 0 else None
    dist.gather_object(rank, gathered, dst=0)
    assert gathered == (list(range(size)) if rank == 0 else None)
    pair = [rank, "a"] if rank == 0 else [None, lambda: "no pickle of this is needed"]
    dist.broadcast_object_list(pair, src=0)
    assert pair == [0, "a"]
    own = [None]
    dist.scatter_object_list(
        own, [f"object {to}" for to in range(size)] if rank == 0 else None, src=0
    )
    assert own == [f"object {rank}"]


def groups():
    assert dist.get_process_group_ranks() == list(range(size))
    even = dist.new_group(range(0, size, 2))
    if rank % 2 == 0:
        x = torch.ones(2)
        dist.all_reduce(x, group=even)
        check(x, np.full(2, len(range(0, size, 2))), "group")
        assert dist.get_rank(even) == rank // 2
        assert dist.get_global_rank(even, rank // 2) == rank
        x = torch.tensor([rank])
        dist.broadcast(x, group=even, group_src=even.size() - 1)
        assert x.item() == 2 * (even.size() - 1)
        dist.destroy_process_group(even)
        try:
            dist.all_reduce(x, group=even)
        except ValueError as error:
            message = str(error)
        else:
            raise AssertionError("a destroyed group was used")
        assert "destroyed" in message
    else:
        assert even == dist.GroupMember.NON_GROUP_MEMBER
        assert dist.get_rank(even) == -1
    dist.monitored_barrier()
    for _ in range(1100 if size == 2 else 10):  # more than MPI has room for at a time
        dist.destroy_process_group(dist.new_group())


for part in (reductions, moving, asynchronous, large_and_small, shared_memory, dropped):
    part()
for part in (in_pieces, messages, objects, groups, other_memory, bools_of_others):
    part()
dist.destroy_process_group()
assert not dist.is_initialized()
dist.init_process_group()
dist.barrier()
print("all alike", flush=True)
