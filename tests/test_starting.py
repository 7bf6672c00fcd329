"""Working parts of modules that programs import: futures, files by address, flat tensors, names
that other packages' optimizers, initializers and derivatives import."""

import collections
import hashlib
import importlib
import os
import pickle
import sys
import threading
import types
from pathlib import Path

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import hub
from autograd_cy.futures import Future, collect_all, wait_all

# --- futures ------------------------------------------------------------------------------------


def test_a_future_has_a_result_once_it_is_set():
    future = Future()
    seen = []
    future.add_done_callback(lambda done: seen.append(("first", done.value())))
    following = future.then(lambda done: done.value() + 1).then(lambda done: done.wait() * 10)
    assert not future.done() and not following.done()
    with pytest.raises(RuntimeError, match="isn't completed yet"):
        future.value()
    future.set_result(3)
    future.add_done_callback(lambda done: seen.append(("later", done.done())))
    assert future.done() and future.wait() == future.value() == 3 and following.wait() == 40
    assert seen == [("first", 3), ("later", True)]
    for again in (future.set_result, lambda _: future.set_exception(ValueError())):
        with pytest.raises(RuntimeError, match="Attempting to mark a completed Future as complete"):
            again(4)
    assert future.value() == 3
    with pytest.raises(AssertionError, match="not an Exception"):
        Future().set_exception(3)
    for wants in (future.then, future.add_done_callback):
        with pytest.raises(TypeError, match="can't be called"):
            wants(3)
    assert Future[int]


def test_errors_of_futures_reach_who_asks():
    future, error = Future(devices=[]), KeyError("mine")
    following = future.then(lambda done: done.value())
    future.set_exception(error)
    for ask in (future.wait, future.value):
        with pytest.raises(KeyError, match="mine") as caught:
            ask()
        assert caught.value is error
    with pytest.raises(
        RuntimeError, match="error when running the callback: KeyError: 'mine'"
    ) as caught:
        following.wait()
    assert caught.value.__cause__ is error


def test_several_futures():
    futures = [Future() for _ in range(3)]
    both = collect_all(futures)
    for i in (2, 0):
        futures[i].set_result(i)
    assert not both.done()
    futures[1].set_result(1)
    assert both.wait() == futures and wait_all(futures) == [0, 1, 2]
    assert collect_all([]).wait() == wait_all([]) == []
    failed = Future()
    failed.set_exception(ValueError("mine"))
    assert collect_all([failed, *futures]).wait()[0] is failed
    with pytest.raises(ValueError, match="mine"):
        wait_all([*futures, failed])


def test_futures_of_another_thread():
    future = Future()
    thread = threading.Thread(target=future.set_result, args=("from the thread",))
    waits = future.then(lambda done: done.value().upper())
    thread.start()
    assert waits.wait() == "FROM THE THREAD" and future.wait() == "from the thread"
    thread.join()


# --- hub ----------------------------------------------------------------------------------------


@pytest.fixture
def weights(tmp_path):
    """A file whose name has the first digits of its hash, and its address."""
    torch.save({"w": torch.arange(3.0)}, tmp_path / "net.pth")
    found = hashlib.sha256((tmp_path / "net.pth").read_bytes()).hexdigest()
    path = (tmp_path / "net.pth").rename(tmp_path / f"net-{found[:8]}.pth")
    return path, path.as_uri()


def test_weights_are_loaded_by_their_address_and_kept(weights, tmp_path, capfd, monkeypatch):
    path, address = weights
    monkeypatch.setattr(hub, "_folder", None)  # an example may have chosen one
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    found = hub.load_state_dict_from_url(address, progress=False, check_hash=True)
    assert found["w"].tolist() == [0, 1, 2]
    kept = tmp_path / "home" / "hub" / "checkpoints" / path.name
    assert kept.exists() and capfd.readouterr().err == f'Downloading: "{address}" to {kept}\n'
    path.unlink()  # the next time nothing is asked for
    again = hub.load_state_dict_from_url(address, map_location="cpu", weights_only=True)
    assert torch.equal(again["w"], found["w"]) and capfd.readouterr().err == ""
    assert os.stat(kept).st_mode & 0o444 == 0o444 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_of_another_name_and_folder(weights, tmp_path):
    _, address = weights
    load = importlib.import_module("autograd_cy.utils.model_zoo").load_url
    assert load is hub.load_state_dict_from_url
    found = load(address, model_dir=tmp_path / "mine", file_name="own.pth", progress=False)
    assert list(found) == ["w"] and [p.name for p in (tmp_path / "mine").iterdir()] == ["own.pth"]


def test_contents_of_another_hash_are_refused_and_not_kept(weights, tmp_path):
    path, _ = weights
    wrong = path.rename(tmp_path / "net-00000000.pth")
    kept = tmp_path / "kept"
    with pytest.raises(
        RuntimeError, match='invalid hash value .expected "00000000", got "[0-9a-f]{64}"'
    ):
        hub.load_state_dict_from_url(
            wrong.as_uri(), model_dir=kept, check_hash=True, progress=False
        )
    assert list(kept.iterdir()) == []
    assert "w" in hub.load_state_dict_from_url(wrong.as_uri(), model_dir=kept, progress=False)
    with pytest.raises(OSError, match="nothing.pth"):
        hub.load_state_dict_from_url((tmp_path / "nothing.pth").as_uri(), model_dir=kept)
    assert [p.name for p in kept.iterdir()] == [wrong.name]


def test_the_folder_of_files(monkeypatch, tmp_path):
    monkeypatch.setattr(hub, "_folder", None)
    monkeypatch.delenv("TORCH_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert hub.get_dir() == "/cache/torch/hub"
    monkeypatch.setenv("TORCH_HOME", "~/mine")
    assert hub.get_dir() == str(Path("~/mine/hub").expanduser()) and hub._get_torch_home()
    hub.set_dir(tmp_path)
    assert hub.get_dir() == str(tmp_path)


def test_models_of_a_folder(tmp_path):
    (tmp_path / "layers_of_it.py").write_text("scale = 3\n")
    (tmp_path / "hubconf.py").write_text(
        "from layers_of_it import scale\ndependencies = ['numpy']\n"
        "def tiny(times=1):\n    'A tiny model.'\n    return times * scale\n"
        "def _own():\n    pass\n"
    )
    before = sys.path[:]
    assert hub.list(tmp_path) == ["tiny"] and hub.help(tmp_path, "tiny") == "A tiny model."
    assert hub.load(tmp_path, "tiny", 2, source="local") == 6
    assert hub.load(tmp_path, "tiny", times=3, source="local", trust_repo=True) == 9
    assert sys.path == before
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        hub.load(tmp_path, "other", source="local")
    with pytest.raises(ValueError, match="model should be a string of function name"):
        hub.load(tmp_path, 3, source="local")
    with pytest.raises(ValueError, match='Unknown source: "web"'):
        hub.load(tmp_path, "tiny", source="web")
    with pytest.raises(RuntimeError, match=r"git clone.*source='local'"):
        hub.load("pytorch/vision", "resnet18")
    (tmp_path / "hubconf.py").write_text("dependencies = ['numpy', 'nothing_of_this']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: nothing_of_this"):
        hub.list(tmp_path)
    sys.modules.pop("layers_of_it")


# --- torch._utils -------------------------------------------------------------------------------


def test_flat_tensors():
    from autograd_cy import _utils as u

    tensors = [
        torch.randn(2, 3),
        torch.arange(3.0),
        torch.ones(()),
        torch.ones(0),
        torch.ones(4, 2).t(),
    ]
    flat = u._flatten_dense_tensors(tensors)
    assert flat.tolist() == [v for t in tensors for v in t.flatten().tolist()]
    back = u._unflatten_dense_tensors(flat, tensors)
    assert type(back) is tuple and all(map(torch.equal, back, tensors))
    flat.zero_()
    assert all(not t.any() for t in back)  # they are views
    w = torch.ones(2, 2, requires_grad=True)
    (u._flatten_dense_tensors([w, w * 2]) * torch.arange(8.0)).sum().backward()
    assert w.grad.tolist() == [[8, 11], [14, 17]]
    with pytest.raises(RuntimeError, match="exceeds dimension size|out of range|beyond"):
        u._unflatten_dense_tensors(torch.ones(3), [torch.ones(4)])
    halves = [torch.ones(2, dtype=torch.float64), torch.ones(3), torch.ones(5)]
    taken = list(u._take_tensors([halves[1], halves[0], halves[2]], 20))
    assert [[len(t) for t in group] for group in taken] == [[3], [5], [2]] or [
        [len(t) for t in group] for group in taken
    ] == [[3], [2], [5]]
    assert u._reorder_tensors_as(halves, [halves[1], halves[0], halves[2]]) == (
        halves[1],
        halves[0],
        halves[2],
    )


def test_functions_of_utils_answer_as_those_of_torch():
    theirs = importlib.import_module("torch._utils") if "torch" in sys.modules else None
    theirs = theirs or pytest.importorskip("torch")._utils
    library = importlib.import_module("torch")
    from autograd_cy import _utils as ours

    for arguments in ((0,), ("cuda:1",), (None, True), (3, True), ("cpu", False, True)):
        assert ours._get_device_index(*arguments) == theirs._get_device_index(*arguments)
    for wrong in (("cpu",), (None,), ("nothing",)):
        for u in (ours, theirs):
            with pytest.raises((ValueError, RuntimeError)):
                u._get_device_index(*wrong)
    kinds = ["float32", "float64", "float32", "float32", "float64", "int64"]
    sizes = [3, 4, 1, 6, 2, 2]
    for limit in (1, 16, 24, 1000):
        found = []
        for u, lib in ((ours, torch), (theirs, library)):
            made = [lib.ones(n, dtype=getattr(lib, kind)) for n, kind in zip(sizes, kinds)]
            found.append(
                [
                    [(len(t), str(t.dtype).split(".")[1]) for t in g]
                    for g in u._take_tensors(made, limit)
                ]
            )
        assert sorted(found[0]) == sorted(found[1])
    assert ours._get_all_device_indices() is ours._get_available_device_type() is None


def test_what_pickles_of_torch_call():
    from autograd_cy import _utils as u

    storage = torch.arange(6.0).storage()
    made = u._rebuild_tensor_v2(storage, 1, (2, 2), (3, 1), True, {})
    assert made.tolist() == [[1, 2], [4, 5]] and made.requires_grad
    assert isinstance(u._rebuild_parameter(torch.ones(2), True, {}), torch.nn.Parameter)
    assert u._element_size(torch.float64) == 8
    assert u._import_dotted_name("os.path.join") is os.path.join

    class Named:
        own = u.classproperty(lambda cls: cls.__name__)

    assert Named.own == "Named" and not u.is_compiling()


def test_errors_are_sent_with_their_traceback():
    from autograd_cy._utils import ExceptionWrapper

    class Two(Exception):
        def __init__(self, first, second):
            super().__init__(first, second)

    for error, raised in ((ValueError("mine"), ValueError), (Two(1, 2), RuntimeError)):
        try:
            raise error
        except Exception:
            wrapped = ExceptionWrapper(where="in a worker")
        if raised is ValueError:
            wrapped = pickle.loads(pickle.dumps(wrapped))
        with pytest.raises(
            raised, match=r"(?s)^Caught \w+ in a worker.\nOriginal Traceback .*raise error"
        ):
            wrapped.reraise()


# --- names that other packages import ------------------------------------------------------------


def test_an_optimizer_of_another_package():
    optimizer = importlib.import_module("autograd_cy.optim.optimizer")
    from autograd_cy.optim.optimizer import (
        ParamsT,  # noqa: F401
        _get_value,
        _to_scalar,
        _use_grad_for_differentiable,
        _view_as_real,
    )

    class Descent(torch.optim.Optimizer):
        def __init__(self, params, lr, differentiable=False):
            super().__init__(params, {"lr": lr, "differentiable": differentiable})
            self._patch_step_function()

        @torch.optim.Optimizer.profile_hook_step
        @_use_grad_for_differentiable
        def step(self, closure=None):
            self._cuda_graph_capture_health_check()
            self._accelerator_graph_capture_health_check()
            assert torch.is_grad_enabled() is self.defaults["differentiable"]
            for group in self.param_groups:
                lists = [group["params"], [p.grad for p in group["params"]]]
                found = self._group_tensors_by_device_and_dtype(lists)
                for (params, grads), _ in found.values():
                    for p, grad in zip(params, grads):
                        p.add_(grad, alpha=-_get_value(group["lr"]))

    x = torch.tensor([2.0], requires_grad=True)
    (x * x).sum().backward()
    Descent([x], torch.tensor(0.25)).step()
    assert x.tolist() == [1] and _get_value(3) == 3
    w = x.clone()
    w.grad = 2 * x
    with torch.no_grad():
        Descent([w], 0.25, differentiable=True).step()
    assert torch.autograd.grad(w.sum(), x)[0].tolist() == [0.5]
    assert _to_scalar(torch.ones(1)).dim() == 0 and _to_scalar(3) == 3
    assert optimizer._default_to_fused_or_foreach([x], False) == (False, False)
    assert optimizer._dispatch_sqrt(4.0) == 2 and optimizer._dispatch_sqrt(torch.tensor(9.0)) == 3
    assert optimizer._disable_dynamo_if_unsupported()(abs) is abs
    assert optimizer._stack_if_compiling(x) is x and optimizer._get_scalar_dtype() is torch.float32
    params, grads = [torch.ones(2) * 1j, torch.ones(2)], [torch.ones(2) * 2j, torch.ones(2)]
    _view_as_real(params, grads)
    assert [p.shape for p in (*params, *grads)] == [(2, 2), (2,), (2, 2), (2,)]
    with pytest.raises(RuntimeError, match="requires all the params to be floating point"):
        optimizer._device_dtype_check_for_fused(torch.ones(1, dtype=torch.int64))
    lists = importlib.import_module("autograd_cy.utils._foreach_utils")
    doubles = torch.ones(2, dtype=torch.float64)
    found = lists._group_tensors_by_device_and_dtype(
        [[x, doubles, x], [None, x, x]], with_indices=True
    )
    cpu = torch.device("cpu")
    assert found == {
        (cpu, torch.float32): ([[x, x], [None, x]], [0, 2]),
        (cpu, torch.float64): ([[doubles], [x]], [1]),
    }
    assert not lists._has_foreach_support([x], cpu)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
        optimizer.nothing


def test_parts_of_containers_with_their_keys():
    answers = []
    for library in (torch, *([importlib.import_module("torch")] if has_torch() else [])):
        p = importlib.import_module(f"{library.__name__}.utils._pytree")
        pair = collections.namedtuple("pair", "first second")
        answers.append(
            [
                repr(p._dict_flatten_with_keys({"a": 1, "b": 2})),
                repr(p._ordereddict_flatten_with_keys(collections.OrderedDict(a=1))),
                repr(p._list_flatten_with_keys([3, 4])[0]),
                repr(p._tuple_flatten_with_keys((3,))[0]),
                repr(p._deque_flatten_with_keys(collections.deque([3]))[0]),
                repr(p._namedtuple_flatten_with_keys(pair(1, 2))[0]),
                repr(p._defaultdict_flatten_with_keys(collections.defaultdict(list, a=1))[0]),
                p.keystr((p.MappingKey("a"), p.SequenceKey(0), p.GetAttrKey("x"))),
                [k.get(v) for k, v in ((p.MappingKey("a"), {"a": 5}), (p.SequenceKey(0), [6]))],
                p.GetAttrKey("real").get(7),
                p.MappingKey("a") == p.MappingKey("a"),
            ]
        )
    assert answers[0] == answers[-1]
    assert answers[0][0] == "([(MappingKey(key='a'), 1), (MappingKey(key='b'), 2)], ['a', 'b'])"


def has_torch():
    return importlib.util.find_spec("torch") is not None


def test_initializers_of_others():
    init = torch.nn.init
    w = torch.empty(50, 50, requires_grad=True)
    assert init._no_grad_fill_(w, 2.0) is w and w.unique().tolist() == [2]
    assert not init._no_grad_zero_(w).any()
    for fill, least, most in (
        (lambda g: init._no_grad_uniform_(w, -1.0, 3.0, g), -1, 3),
        (lambda g: init._no_grad_trunc_normal_(w, 0.0, 1.0, -1.0, 0.5, generator=g), -1, 0.5),
        (lambda g: init._no_grad_normal_(w, 5.0, 0.01, g), 4.9, 5.1),
    ):
        first = fill(torch.Generator().manual_seed(1)).clone()
        assert torch.equal(fill(torch.Generator().manual_seed(1)), first)
        assert least <= w.min() < w.max() <= most
    assert w.is_leaf and w.requires_grad


def test_private_functions_of_derivatives():
    libraries = [torch]
    if has_torch():
        libraries.append(importlib.import_module("torch"))
    found = [answers_of_derivatives(library) for library in libraries]
    assert found[0] == found[-1]
    assert found[0]["postprocess"] == [([2.0, 2.0], False), ([2.0, 2.0], True)]


def answers_of_derivatives(library):
    f = importlib.import_module(f"{library.__name__}.autograd.functional")
    x = library.ones(2, requires_grad=True)
    y, plain = x * 2, library.ones(1)
    found = {
        "nocheck": (f._as_tuple_nocheck(3), f._as_tuple_nocheck([1]), f._as_tuple_nocheck((1,))),
        "tuple": [f._as_tuple(plain, "inputs", "f")[0], f._as_tuple((plain,), "inputs", "f")[0]],
        "plain": [t.tolist() for t in f._as_tuple(plain)],
        "unpacked": [
            f._tuple_postprocess((1,), False),
            f._tuple_postprocess((1,), True),
            f._tuple_postprocess(((1,), (2,)), (True, False)),
            f._tuple_postprocess(((1,), (2,)), (True, True)),
            f._tuple_postprocess((((1,),),), (False, True)),
            f._tuple_postprocess(((3,),), (False, False)),
        ],
        "postprocess": [
            (t.tolist(), t.requires_grad)
            for c in (False, True)
            for t in f._grad_postprocess((y,), c)
        ],
        "nested": [t[0].requires_grad for t in f._grad_postprocess(((y,), (y,)), False)],
        "preprocess": [
            (t.requires_grad, t.grad_fn is None, t is x)
            for create in (False, True)
            for need in (False, True)
            for t in f._grad_preprocess((x, plain), create, need)
        ],
        "grad": [
            None if t is None else t.tolist()
            for outputs in ((y, plain), (plain, plain))
            for t in f._autograd_grad(
                outputs, (x,), (library.ones(2), library.ones(1)), retain_graph=True
            )
        ],
        "zeros": [
            f._fill_in_zeros((None,), (library.ones(2),), False, create, stage)[0].tolist()
            for create in (False, True)
            for stage in ("back", "back_trick", "double_back", "double_back_trick")
        ],
    }
    refusals = [
        (TypeError, lambda: f._as_tuple(3, "inputs", "jvp")),
        (RuntimeError, lambda: f._validate_v((library.ones(3),), (library.ones(2),), True)),
        (RuntimeError, lambda: f._validate_v((plain, plain), (plain,), False)),
        (RuntimeError, lambda: f._check_requires_grad([plain], "outputs", True)),
        (RuntimeError, lambda: f._check_requires_grad([plain], "jacobian", True)),
        (RuntimeError, lambda: f._check_requires_grad([None], "grad_inputs", True)),
        (RuntimeError, lambda: f._fill_in_zeros((None,), (plain,), True, False, "back")),
    ]
    for kind, call in refusals:
        with pytest.raises(kind):
            call()
    f._check_requires_grad([plain], "outputs", False)
    f._check_requires_grad([y], "outputs", True)
    f._validate_v((plain,), (plain,), False)
    return found


# --- TensorBoard --------------------------------------------------------------------------------


@pytest.fixture
def tensorboard(monkeypatch):
    module = importlib.import_module("autograd_cy.utils.tensorboard")
    monkeypatch.delitem(vars(module), "SummaryWriter", raising=False)
    yield module
    vars(module).pop("SummaryWriter", None)


def test_what_is_logged_is_given_to_tensorboardx_as_arrays(tensorboard, monkeypatch):
    logged = []

    class SummaryWriter:
        def __init__(self, folder):
            logged.append(folder)

        def add_scalar(self, tag, value, step=None):
            logged.append((tag, value, step))

        def add_scalars(self, tag, values, step):
            logged.append((tag, values, step))

        def add_graph(self, model):
            raise AssertionError

    installed = types.ModuleType("tensorboardX")
    installed.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "tensorboardX", installed)
    writer = tensorboard.SummaryWriter("runs")
    assert isinstance(writer, SummaryWriter) and tensorboard.SummaryWriter is type(writer)
    w = torch.tensor([1.5, 2.0], requires_grad=True)
    writer.add_scalar("loss", w[0], step=torch.tensor(3))
    writer.add_scalar("half", torch.ones(1, dtype=torch.bfloat16))
    writer.add_scalars("all", {"w": w, "n": 1}, 2)
    assert logged[0] == "runs" and logged[1] == ("loss", np.float32(1.5), 3)
    assert type(logged[1][1]) is np.ndarray and logged[2][1].dtype == np.float32
    assert logged[3][1]["w"].tolist() == [1.5, 2] and logged[3][1]["n"] == 1
    with pytest.raises(RuntimeError, match="^add_graph: there is no graph of the program"):
        writer.add_graph(torch.nn.Linear(1, 1))


def test_without_tensorboardx_the_name_can_be_imported(tensorboard, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    monkeypatch.delitem(sys.modules, "autograd_cy.utils.tensorboard.writer", raising=False)
    names = {}
    exec("from autograd_cy.utils.tensorboard import SummaryWriter", names)
    with pytest.raises(ModuleNotFoundError, match="SummaryWriter: .*pip install tensorboardX"):
        names["SummaryWriter"]("runs")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
        tensorboard.nothing
