"""A world of one process: every call works without MPI, and bad ones are refused."""

import datetime
import os
import subprocess
import sys

import numpy as np
import pytest

import autograd_cy as torch
import autograd_cy.distributed as dist
from autograd_cy._environment import launcher
from autograd_cy.distributed import ReduceOp
from autograd_cy.nn.parallel import DistributedDataParallel


@pytest.fixture
def world():
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=5))
    yield dist.group.WORLD
    if dist.is_initialized():
        dist.destroy_process_group()


def test_a_program_for_several_processes_or_one():
    def reduced(value, op=dist.ReduceOp.SUM, group=dist.group.WORLD):
        if dist.is_available() and dist.is_initialized():
            dist.all_reduce(value, op=op, group=group)
        return value

    assert reduced(3) == 3 and not dist.is_nccl_available() and not dist.is_torchelastic_launched()
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        dist.get_rank()
    from autograd_cy.distributed.elastic.multiprocessing.errors import record

    assert record(reduced) is reduced
    assert dist.Backend("NCCL") == dist.Backend.NCCL == "nccl"
    from autograd_cy.distributed.distributed_c10d import ProcessGroup, ReduceOp, get_world_size

    assert ReduceOp is dist.ReduceOp and ProcessGroup is dist.ProcessGroup
    assert get_world_size is dist.get_world_size


def test_collectives_of_one_process_give_its_own_values(world):
    x = torch.arange(6.0).reshape(2, 3).t()
    for op in (ReduceOp.SUM, ReduceOp.AVG, ReduceOp.MAX, ReduceOp.PRODUCT):
        before = x.clone()
        version = x._version
        dist.all_reduce(x, op)
        assert torch.equal(x, before) and x._version > version
    results = [torch.zeros(3, 2)]
    dist.all_gather(results, x)
    assert torch.equal(results[0], x)
    y = torch.zeros(3, 2)
    dist.scatter(y, [x], src=0)
    assert torch.equal(y, x)
    dist.reduce_scatter_tensor(y, x + 1)
    assert torch.equal(y, x + 1)
    dist.all_to_all_single(y, x)
    assert torch.equal(y, x)
    work = dist.all_reduce(y, async_op=True)
    assert work.wait() and work.is_completed() and work.result()[0] is y
    dist.barrier()
    dist.monitored_barrier()
    assert dist.new_group([0]).size() == 1


def test_no_collective_writes_a_leaf_that_records(world):
    leaf = torch.ones(2, requires_grad=True)
    calls = [
        lambda: dist.all_reduce(leaf),
        lambda: dist.reduce(leaf, dst=0),
        lambda: dist.all_gather([leaf], torch.ones(2)),
        lambda: dist.all_gather_into_tensor(leaf, torch.ones(2)),
        lambda: dist.gather(torch.ones(2), [leaf], dst=0),
        lambda: dist.scatter(leaf, [torch.ones(2)], src=0),
        lambda: dist.reduce_scatter(leaf, [torch.ones(2)]),
        lambda: dist.reduce_scatter_tensor(leaf, torch.ones(2)),
        lambda: dist.all_to_all([leaf], [torch.ones(2)]),
        lambda: dist.all_to_all_single(leaf, torch.ones(2)),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
            call()
        with torch.no_grad():
            call()


BAD = [
    (TypeError, "Expected parameter `tensor`", lambda: dist.all_reduce([1.0])),
    (TypeError, "op must be a ReduceOp", lambda: dist.all_reduce(torch.ones(1), "sum")),
    (RuntimeError, "AVG isn't an operation of", lambda: dist.all_reduce(torch.ones(1).int(), AVG)),
    (ValueError, "MAX isn't an operation of", lambda: dist.all_reduce(torch.ones(1) * 1j, MAX)),
    (RuntimeError, "BAND isn't an operation of", lambda: dist.all_reduce(torch.ones(1), BAND)),
    (TypeError, "group must be a ProcessGroup", lambda: dist.barrier("world")),
    (ValueError, "must specify src", lambda: dist.broadcast(torch.ones(1))),
    (ValueError, "Global rank 3 is not part", lambda: dist.broadcast(torch.ones(1), 3)),
    (ValueError, "can't specify both", lambda: dist.broadcast(torch.ones(1), 0, group_src=0)),
    (ValueError, "group_src=2", lambda: dist.broadcast(torch.ones(1), group_src=2)),
    (RuntimeError, "has 0 tensors", lambda: dist.all_gather([], torch.ones(1))),
    (
        RuntimeError,
        "same dtype and number",
        lambda: dist.all_gather([torch.ones(2)], torch.ones(1)),
    ),
    (ValueError, "must be specified on destination", lambda: dist.gather(torch.ones(1))),
    (ValueError, "must be specified on source", lambda: dist.scatter(torch.ones(1))),
    (
        RuntimeError,
        "1 times the elements",
        lambda: dist.all_gather_into_tensor(*map(torch.ones, (3, 2))),
    ),
    (RuntimeError, "one part a rank", lambda: dist.reduce_scatter_tensor(*map(torch.ones, (3, 2)))),
    (
        RuntimeError,
        "split_sizes",
        lambda: dist.all_to_all_single(*map(torch.ones, (2, 2)), [1], [2]),
    ),
    (ValueError, "has one rank", lambda: dist.send(torch.ones(1), 0)),
    (ValueError, "at least one", lambda: dist.batch_isend_irecv([])),
    (ValueError, "Invalid ``op``", lambda: dist.P2POp(dist.send, torch.ones(1), 0)),
    (ValueError, "different numbers from 0 to 0", lambda: dist.new_group([0, 0])),
    (ValueError, "different numbers from 0 to 0", lambda: dist.new_group([1])),
    (ValueError, "on all ranks", lambda: dist.new_group([0], use_local_synchronization=True)),
    (ValueError, "twice", lambda: dist.init_process_group()),
    (ValueError, "Group rank 1", lambda: dist.get_global_rank(dist.group.WORLD, 1)),
    (ValueError, "Global rank 1", lambda: dist.get_group_rank(dist.group.WORLD, 1)),
    (ValueError, "list of 1 objects", lambda: dist.all_gather_object([], 1)),
    (TypeError, "on device meta", lambda: dist.all_reduce(torch.ones(1, device="meta"))),
]
AVG, MAX, BAND = ReduceOp.AVG, ReduceOp.MAX, ReduceOp.BAND


def test_bad_calls_are_refused_and_change_nothing(world):
    for error, text, call in BAD:
        with pytest.raises(error, match=text.replace("(", r"\(")):
            call()
    x = torch.ones(2)
    dist.all_reduce(x)
    assert torch.equal(x, torch.ones(2))


def test_starting_refuses_what_cannot_be(monkeypatch):
    with pytest.raises(ValueError, match="Invalid backend: 'smoke'"):
        dist.init_process_group("smoke")
    with pytest.raises(RuntimeError, match="'nccl' is for GPUs"):
        dist.init_process_group("nccl")
    with pytest.raises(TypeError, match="timeout must be a datetime.timedelta"):
        dist.init_process_group(timeout=3)
    with pytest.raises(RuntimeError, match="2 ranks are asked for.*mpirun -n 2"):
        dist.init_process_group(rank=0, world_size=2)
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(RuntimeError, match="4 ranks are asked for.*torchrun"):
        dist.init_process_group()
    monkeypatch.delenv("WORLD_SIZE")
    with pytest.raises(ValueError, match="rank=1, but MPI gave this process rank 0"):
        dist.init_process_group(rank=1)
    assert not dist.is_initialized()


def test_a_destroyed_group_is_refused(world):
    group = dist.new_group([0])
    dist.destroy_process_group()
    with pytest.raises(ValueError, match="has been destroyed"):
        dist.all_reduce(torch.ones(1), group=group)
    with pytest.raises(ValueError, match="has not been initialized"):
        dist.all_reduce(torch.ones(1))


def test_a_module_in_one_process_has_the_gradients_of_the_bare_module(world):
    torch.manual_seed(0)
    bare = torch.nn.Linear(3, 2)
    model = DistributedDataParallel(torch.nn.Linear(3, 2))
    model.module.load_state_dict(bare.state_dict())
    x = torch.randn(4, 3)
    for _ in range(2):
        for module in (bare, model):
            module(x).square().sum().backward()
    assert torch.equal(model.module.weight.grad, bare.weight.grad)
    assert isinstance(model, torch.nn.Module) and next(iter(model.state_dict())) == "module.weight"


def test_modules_that_cannot_be_spread_are_refused(world):
    with pytest.raises(RuntimeError, match="doesn't have any parameters that require a gradient"):
        DistributedDataParallel(torch.nn.ReLU())
    with pytest.raises(TypeError, match="module must be a Module"):
        DistributedDataParallel(torch.ones(1))
    with pytest.raises(RuntimeError, match="have no values yet"):
        DistributedDataParallel(torch.nn.LazyLinear(2))
    with pytest.raises(ValueError, match="bucket_cap_mb must be positive"):
        DistributedDataParallel(torch.nn.Linear(1, 1), bucket_cap_mb=0)
    with pytest.raises(ValueError, match="micro_batches=0"):
        DistributedDataParallel(torch.nn.Linear(1, 1), micro_batches=0)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    with pytest.raises(TypeError, match="must be callable"):
        model.register_comm_hook(None, 3)
    model.register_comm_hook(None, lambda state, bucket: bucket.buffer())
    with pytest.raises(RuntimeError, match="can only be called once"):
        model.register_comm_hook(None, print)
    with pytest.raises(TypeError, match="must return a Future"):
        model(torch.ones(1, 1)).sum().backward()


def test_hooks_of_one_process_get_buckets(world):
    from autograd_cy.futures import Future

    seen = []

    def hook(state, bucket):
        seen.append((state, bucket.index(), bucket.is_last(), len(bucket.parameters())))
        assert sum(each.numel() for each in bucket.gradients()) == bucket.buffer().numel()
        future = Future()
        future.set_result(bucket.buffer() * 3)
        return future

    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    model.register_comm_hook("state", hook)
    model(torch.ones(1, 2)).sum().backward()
    assert seen == [("state", 0, True, 2)]
    assert torch.equal(model.module.weight.grad, torch.full((1, 2), 3.0))


def test_one_process_goes_on_after_a_failed_backward(world):
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    model = DistributedDataParallel(module)
    handle = module[0].weight.register_hook(lambda gradient: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model(torch.ones(1, 2)).sum().backward()
    handle.remove()
    model.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    assert torch.equal(module[1].bias.grad, torch.ones(1))
    assert torch.equal(module[0].bias.grad, module[1].weight.detach()[0])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"PMI_RANK": "1", "PMI_SIZE": "4"}, (1, 4, 1, 4)),
        (
            {
                "OMPI_COMM_WORLD_RANK": "3",
                "OMPI_COMM_WORLD_SIZE": "4",
                "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
                "SLURM_PROCID": "0",
                "SLURM_STEP_NUM_TASKS": "1",
            },
            (3, 4, 1, 2),
        ),
        (
            {
                "SLURM_PROCID": "5",
                "SLURM_STEP_NUM_TASKS": "7",
                "SLURM_LOCALID": "1",
                "SLURM_NODEID": "1",
                "SLURM_STEP_TASKS_PER_NODE": "4,3",
            },
            (5, 7, 1, 3),
        ),
        # srun --mpi=pmi2 on two nodes: PMI doesn't know the ranks of a node.
        (
            {
                "PMI_RANK": "5",
                "PMI_SIZE": "7",
                "SLURM_PROCID": "5",
                "SLURM_STEP_NUM_TASKS": "7",
                "SLURM_LOCALID": "1",
                "SLURM_NODEID": "1",
                "SLURM_STEP_TASKS_PER_NODE": "4,3",
            },
            (5, 7, 1, 3),
        ),
        # mpirun of MPICH starts its proxies, one a node, by srun.
        (
            {
                "PMI_RANK": "3",
                "PMI_SIZE": "4",
                "MPI_LOCALRANKID": "1",
                "MPI_LOCALNRANKS": "2",
                "SLURM_PROCID": "1",
                "SLURM_STEP_NUM_TASKS": "2",
            },
            (3, 4, 1, 2),
        ),
        # One Python in a batch script sees the variables of the job.
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "1"}, None),
    ],
)
def test_launchers_are_known_by_their_variables(variables, expected):
    launch = launcher.detect(variables)
    assert (launch and launch[1:]) == expected
    environment = dict(variables)
    launcher.export(environment)
    if expected:
        names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
        assert tuple(int(environment[name]) for name in names) == expected
    else:
        assert environment == variables


def test_a_step_of_slurm_is_that_of_the_ranks():
    step = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0"}
    tasks = {**step, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    assert launcher.step_of_srun(tasks) == "7.0"
    assert launcher.step_of_srun({**tasks, "SLURM_STEP_ID": "batch"}) is None
    # The step is of mpirun's proxies there.
    of_mpirun = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
    assert launcher.step_of_srun({**tasks, **of_mpirun}) is None
    assert launcher.step_of_srun(step) is None


def test_unknown_launchers_leave_traces():
    assert launcher.traces({"PMIX_RANK": "1", "HOME": "/"}) == ["PMIX_RANK"]
    assert launcher.rank_in_traces({"PMIX_RANK": "1", "PMI_FD": "7"}) == 1
    assert launcher.unknown_ranks({"NEW_MPI_RANK": "0"}) == ["NEW_MPI_RANK"]
    ours = {"RANK": "0", "LOCAL_RANK": "0", "SLURM_PROCID": "0", "NEW_MPI_RANK": "first"}
    assert launcher.unknown_ranks(ours) == []


def test_the_doctor_names_variables_of_an_unknown_launcher(monkeypatch):
    from autograd_cy._environment import doctor

    assert doctor.unknown_launcher() == []
    monkeypatch.setenv("NEW_MPI_RANK", "0")
    (finding,) = doctor.unknown_launcher()
    assert "NEW_MPI_RANK" in finding.what
    assert "mpi4py" in finding.cure


def test_a_rank_alone_under_an_unknown_launcher_is_an_error():
    code = """
import sys, types
sys.modules["mpi4py"] = types.ModuleType("mpi4py")
sys.modules["mpi4py"].rc = types.SimpleNamespace(finalize=False)
mpi = types.ModuleType("mpi4py.MPI")
mpi.COMM_WORLD = types.SimpleNamespace(Get_size=lambda: 1)
mpi.Is_initialized = lambda: True
mpi.Is_finalized = lambda: False
sys.modules["mpi4py.MPI"] = sys.modules["mpi4py"].MPI = mpi
import autograd_cy.distributed as dist
dist.init_process_group()
print(dist.get_world_size())
"""
    for rank, expected in (("0", "1"), ("1", "a launcher started several processes, but MPI sees")):
        variables = {**os.environ, "PMIX_RANK": rank}
        done = subprocess.run(
            [sys.executable, "-c", code], env=variables, capture_output=True, text=True
        )
        assert expected in (done.stderr if rank == "1" else done.stdout), done.stderr


def test_several_processes_without_mpi4py_are_an_error_with_the_way_out():
    code = """
import sys
sys.modules["mpi4py"] = None
import autograd_cy.distributed as dist
assert not any(name.startswith("mpi4py.") for name in sys.modules)
try:
    dist.init_process_group()
except ImportError as error:
    print(error)
"""
    variables = {**os.environ, "PMI_RANK": "0", "PMI_SIZE": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True
    )
    assert 'pip install "autograd_cy[mpi]"' in done.stdout, done.stderr


def test_a_counter_sums_as_a_tree():
    from autograd_cy.distributed._ddp.deterministic import Counter

    class Node(str):
        def __add__(self, other):
            return Node(f"({self}{other})")

    for text, expected in (
        ("abcd", "((ab)(cd))"),
        ("abcde", "(((ab)(cd))e)"),
        ("abcdefg", "(((ab)(cd))((ef)g))"),
    ):
        counter = Counter()
        for letter in text:
            counter.add(Node(letter))
        assert counter.total() == expected


def test_batches_of_micro_batches_do_not_depend_on_the_processes():
    from autograd_cy.utils.data.distributed import MicroBatchSampler

    def batches(size):
        every = [list(MicroBatchSampler(range(50), 12, 4, size, rank)) for rank in range(size)]
        own = 4 // size
        steps = []
        for step in range(4):
            parts = [each[step * own : (step + 1) * own] for each in every]
            steps.append([part for rank in parts for part in rank])
        return steps

    assert batches(1) == batches(2) == batches(4)
    assert len(MicroBatchSampler(range(50), 12, 4, 2, 0)) == 8
    for numbers in ((12, 5, 1, 0), (12, 4, 3, 0)):
        with pytest.raises(ValueError, match="don't divide"):
            MicroBatchSampler(range(50), *numbers)


def test_buckets_close_at_their_size():
    from autograd_cy.distributed._ddp.buckets import assign

    parameters = [torch.empty(n) for n in (10, 20, 30, 40, 50)]
    parameters.append(torch.empty(5, dtype=torch.float64))
    buckets = assign(parameters, [4, 3, 2, 1, 0, 5], 4 * 60, 4 * 45)
    assert buckets == [[4, 3], [2, 1], [0], [5]]
    assert np.concatenate(buckets).tolist() == [4, 3, 2, 1, 0, 5]
