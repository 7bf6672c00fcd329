"""Tensors that processes share: forked ones, and those that get them by pickle."""

import multiprocessing
import os
import subprocess
import sys
from multiprocessing import resource_sharer
from multiprocessing.reduction import ForkingPickler

import pytest

import autograd_cy.legacy as torch
from autograd_cy._tensors import sharing
from autograd_cy.legacy import nn

HOGWILD = """
import multiprocessing
import autograd_cy.legacy as torch
from autograd_cy.legacy import nn, optim
from autograd_cy.legacy.autograd import Variable

def work(model, number):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        out = model(Variable(torch.ones(1, 2)))
        ((out - 3) * (out - 3)).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    model = nn.Linear(2, 1).share_memory()
    workers = [context.Process(target=work, args=(model, i)) for i in range(2)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    print([worker.exitcode for worker in workers])
    print(round(model(Variable(torch.ones(1, 2))).data[0][0], 3))
"""


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    resource_sharer.stop()


def test_what_multiprocessing_pickles_stays_on_the_same_memory():
    x = torch.FloatTensor([[1, 2, 3], [4, 5, 6]]).share_memory_()
    row = x[1]
    other = ForkingPickler.loads(ForkingPickler.dumps(row))
    assert type(other) is torch.FloatTensor and other.is_shared()
    other.fill_(7)
    assert x.tolist() == [[1, 2, 3], [7, 7, 7]]
    plain = ForkingPickler.loads(ForkingPickler.dumps(torch.ones(2)))
    assert plain.tolist() == [1, 1] and not plain.is_shared()


def test_sharing_twice_changes_nothing_and_keeps_the_layout():
    x = torch.range(0, 5).view(2, 3).t().share_memory_()
    where = x.data_ptr()
    assert x.share_memory_().data_ptr() == where and x.stride() == (1, 3)
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert torch.Tensor().share_memory_().numel() == 0


def test_a_forked_process_writes_what_this_one_reads():
    x = torch.zeros(3).share_memory_()
    process = multiprocessing.get_context("fork").Process(target=x.fill_, args=(5,))
    process.start()
    process.join()
    assert process.exitcode == 0 and x.tolist() == [5, 5, 5]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts descriptors by /proc")
def test_descriptors_are_closed_with_the_memory(monkeypatch):
    monkeypatch.setattr(sharing, "_strategy", "file_descriptor")  # whatever ran before

    def count():
        return len(os.listdir("/proc/self/fd"))

    before = count()
    tensors = [torch.ones(4).share_memory_() for _ in range(20)]
    assert count() >= before + 20
    del tensors
    assert count() == before


def test_spawned_processes_train_one_model(tmp_path):
    file = tmp_path / "hogwild.py"
    file.write_text(HOGWILD)
    path = os.pathsep.join(sys.path)  # the package may be built where it lies
    done = subprocess.run(
        [sys.executable, file],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.split("\n")[:2] == ["[0, 0]", "3.0"], done.stderr


def test_a_shared_module_is_pickled_with_its_memory():
    model = nn.Linear(2, 1).share_memory()
    other = ForkingPickler.loads(ForkingPickler.dumps(model))
    other.weight.data.fill_(2)
    assert model.weight.data.tolist() == [[2, 2]]
