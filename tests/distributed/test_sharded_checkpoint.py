"""Checkpoints of one process: what they hold, bad ones, full disks and jobs that are killed."""

import collections
import contextlib
import errno
import json
import math
import os
import pathlib
import random
import resource
import subprocess
import sys
import warnings
import zlib

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy.distributed import checkpoint
from autograd_cy.distributed.checkpoint import CheckpointException, RandomState, latest, load, save
from autograd_cy.distributed.checkpoint import state_dict as states
from autograd_cy.utils.data import StatefulDataLoader, TensorDataset


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def parts(seed=0):
    """A model and all that belongs to its training, after three steps."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 2)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(48, 4), torch.randint(0, 2, (48,)))
    return {
        "model": model,
        "optimizer": optimizer,
        "schedule": torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5),
        "scaler": torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2),
        "loader": StatefulDataLoader(data, batch_size=6, shuffle=True),
        "random": RandomState(),
        "step": 0,
    }


def train(state, until):
    """Train to a step; batches come from the loader, dropout and noise from generators."""
    while state["step"] < until:
        for x, y in state["loader"]:
            noise = torch.randn(x.shape) + random.random() + np.random.rand()
            loss = torch.nn.functional.cross_entropy(state["model"](x + 0.01 * noise), y)
            state["optimizer"].zero_grad()
            state["scaler"].scale(loss).backward()
            state["scaler"].step(state["optimizer"])
            state["scaler"].update()
            state["schedule"].step()
            state["step"] += 1
            if state["step"] == until:
                return


def bits(state):
    """All that training has changed, as bytes and numbers."""
    tensors = [*state["model"].state_dict().values()]
    for values in state["optimizer"].state.values():
        tensors += [value for value in values.values() if isinstance(value, torch.Tensor)]
    return (
        [tensor.numpy().tobytes() for tensor in tensors],
        [group["lr"] for group in state["optimizer"].param_groups],
        state["scaler"].state_dict(),
        state["schedule"].state_dict(),
        state["loader"].state_dict()["batches"],
        torch.rand(3).tolist(),
        random.random(),
        np.random.rand(),
    )


@pytest.mark.parametrize("first", [3, 8, 11])
def test_a_run_that_is_taken_up_again_has_the_same_bits(first):
    random.seed(1)
    np.random.seed(1)
    whole = parts()
    train(whole, 20)
    expected = bits(whole)
    random.seed(1)
    np.random.seed(1)
    begun = parts()
    train(begun, first)
    save(begun, checkpoint_id="run")
    random.seed(2)
    np.random.seed(2)
    again = parts()
    for parameter in again["model"].parameters():
        torch.nn.init.zeros_(parameter)
    torch.manual_seed(77)
    load(again, checkpoint_id="run")
    assert again["step"] == first
    train(again, 20)
    assert bits(again) == expected


VALUES = {
    "none": None,
    "numbers": [1, -(10**30), True, 0.1, math.inf, -math.inf, -0.0, 1j, complex(math.inf, 2)],
    "texts": ("a.b", "é", "", b"\x00\xff"),
    3: {"x": {1, 2}, (1, 2): torch.Size([2, 3]), None: collections.OrderedDict(b=1, a=2)},
    "counts": collections.Counter("abca"),
    "dtype": torch.bfloat16,
    "device": torch.device("cpu"),
    "numpy": np.float32(0.1),
    "array": np.arange(6.0).reshape(2, 3)[:, ::2],
    "empty": {},
    "none of it": torch.zeros(0, 3),
}


def test_values_come_back_with_their_types():
    save({"values": VALUES, "nan": math.nan}, checkpoint_id="values")
    state = {}
    load(state, checkpoint_id="values")
    assert math.isnan(state["nan"])
    result, expected = state["values"], dict(VALUES)
    for name in ("array", "none of it"):
        one, other = result.pop(name), expected.pop(name)
        assert type(one) is type(other) and one.shape == other.shape and one.dtype == other.dtype
        assert (one == other).all()
    assert result == expected
    assert [type(value) for value in result.values()] == [type(v) for v in expected.values()]
    assert math.copysign(1, result["numbers"][6]) == -1 and type(result["numbers"][2]) is bool


DTYPES = (
    "float16 bfloat16 float32 float64 complex64 complex128 bool int8 uint8 int16 uint16 int32 "
    "uint32 int64 uint64"
).split()


def test_tensors_of_all_dtypes_and_strides_come_back():
    tensors = {name: torch.arange(12).reshape(3, 4).to(getattr(torch, name)) for name in DTYPES}
    tensors["strided"] = torch.randn(4, 6)[::2, 1::2].t()
    tensors["conjugate"] = torch.randn(3, dtype=torch.complex64).conj()
    tensors["scalar"] = torch.tensor(2.5)
    save(tensors, checkpoint_id="tensors")
    state = {name: torch.zeros_like(value) for name, value in tensors.items()}
    places = {name: value.data_ptr() for name, value in state.items()}
    load(state, checkpoint_id="tensors")
    for name, value in tensors.items():
        assert torch.equal(state[name], value.resolve_conj()), name
        assert state[name].data_ptr() == places[name]
    metadata = checkpoint.FileSystemReader("tensors").read_metadata()
    assert metadata.state_dict_metadata["strided"].size == (3, 2) and metadata.world_size == 1


def test_files_are_of_the_safetensors_format():
    library = pytest.importorskip("safetensors.numpy")
    save({"model": {"a": torch.arange(3.0), "b": torch.ones(2, dtype=int)}}, checkpoint_id="one")
    tensors = library.load_file("one/rank_00000.safetensors")
    assert tensors["model.a"].tolist() == [0, 1, 2] and tensors["model.b"].dtype == np.int64


def test_nothing_in_a_checkpoint_is_code():
    save({"a": torch.ones(2), "b": {"c": [1]}}, checkpoint_id="one")
    assert sorted(os.listdir("one")) == ["index.json", "rank_00000.safetensors"]
    with open("one/index.json") as file:
        for line in file:
            json.loads(line)


def test_the_last_ones_of_a_series_stay():
    save({}, checkpoint_id="run/best")
    os.makedirs("run/step_7.incomplete")
    for step in (1, 2, 10, 9):
        save({"step": step}, checkpoint_id=f"run/step_{step}", keep=2)
        assert latest("run").name == f"step_{step}"
    assert sorted(os.listdir("run")) == ["best", "step_10", "step_9"]
    save({"step": 11}, checkpoint_id="run/step_10", keep=2)  # in place of the other one
    assert latest("run").name == "step_10" and len(os.listdir("run")) == 3
    state = {"step": 0}
    load(state, checkpoint_id="run/step_10")
    assert state["step"] == 11
    assert latest("run/step_10") is None and latest("nowhere") is None


@pytest.mark.parametrize("how_far", ["prepare", "write", "save"])
def test_two_programs_that_save_to_one_folder_get_an_error_and_no_mixture(monkeypatch, how_far):
    finish = checkpoint._folder.finish

    def end(*_):
        raise KeyboardInterrupt

    def meet(*arguments):
        """Let another program begin with the folder before the first one has finished."""
        monkeypatch.setattr(checkpoint._folder, "finish", finish if how_far == "save" else end)
        if how_far == "prepare":
            checkpoint._folder.prepare(arguments[0], True)
        else:
            with contextlib.suppress(KeyboardInterrupt):
                save({"a": torch.full((9,), 2.0)}, checkpoint_id="one")
        finish(*arguments)

    monkeypatch.setattr(checkpoint._folder, "finish", meet)
    with pytest.raises(CheckpointException, match="another program saves .*one as well"):
        save({"a": torch.full((9,), 1.0)}, checkpoint_id="one")
    names = os.listdir()
    if how_far == "save":
        state = {"a": torch.zeros(9)}
        load(state, checkpoint_id="one")
        assert names == ["one"] and state["a"].unique().tolist() == [2]
    else:  # what the other one writes isn't removed
        assert names == ["one.incomplete"]


@pytest.mark.parametrize("keep", [0, -1, True, 1.5])
def test_a_bad_number_to_keep_is_refused(keep):
    with pytest.raises(ValueError, match="keep must be at least 1"):
        save({}, checkpoint_id="step_1", keep=keep)


def test_a_series_needs_numbers():
    with pytest.raises(ValueError, match="the number at the end, and there is none"):
        save({}, checkpoint_id="last", keep=1)


def test_an_older_one_that_cannot_be_removed_is_a_warning(monkeypatch):
    save({}, checkpoint_id="run/step_1")

    def refuse(folder):
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(checkpoint._folder, "_remove", lambda folder: None)
    monkeypatch.setattr(checkpoint._folder, "remove_old", lambda path, keep: refuse(path))
    with pytest.warns(UserWarning, match="step_2 is saved, and an older one can't be removed"):
        save({}, checkpoint_id="run/step_2", keep=1)


# --- bad input -----------------------------------------------------------------------------------


def refused(call, *parts):
    with pytest.raises(CheckpointException) as error:
        call()
    for part in parts:
        assert part in str(error.value), error.value
    assert list(error.value.failures) == [0]


def test_another_model_is_refused_and_nothing_changes():
    nn = torch.nn
    save({"model": nn.Sequential(nn.Linear(3, 2), nn.ReLU()), "step": 1}, checkpoint_id="one")
    for model, message in (
        (nn.Sequential(nn.Linear(3, 4)), "0.weight has shape [2, 3] in the checkpoint and [4, 3]"),
        (
            nn.Sequential(nn.ReLU(), nn.Linear(3, 2)),
            "key in checkpoint state_dict: model.1.weight",
        ),
        (nn.Sequential(), "Unexpected key in checkpoint state_dict: model.0.weight"),
    ):
        before = {name: value.clone() for name, value in model.state_dict().items()}
        state = {"step": 0, "model": model}
        refused(
            lambda: load(state, checkpoint_id="one"),
            "distributed.checkpoint.load: the checkpoint ",
            "one is of another model",
            message,
            "nothing was changed",
        )
        assert state["step"] == 0
        assert all(torch.equal(before[name], each) for name, each in model.state_dict().items())


def test_an_optimizer_of_other_groups_is_refused_before_the_model_is_loaded():
    model = torch.nn.Linear(3, 2)
    save({"m": model, "o": torch.optim.SGD(model.parameters(), 0.1)}, checkpoint_id="one")
    other = torch.nn.Linear(3, 2)
    before = other.weight.clone()
    groups = [{"params": [other.weight]}, {"params": [other.bias]}]
    refused(
        lambda: load({"m": other, "o": torch.optim.SGD(groups, 0.1)}, checkpoint_id="one"),
        "o has groups of [2] parameters in the checkpoint and of [1, 1] here",
    )
    assert torch.equal(other.weight, before)


def test_an_object_that_refuses_its_state_is_named():
    loader = StatefulDataLoader(range(6), batch_size=2)
    save({"loader": loader}, checkpoint_id="one")
    refused(
        lambda: load({"loader": StatefulDataLoader(range(7))}, checkpoint_id="one"),
        "ValueError: StatefulDataLoader: the place is in a data set of 6 samples, and this one has",
        "a part of the state is loaded already",
    )


def test_names_that_the_checkpoint_lacks_are_refused():
    save({"a": {"b": torch.ones(2)}, "c": [torch.ones(1)]}, checkpoint_id="one")
    for state, message in (
        ({"a": {"x": torch.ones(2)}}, "Missing key in checkpoint state_dict: a.x"),
        ({"a": torch.ones(2)}, "a is no tensor in the checkpoint"),
        ({"c": [torch.ones(1), torch.ones(1)]}, "c has 1 elements in the checkpoint and 2 here"),
        ({"a": [torch.ones(1)]}, "a has no list in the checkpoint"),
    ):
        refused(lambda state=state: load(state, checkpoint_id="one"), message)


def test_a_part_of_a_checkpoint_can_be_loaded():
    model = torch.nn.Linear(3, 2)
    save({"model": model, "c": [torch.ones(1), (torch.ones(2), 4)]}, checkpoint_id="one")
    state = {"model": {"bias": torch.zeros(2)}}
    load(state, checkpoint_id="one")
    assert torch.equal(state["model"]["bias"], model.bias) and len(state) == 1
    state = {"c": [torch.zeros(1), (torch.zeros(2), 0)]}
    load(state, checkpoint_id="one")
    assert state["c"][1][1] == 4 and state["c"][1][0].sum() == 2
    optimizer = {"state": {}}
    save({"o": {"state": {0: {"exp_avg": torch.ones(2)}}}}, checkpoint_id="two")
    load({"o": optimizer}, checkpoint_id="two")
    assert optimizer["state"][0]["exp_avg"].sum() == 2


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (print, "a.b is a builtin_function_or_method, which a checkpoint can't hold"),
        (torch.nn.Linear, "a.b is a type"),
        (torch.Generator(), "give RandomState(generator) in its place"),
        (torch.ones(2, device="meta"), "a.b is on device meta"),
        (np.array(["x"]), "a.b is an array of <U1"),
        ({"c": torch.ones(1), "c.d": 1, ("c",): 2}, None),
    ],
)
def test_values_that_cannot_be_saved_are_named(value, message):
    if message is None:
        save({"a": {"b": value}}, checkpoint_id="one")
    else:
        refused(lambda: save({"a": {"b": value}}, checkpoint_id="one"), message)
        assert os.listdir() == []


def test_two_tensors_of_one_name_are_refused():
    state = {"a": {"b": torch.ones(1)}, "a.b": torch.ones(1)}
    refused(lambda: save(state, checkpoint_id="one"), "two tensors have the name a.b")


def test_folders_that_are_no_checkpoints_are_refused():
    os.mkdir("mine")
    save({"a": 1}, checkpoint_id="mine")  # an empty one is taken
    os.mkdir("other")
    with open("other/notes", "w") as file:
        file.write("mine")
    refused(lambda: save({}, checkpoint_id="other"), "other exists and is no checkpoint")
    refused(lambda: save({}, checkpoint_id="other/notes"), "exists and is no checkpoint")
    refused(lambda: load({}, checkpoint_id="other"), "there is no checkpoint in /", "/other; ")
    refused(lambda: load({}, checkpoint_id="."), "there are some below it, the last in /", "/mine.")
    writer = checkpoint.FileSystemWriter("mine", overwrite=False)
    refused(lambda: save({}, storage_writer=writer), "mine exists: give another name")
    assert os.listdir("other") == ["notes"] and sorted(os.listdir()) == ["mine", "other"]


def test_a_checkpoint_of_pytorch_is_named_as_such():
    theirs = pytest.importorskip("torch")
    dcp = pytest.importorskip("torch.distributed.checkpoint")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp.save({"a": theirs.ones(2)}, checkpoint_id="theirs")
    refused(lambda: load({}, checkpoint_id="theirs"), "it is one of PyTorch's: convert it there")


def test_damage_is_noticed_before_anything_changes():
    save({"a": torch.arange(1000), "b": torch.ones(3)}, checkpoint_id="one")
    state = {"a": torch.zeros(1000, dtype=int), "b": torch.zeros(3)}
    name = "one/rank_00000.safetensors"
    data = bytearray(pathlib.Path(name).read_bytes())
    data[-2] ^= 1
    for damaged, message in (
        (data, "the checksum of b differs"),
        (data[:-1], "it has another size than it was written with"),
    ):
        with open(name, "wb") as file:
            file.write(damaged)
        refused(lambda: load(state, checkpoint_id="one"), "is damaged", message)
        assert not state["a"].any()
    os.remove(name)
    refused(lambda: load(state, checkpoint_id="one"), "can't read", "No such file")
    text = pathlib.Path("one/index.json").read_text()
    for changed, message in (
        (text.replace("shape", "shapE"), "index.json is damaged"),
        (text[:-9], "index.json is damaged"),
        ("", "index.json is damaged"),
        (text.replace('"version": 1', '"version": 99'), "has version 99 of the format"),
    ):
        with open("one/index.json", "w") as file:
            file.write(changed)
        refused(lambda: load(state, checkpoint_id="one"), message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"dtype":"float32"', '"dtype":"load"', "the unknown dtype 'load'"),
        ('"nbytes":12', '"nbytes":8', "a has another size than its shape says"),
        ('"shape":[3]', '"shape":[-3]', "RuntimeError"),
        ('"numpy":["<f8"', '"numpy":["|O"', "an array of object, which no checkpoint holds"),
        ('["<f8",[1]]', '["|O8",[1]]', "an array of object, which no checkpoint holds"),
        ("rank_00000.safetensors", "../other/notes", "index.json is damaged"),
        ('"ordered"', '"eval"', "a value of the unknown kind 'eval'"),
    ],
)
def test_a_forged_index_is_refused(old, new, message):
    """With a right checksum: nothing is run, and nothing is read outside of the files."""
    x = torch.ones(3)
    values = {"a": x, "b": np.float64(1), "c": np.ones(1), "d": collections.OrderedDict()}
    save(values, checkpoint_id="one")
    head, body = pathlib.Path("one/index.json").read_text().splitlines()
    assert old in body
    body = body.replace(old, new)
    head = json.dumps({**json.loads(head), "crc32": zlib.crc32(body.encode())})
    pathlib.Path("one/index.json").write_text(f"{head}\n{body}\n")
    refused(lambda: load({}, checkpoint_id="one"), message)


def test_arguments_that_do_not_go_together_are_refused():
    for call in (save, load):
        with pytest.raises(ValueError, match="give a folder as checkpoint_id"):
            call({})
        with pytest.raises(ValueError, match="planners aren't supported"):
            call({}, checkpoint_id="one", planner=object())
    with pytest.raises(ValueError, match="must be a dict"):
        save([], checkpoint_id="one")
    with pytest.raises(ValueError, match="must be a FileSystemWriter"):
        save({}, storage_writer="one")
    with pytest.raises(ValueError, match="must be a FileSystemReader"):
        load({}, storage_reader="one")
    with pytest.raises(RuntimeError, match="async_save"):
        checkpoint.async_save({}, checkpoint_id="one")


def test_several_processes_without_a_group_are_refused(monkeypatch):
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(ValueError, match=r"2 processes.*call init_process_group\(\) first"):
        save({}, checkpoint_id="one")
    save({}, checkpoint_id="one", no_dist=True)


# --- disks and jobs that fail --------------------------------------------------------------------


def test_a_full_disk_leaves_the_checkpoint_of_before():
    save({"a": torch.ones(4)}, checkpoint_id="run/step_1")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        for name in ("run/step_1", "run/step_2"):
            refused(
                lambda name=name: save({"a": torch.zeros(100_000)}, checkpoint_id=name, keep=1),
                "can't write /",
                f"{name}.incomplete/rank_00000.safetensors: File too large",
                "ulimit -f",
                "The checkpoints that were there before are intact",
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir("run") == ["step_1"]
    state = {"a": torch.zeros(4)}
    load(state, checkpoint_id=latest("run"))
    assert state["a"].sum() == 4


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO, 250])
@pytest.mark.parametrize("function", ["mkdir", "fsync", "rename"])
def test_errors_of_files_have_a_way_out(number, function, monkeypatch):
    save({"a": 1, "b": torch.ones(2)}, checkpoint_id="one")

    def fail(*arguments, **options):
        raise OSError(number, os.strerror(number), "somewhere")

    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        refused(
            lambda: save({"a": 2, "b": torch.ones(2)}, checkpoint_id="one"),
            f"can't write somewhere: {os.strerror(number)}; ",
            "are intact",
        )
    state = {"a": 0}
    load(state, checkpoint_id="one")
    assert state["a"] == 1 and os.listdir() == ["one"]


KILLED = """
import os, sys
import autograd_cy as torch
from autograd_cy.distributed import checkpoint

left = int(sys.argv[1])


def stop(*arguments):
    global left
    left -= 1
    if left == 0:
        os._exit(9)


sys.addaudithook(lambda event, arguments: event in EVENTS and stop())
EVENTS = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.rmtree", "os.scandir"}
checkpoint.save({"a": torch.full((5,), 2.0)}, checkpoint_id="run/step_1", keep=1)
print("saved")
"""


def test_a_job_that_is_killed_at_any_moment_leaves_a_whole_checkpoint():
    """Of the one before and the new one, of the same name, one is whole at each moment."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    seen = set()
    for moment in range(1, 60):
        save({"a": torch.ones(5)}, checkpoint_id="run/step_1")
        command = [sys.executable, "-c", KILLED, str(moment)]
        result = subprocess.run(command, env=environment, capture_output=True, text=True)
        state = {"a": torch.zeros(5)}
        load(state, checkpoint_id="run/step_1")
        last = {"a": torch.zeros(5)}
        load(last, checkpoint_id=latest("run"))
        assert torch.equal(state["a"], last["a"])
        seen.add(state["a"][0].item())
        assert state["a"].tolist() in ([1.0] * 5, [2.0] * 5)
        if "saved" in result.stdout:
            assert state["a"][0] == 2 and os.listdir("run") == ["step_1"]
            break
        assert result.returncode == 9, result.stderr
    else:
        pytest.fail("it never ended")
    assert seen == {1.0, 2.0}


# --- names of torch ------------------------------------------------------------------------------


def test_states_by_names_of_parameters_go_from_one_wrapper_to_another():
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    wrapped = torch.nn.DataParallel(model)
    groups = [
        {"params": model[0].parameters(), "lr": 0.1},
        {"params": [model[1].weight, model[1].bias], "lr": 0.2},
    ]
    optimizer = torch.optim.Adam(groups)
    wrapped(torch.ones(2, 3)).sum().backward()
    optimizer.step()
    weights, moments = states.get_state_dict(wrapped, optimizer)
    assert list(weights) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert moments["param_groups"][1]["params"] == ["1.weight", "1.bias"]
    save({"model": weights, "optimizer": moments}, checkpoint_id="one")

    other = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2))
    groups = [{"params": other[1].parameters()}, {"params": other[0].parameters()}]
    again = torch.optim.Adam(groups)
    state = {
        "model": states.get_model_state_dict(other),
        "optimizer": states.get_optimizer_state_dict(other, again),
    }
    load(state, checkpoint_id="one")
    states.set_state_dict(
        other, again, model_state_dict=state["model"], optim_state_dict=state["optimizer"]
    )
    assert torch.equal(other[0].weight, model[0].weight)
    assert [group["lr"] for group in again.param_groups] == [0.2, 0.1]
    for one, two in zip(other.parameters(), model.parameters()):
        assert torch.equal(again.state[one]["exp_avg"], optimizer.state[two]["exp_avg"])
    with pytest.raises(ValueError, match="hasn't: give the module"):
        states.get_optimizer_state_dict(other, optimizer)
    mixed = torch.optim.Adam(other.parameters())
    with pytest.raises(ValueError, match="use the same groups"):
        states.set_optimizer_state_dict(other, mixed, state["optimizer"])


def test_options_of_states():
    model = torch.nn.Linear(3, 2)
    model.bias.requires_grad_(False)
    options = states.StateDictOptions(ignore_frozen_params=True, cpu_offload=True)
    assert list(states.get_model_state_dict(model, options=options)) == ["weight"]
    lax = states.StateDictOptions(strict=False)
    assert states.set_model_state_dict(model, {}, options=lax).missing_keys == ["weight", "bias"]
    with pytest.raises(RuntimeError, match="Missing key"):
        states.set_model_state_dict(model, {})
    for name in ("broadcast_from_rank0", "flatten_optimizer_state_dict"):
        with pytest.raises(ValueError, match=f"{name}=True isn't supported"):
            states.StateDictOptions(**{name: True})
    with pytest.raises(ValueError, match="submodules isn't supported"):
        states.get_model_state_dict(model, submodules={model})


# --- generators ----------------------------------------------------------------------------------


def test_generators_are_saved_with_the_default_ones():
    mine = torch.Generator().manual_seed(3)
    torch.rand(2, generator=mine)
    save({"random": RandomState(mine)}, checkpoint_id="one")
    expected = torch.rand(4, generator=mine)
    load({"random": RandomState(mine.manual_seed(0))}, checkpoint_id="one")
    assert torch.equal(torch.rand(4, generator=mine), expected)
    refused(lambda: load({"random": RandomState()}, checkpoint_id="one"), "1 generators were saved")
    with pytest.raises(TypeError, match="expected generators, got a int"):
        RandomState(3)


def test_a_process_that_was_not_there_gets_numbers_of_its_own():
    torch.manual_seed(0)
    same = RandomState().state_dict()["rank0"]
    RandomState().load_state_dict({"rank1": same, "rank2": same})
    assert torch.equal(torch.get_rng_state(), same["cpu"])
    torch.manual_seed(1)
    random.seed(1)
    np.random.seed(1)
    other = RandomState().state_dict()["rank0"]
    draws = []
    for first, second in ((same, other), (other, same)):
        RandomState().load_state_dict({"rank1": first, "rank2": second})
        draws.append((torch.rand(1).item(), random.random(), np.random.rand()))
        RandomState().load_state_dict({"rank1": first, "rank2": second})
        assert draws[-1] == (torch.rand(1).item(), random.random(), np.random.rand())
    assert not set(draws[0]) & set(draws[1])
