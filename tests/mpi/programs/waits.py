"""Operations that several threads wait for, that fail, and that exceptions interrupt."""

import datetime
import gc
import random
import signal
import sys
import threading
import time
import types

import numpy as np
import pytest

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy.distributed._world import world
from autograd_cy.distributed.work import Work
from autograd_cy.nn.parallel import DistributedDataParallel

dist.init_process_group(timeout=datetime.timedelta(seconds=10))
rank, size = dist.get_rank(), dist.get_world_size()
after, before = (rank + 1) % size, (rank - 1) % size


def in_threads(function, count):
    """Call a function with 0, 1, ... in a thread each, and wait for all."""
    threads = [threading.Thread(target=function, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def by_threads():
    """Every thread sees the result when its wait is over, and the source."""
    sys.setswitchinterval(1e-5)
    wrong = []
    for number in range(40):
        count = (3, 1 << 14, 1 << 20)[number % 3]
        total = torch.zeros(2 * count)[::2]  # which the operation copies at its end
        total.fill_(rank + number)
        taken = torch.zeros(count)
        works = [
            dist.all_reduce(total, async_op=True),
            dist.irecv(taken, before),
            dist.isend(torch.full((count,), float(number)), after),
        ]

        def wait(place, works=works, total=total, taken=taken, number=number):
            try:
                for work in random.sample(works, len(works)):
                    if place:
                        work.wait()
                    else:
                        while not work.is_completed():
                            pass
                if total.unique().tolist() != [size * number + sum(range(size))]:
                    wrong.append((number, "total"))
                if taken.unique().tolist() != [number] or works[1].source_rank() != before:
                    wrong.append((number, "taken"))
            except Exception as error:
                wrong.append((number, repr(error)))

        in_threads(wait, 3)
    assert not wrong, wrong


def futures_by_threads():
    """The function of a future is called once, and each thread gets its result."""
    sys.setswitchinterval(1e-6)
    wrong = []
    for number in range(60):
        calls = []
        x = torch.full(((3, 1 << 15)[number % 2],), float(number))
        first = dist.all_reduce(x, async_op=True).get_future()

        def mean(future, calls=calls):
            calls.append(1)
            return future.value()[0] / size

        second = first.then(mean)

        def wait(place, first=first, second=second, number=number):
            try:
                if place == 0:
                    while not second.done():
                        pass
                elif place == 1:
                    first.wait()
                if second.wait().unique().tolist() != [number]:
                    wrong.append((number, "value"))
            except Exception as error:
                wrong.append((number, repr(error)))

        in_threads(wait, 4)
        assert len(calls) == 1
    assert not wrong, wrong


def failed():
    """A message that doesn't fit is an error of each wait for it, not of the first one alone."""
    for count in (2, 4):  # too small for it, and too large
        work = dist.irecv(torch.zeros(count), before)
        dist.send(torch.ones(3), after)
        for ask in (work.wait, work.is_completed, work.wait, work.get_future().wait):
            with pytest.raises(RuntimeError, match="number of elements|3 elements"):
                ask()
        assert "elements" in str(work.exception())
    assert dist.all_reduce(torch.ones(3), async_op=True).exception() is None


class Ready:
    """A request that is complete, whose test does something else before."""

    def __init__(self, act):
        self.Test = lambda: act() or True


def while_results_are_brought():
    """A handler that interrupts just that doesn't take the operation for complete."""
    results, works = [], []

    def finish():
        with pytest.raises(RuntimeError, match="leave a note in the handler"):
            works[0].wait()  # as the handler of a signal would
        assert not works[0]._done
        results.append(1)

    group = dist.group.WORLD
    works.append(Work(group, group._call("own"), Ready(lambda: None), finish))
    assert works[0].wait() and results == [1]
    assert works[0].is_completed() and works[0].exception() is None
    # A dropped operation may be completed while another thread asks for it.
    asked = []

    def ask():
        asked.append(1)
        if len(asked) == 1:
            dist.all_reduce(torch.ones(3))

    def go_on():
        asked.append(2)
        dist.all_reduce(torch.ones(3))

    work = Work(group, group._call("own"), Ready(ask), go_on)
    del work
    dist.all_reduce(torch.ones(3), async_op=True).wait()
    assert asked.count(1) == 2 and asked.count(2) == 1


def tested_before():
    """A wait that was interrupted just when the message had come is taken up again."""
    for count in (3, 1 << 20):
        x = torch.zeros(count)
        works = [dist.isend(torch.full((count,), 5.0 + rank), after), dist.irecv(x, before)]
        for work in works:
            while not work._request.Test():
                pass
            work.wait()
        assert x.unique().tolist() == [5 + before] and works[1].source_rank() == before


def destroyed():
    """Operations of a group go on after it is destroyed, as those of torch do."""
    for number in range(20):
        group = dist.new_group()
        tensors = [torch.full((count,), float(number)) for count in (3, 1 << 14, 1 << 21)]
        works = [dist.all_reduce(each, group=group, async_op=True) for each in tensors]
        if rank == number % size:
            time.sleep(0.02)
        dist.destroy_process_group(group)
        for work, each in zip(works, tensors, strict=True):
            work.wait()
            assert each.unique().tolist() == [size * number]


def interrupted_before():
    """MPI may still write what an interrupted call compares, also after its group is destroyed."""

    def ring(*_):
        raise RangError

    group = dist.new_group()
    control = group._control
    if rank == 0:
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(RangError):
            dist.all_gather_object([None] * size, 3, group)
        dist.destroy_process_group(group)
        others = [np.arange(2) for _ in range(1000)]  # in that memory, if it is free
        dist.barrier()
        assert all(each.tolist() == [0, 1] for each in others)
    else:
        time.sleep(0.5)
        values = np.array([-9, -9])  # the call that rank 0 has left
        world.watch.wait(
            control.Iallreduce(world.mpi.IN_PLACE, values, world.mpi.MAX), group._call("own")
        )
        dist.barrier()


def after_a_failed_backward():
    """A new wrapper works, and the thread rests."""
    torch.manual_seed(0)
    module = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)])
    model = DistributedDataParallel(module, bucket_cap_mb=1)
    x = torch.randn(8, 512)
    model(x).mean().backward()

    def fail(gradient):
        raise KeyError("of a hook")

    handle = module[1].weight.register_hook(fail)
    with pytest.raises(KeyError):
        model(x).mean().backward()
    handle.remove()
    with pytest.raises(RuntimeError, match="has ended by an error"):
        model(x)
    calls = [0]
    watch = world.watch
    progress = watch.progress
    watch.progress = lambda: (calls.__setitem__(0, calls[0] + 1), progress())
    time.sleep(0.1)
    assert not calls[0]
    watch.progress = progress
    dist.barrier()
    del model
    gc.disable()  # the old wrapper isn't a part of a cycle
    model = DistributedDataParallel(module)
    module.zero_grad()
    model(x * (rank + 1)).mean().backward()
    gradient = module[0].weight.grad.clone()
    dist.broadcast(gradient, 0)
    assert torch.equal(gradient, module[0].weight.grad)


class RangError(Exception):
    pass


def interrupted():
    """A wait that an exception has ended goes on, or is an error: it never returns too early."""

    def ring(*_):
        raise RangError

    def wait(work):
        rung = 0
        for _ in range(5):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + 4e-3 * random.random())
                try:
                    work.wait()
                    return rung
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except RangError:
                rung += 1
        work.wait()
        return rung

    if rank == 0:
        signal.signal(signal.SIGALRM, ring)
    rung = 0
    for number in range(200):
        # Halves are added by a function of this package, which MPI calls.
        dtype = (torch.float32, torch.float16, torch.bfloat16)[number % 3]
        x = torch.full((1 << 21,), float(number % 8), dtype=dtype)
        work = dist.all_reduce(x, async_op=True)
        try:
            rung += wait(work) if rank == 0 else work.wait() - 1
        except RuntimeError as error:  # while the result was brought into place
            if "can't go on; end the job" not in str(error):
                raise
        assert x.unique().tolist() == [size * (number % 8)]
    assert rung > 5 or rank, rung


def by_handlers():
    """Handlers of signals wait, too, for other operations and for the one that they interrupt."""
    works, refused = [], []

    def ring(*_):
        for work in works:
            try:
                work.wait()
            except RuntimeError as error:
                refused.append(str(error))

    # Handlers of several ranks might each wait for what another one has interrupted.
    signal.signal(signal.SIGALRM, signal.SIG_IGN if rank else ring)
    for number in range(50 if size == 2 else 5):  # more ranks leave operations to MPI
        tensors = [torch.full((1 << 20 << place,), float(number)) for place in range(3)]
        works[:] = [dist.all_reduce(each, async_op=True) for each in tensors]
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + 6e-3 * random.random())
        for work in [*works]:
            work.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
        for each in tensors:
            assert each.unique().tolist() == [size * number]
    assert all("leave a note in the handler" in text for text in refused), refused


def begun_by_a_handler():
    """A wait lets an operation go on that has begun during it."""
    works, x, y = [], torch.zeros(3), torch.ones(1 << 23)  # of more pieces than are under way

    def ring(*_):
        works.append(dist.all_reduce(y, async_op=True))

    if rank == 0:
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        dist.recv(x, 1)  # which comes after the sum
        works[0].wait()
    else:
        dist.all_reduce(y)
        if rank == 1:
            dist.send(x, 0)
    assert y.unique().tolist() == [size]


def out_of_memory():
    """An error in a thread is one of those who wait."""
    sent = []

    def fail(*arguments):
        sent.append(arguments)
        if len(sent) > 8:  # what is under way at once
            raise MemoryError("no memory")
        return control.Isend(*arguments)

    group = dist.group.WORLD
    control = group._control
    if rank == 0:
        group._control = types.SimpleNamespace(
            Isend=fail, Irecv=control.Irecv, Iallreduce=control.Iallreduce
        )
    x = torch.ones(1 << 23)  # of more pieces than are under way at once
    work = dist.all_reduce(x, async_op=True)
    if rank == 0:
        world.watch.begin_background()
        while world.watch.exchanges:
            pass
        world.watch.end_background()
        world.watch.begin_background()  # the thread is alive
        assert [each for each in threading.enumerate() if "autograd_cy" in each.name]
    work.wait()


globals()[sys.argv[1]]()
print("waited", flush=True)
