"""Threads with many streams, in any order of work, and with too little memory."""

import gc
import random
import threading

import pytest
from conftest import REAL
from emulator import control

import autograd_cy as torch
from autograd_cy._C import cuda_memory


class Worker:
    """Tensors, each with the value of all its elements, its stream, and its last event."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.streams = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
        self.live = []
        self.failed = 0

    def run(self, steps):
        for _ in range(steps):
            step = self.random.choice([self.make, self.make, self.change, self.change, self.look])
            try:
                step()
            except torch.cuda.OutOfMemoryError:
                self.failed += 1
                self.live = self.live[1:]
            self.live = self.live[-6:]
            if self.random.random() < 0.03:
                torch.cuda.empty_cache()

    def make(self):
        stream, value = self.random.choice(self.streams), float(self.random.randrange(100))
        size = self.random.choice([10, 1000, 200_000, 500_000])
        with torch.cuda.stream(stream):
            if self.random.random() < 0.5:
                x = torch.full((size,), value).pin_memory().to("cuda", non_blocking=True)
            else:
                x = torch.full((size,), value, device="cuda")
            self.live.append((x, value, stream, stream.record_event()))

    def change(self):
        if self.live:
            place = self.random.randrange(len(self.live))
            x, value, _, event = self.live[place]
            stream = self.random.choice(self.streams)
            stream.wait_event(event)
            with torch.cuda.stream(stream):
                y = x + 1
                x.record_stream(stream)
                self.live[place] = (y, value + 1, stream, stream.record_event())

    def look(self):
        if self.live:
            x, value, stream, event = self.live.pop(self.random.randrange(len(self.live)))
            stream.wait_event(event)
            with torch.cuda.stream(stream):
                assert (x.cpu() == value).all()


@pytest.mark.parametrize("seed", range(6))
def test_values_stay_right_and_nothing_is_lost(seed):
    torch.cuda.init()
    if not REAL:
        control.order("late" if seed % 2 else "random", seed)
        control.limit((8192 if seed % 3 == 0 else 24) << 20)
    before = cuda_memory.stats(0)["allocation"][0]
    workers = [Worker(100 * seed + k) for k in range(4)]
    errors = []

    def run(worker):
        try:
            worker.run(100)
        except BaseException as error:
            errors.append(error)
        worker.live.clear()

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not REAL:
        control.limit(8 << 30)
    assert not errors
    workers.clear()
    gc.collect()
    assert cuda_memory.stats(0)["allocation"][0] == before
