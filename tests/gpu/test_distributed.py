"""Tensors of GPUs in collectives: by pinned memory, or by pointers for an MPI that takes them.

The stand-in for MPI sees the address of what it gets. It doubles the numbers there, as a sum over
two ranks with the same numbers does.
"""

import ctypes
import subprocess

import numpy as np
import pytest
from emulator import places

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy._C import rank_memory
from autograd_cy.distributed import _mpi, _world
from autograd_cy.distributed._world import ProcessGroup, world


class Request:
    """An operation that has ended."""

    def Test(self):
        return True


class Comm:
    """A communicator of two ranks with the same tensors."""

    def __init__(self):
        self.addresses = []
        self.kinds = []

    def Set_errhandler(self, handler):
        pass

    def Dup(self):
        return self

    def Ibarrier(self):
        return Request()

    def Iallreduce(self, _, buffer, operation):
        (address, nbytes), count, _ = buffer
        self.addresses.append(address)
        self.kinds.append(kind_of(address))
        if kind_of(address) == 2:
            from pycuda import driver

            numbers = np.empty(count, np.float32)
            driver.memcpy_dtoh(numbers, address)
            driver.memcpy_htod(address, 2 * numbers)
        else:
            numbers = np.frombuffer((ctypes.c_char * nbytes).from_address(address), np.float32)
            numbers *= 2
        return Request()


class Library:
    """The module MPI, as far as a reduction needs it."""

    IN_PLACE = ERRORS_RETURN = None
    Exception = RuntimeError

    class buffer:
        @staticmethod
        def fromaddress(address, nbytes):
            return address, nbytes


class Watch:
    def wait(self, request, call, moving=False):
        assert request.Test()

    def is_over(self):
        return True


def kind_of(address):
    """1 for memory of the host, 2 for that of a GPU, 0 for what the driver doesn't know."""
    kind = ctypes.c_uint()
    library = ctypes.CDLL("libcuda.so.1")
    failed = library.cuPointerGetAttribute(ctypes.byref(kind), 2, ctypes.c_uint64(address))
    return 0 if failed else kind.value


@pytest.fixture
def group(monkeypatch):
    """The default group: two ranks of the stand-in."""
    monkeypatch.setattr(world, "mpi", Library)
    monkeypatch.setattr(_mpi, "_MPI", Library)
    rank_memory.set_mpi(Library.buffer, {torch.float32: "FLOAT"})
    monkeypatch.setattr(_mpi, "operation", lambda op, dtype: None)
    monkeypatch.setattr(world, "watch", Watch())
    monkeypatch.setattr(_world.ProcessGroup, "_agree", lambda *_: None)
    group = ProcessGroup((0, 1), 0, Comm(), 0, 60.0, "mpi")
    monkeypatch.setattr(world, "default", group)
    return group


def test_tensors_of_gpus_go_by_pinned_memory(group, monkeypatch):
    monkeypatch.setattr(world, "cuda_aware", False)
    x = torch.tensor([1.0, 2.0, 3.0]).cuda()
    version = x._version
    dist.all_reduce(x)
    assert x.cpu().tolist() == [2.0, 4.0, 6.0] and x._version > version
    assert group._comm.kinds == [1]  # the driver knows it, so that it is pinned


def test_an_mpi_that_takes_pointers_of_gpus_gets_them(group, monkeypatch):
    monkeypatch.setattr(world, "cuda_aware", True)
    x = torch.tensor([1.0, 2.0, 3.0]).cuda()
    version = x._version
    dist.all_reduce(x)
    assert x.cpu().tolist() == [2.0, 4.0, 6.0] and x._version > version
    assert group._comm.addresses == [x.data_ptr()]
    strided = torch.zeros(3, 2, device="cuda")[:, 0]
    strided.copy_(torch.tensor([1.0, 2.0, 3.0]))
    dist.all_reduce(strided)
    assert strided.cpu().tolist() == [2.0, 4.0, 6.0]
    assert group._comm.kinds == [2, 2] and group._comm.addresses[1] != strided.data_ptr()


def test_half_types_stay_with_the_host_which_adds_them(monkeypatch):
    from autograd_cy.distributed._operands import as_input

    monkeypatch.setattr(world, "cuda_aware", True)
    assert as_input(torch.ones(2).bfloat16().cuda()).device.type == "cpu"
    assert as_input(torch.ones(2).cuda()).device.type == "cuda"


def test_memory_is_complete_before_mpi_gets_it(group, monkeypatch):
    """Work of the current stream has ended; the emulated driver poisons what hasn't run."""
    monkeypatch.setattr(world, "cuda_aware", True)
    with torch.cuda.stream(torch.cuda.Stream()):
        x = torch.tensor([1.0, 2.0, 3.0]).pin_memory().cuda(non_blocking=True)
        dist.all_reduce(x)
    torch.cuda.synchronize()
    assert x.cpu().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize(("switch", "way"), [("0", "copied through pinned"), ("1", "handed to it")])
def test_the_backend_nccl_warns_of_the_way(switch, way, monkeypatch):
    monkeypatch.setenv("AUTOGRAD_CY_CUDA_AWARE_MPI", switch)
    with pytest.warns(UserWarning, match=f"'nccl' is MPI here: tensors of GPUs are {way}"):
        dist.init_process_group("nccl")
    dist.destroy_process_group()


PROGRAM = """
import autograd_cy as torch
import autograd_cy.distributed as dist

dist.init_process_group()
rank = dist.get_rank()
x = torch.tensor([1.0, 2.0]).cuda()
dist.all_reduce(x)
every = [torch.zeros(2).cuda() for _ in range(2)]
dist.all_gather(every, torch.tensor([1.0 + rank, 0.0]).cuda())
y = torch.tensor([5.0 + rank, 0.0]).cuda()
dist.broadcast(y, 1)
print([t.cpu().tolist() for t in (x, *every, y)], flush=True)
"""


def test_two_ranks_meet_with_tensors_of_gpus(tmp_path):
    from autograd_cy._environment import mpi_launcher

    try:
        launcher = mpi_launcher.find()
    except RuntimeError as error:
        pytest.skip(str(error))
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    command, variables = mpi_launcher.command_of(launcher, 2, [str(script)])
    if launcher.vendor == "Open MPI" and "--oversubscribe" not in command:
        command.insert(1, "--oversubscribe")
    names = [name for name in variables if name.startswith("OMPI_ALLOW")]
    environment = places.environment(**{name: variables[name] for name in names})
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-4000:]
    expected = "[[2.0, 4.0], [1.0, 0.0], [2.0, 0.0], [6.0, 0.0]]"
    assert done.stdout.count(expected) == 2, done.stdout
