"""Launchers, stores and parallel models of torch: one error each, which names what is here."""

import importlib
import subprocess
import sys

import pytest

import autograd_cy as torch
import autograd_cy.distributed as dist

LAUNCHES = [
    ([], "mpirun -n 1 python SCRIPT"),
    (["--nproc_per_node=4", "a.py", "--lr=1"], "mpirun -n 4 python a.py --lr=1"),
    (
        ["--standalone", "--nnodes", "2", "--nproc-per-node", "3", "-m", "a.b"],
        "mpirun -n 6 python -m a.b",
    ),
    (["--nnodes=1:4", "--nproc_per_node=gpu", "a.py"], "mpirun -n N python a.py"),
]


@pytest.mark.parametrize(("arguments", "command"), LAUNCHES)
@pytest.mark.parametrize("module", ["run", "launch"])
def test_torchrun_shows_the_command_of_mpi(module, arguments, command):
    main = importlib.import_module(f"autograd_cy.distributed.{module}").main
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert f"started by MPI here: {command}, or by srun" in str(error.value)


def test_torchrun_is_a_command_that_fails():
    command = [sys.executable, "-m", "autograd_cy.distributed.run", "a.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("torchrun: processes are started by MPI here: mpirun -n 1")


@pytest.mark.parametrize("init_method", ["tcp://localhost:23456", "env://", "file:///tmp/x", None])
def test_ranks_by_an_address_are_refused_with_the_command(init_method):
    with pytest.raises(RuntimeError, match="mpirun -n 2 python SCRIPT, or srun -n 2; torchrun and"):
        dist.init_process_group("gloo", init_method=init_method, world_size=2, rank=0)


@pytest.mark.parametrize("init_method", ["tcp://localhost:23456", "env://"])
def test_an_address_of_one_process_is_left_alone(init_method):
    dist.init_process_group("gloo", init_method=init_method, world_size=1, rank=0)
    assert dist.get_world_size() == 1
    dist.destroy_process_group()


@pytest.mark.parametrize(
    ("module", "name", "way_out"),
    [
        ("distributed", "TCPStore", "processes meet by MPI"),
        ("distributed", "rendezvous", "processes meet by MPI"),
        ("distributed", "init_device_mesh", "use new_group and DistributedDataParallel"),
        ("distributed.device_mesh", "init_device_mesh", "DistributedDataParallel"),
        ("distributed.elastic.agent.server", "WorkerSpec", "ends a job that has lost one"),
        ("distributed.elastic.multiprocessing", "start_processes", "mpirun -n N python SCRIPT"),
        ("distributed.launcher.api", "elastic_launch", "mpirun -n N python SCRIPT"),
        ("distributed.fsdp", "FullyShardedDataParallel", "ZeroRedundancyOptimizer"),
        ("distributed._composable.fsdp", "fully_shard", "DistributedDataParallel"),
        ("distributed.pipelining", "pipeline", "isn't divided into stages"),
        ("distributed.tensor.parallel", "parallelize_module", "DistributedDataParallel"),
        ("distributed.tensor", "distribute_tensor", "use the collectives"),
        ("distributed.rpc", "init_rpc", "use the collectives"),
    ],
)
def test_what_torch_has_besides_says_what_it_becomes(module, name, way_out):
    thing = getattr(importlib.import_module(f"autograd_cy.{module}"), name)
    with pytest.raises(RuntimeError, match=f"^{name}: autograd_cy has no counterpart") as error:
        thing(torch.nn.Linear(2, 2))
    assert way_out in str(error.value)
