"""Names that programs import without using them can be imported, and raise only when used."""

import importlib
import inspect
import pickle

import pytest
from grouping import each

import autograd_cy as torch
from autograd_cy._lazy.table import MODULES, STAND_INS

ROWS = [(inner, name) for inner, names in STAND_INS.items() for name in names]


def path_of(inner):
    return f"autograd_cy.{inner}" if inner else "autograd_cy"


@each("inner", [inner for inner in STAND_INS if inner])
def test_modules_can_be_imported_and_are_attributes_of_their_packages(inner):
    module = importlib.import_module(path_of(inner))
    place = torch
    for word in inner.split("."):
        place = getattr(place, word)
    assert place is module
    assert importlib.util.find_spec(path_of(inner)) is not None
    with pytest.raises(
        AttributeError, match=r"has no attribute 'nothing_of_this'(: tensors are .*)?$"
    ):
        module.nothing_of_this
    with pytest.raises(ImportError):
        exec(f"from {path_of(inner)} import nothing_of_this", {})


@each("inner, name", ROWS)
def test_names_can_be_imported_and_raise_when_they_are_used(inner, name):
    names = {}
    exec(f"from {path_of(inner)} import {name} as found", names)
    found = names["found"]
    module = importlib.import_module(path_of(inner))
    assert getattr(module, name) is found is getattr(module, name) and hasattr(module, name)
    if found.__module__ != path_of(inner) or not found.__doc__.startswith("Stands for torch"):
        return  # a module defines it
    theirs = ".".join(filter(None, ("torch", inner, name)))
    way_out = STAND_INS[inner][name]
    assert len(way_out) > 10
    for arguments, named in (((), {}), ((1, "a"), {"group": None})):
        with pytest.raises(RuntimeError) as caught:
            found(*arguments, **named)
        expected = f"{name}: autograd_cy has no counterpart of {theirs} ({way_out})"
        assert str(caught.value) == expected and type(caught.value) is RuntimeError
    assert pickle.loads(pickle.dumps(found)) is found
    assert found.__name__ == name
    if inspect.isclass(found):
        assert name[0].isupper() and not isinstance(torch.ones(1), found)

        class Mine(found):
            def forward(self):
                return 1

        assert issubclass(Mine, found) and (issubclass(found, torch.nn.Module) == (name in MODULES))
        with pytest.raises((RuntimeError, ValueError), match=f"^{name}: "):
            Mine()
        with pytest.raises(AttributeError, match=f"no attribute 'nothing': {name}: "):
            found.nothing
        assert (found | None) is not None and found["annotated"] is found
        assert not hasattr(found, "__torch_function__")


@each("inner, name", ROWS)
def test_torch_has_what_stands_here(inner, name):
    pytest.importorskip("torch")
    # Modules that need a cluster's libraries, and names of earlier versions.
    if inner.startswith("distributed") or name in EARLIER.get(inner, ()):
        return
    theirs = importlib.import_module(path_of(inner).replace("autograd_cy", "torch"))
    assert hasattr(theirs, name)


EARLIER = {
    "export": ("Constraint",),
    "onnx": (
        "ExportOptions",
        "JitScalarType",
        "OperatorExportTypes",
        "TrainingMode",
        "dynamo_export",
        "register_custom_op_symbolic",
        "select_model_mode_for_export",
        "unregister_custom_op_symbolic",
    ),
}


def test_modules_in_parallel_call_the_module():
    nn = torch.nn
    model = nn.Linear(2, 3)
    x = torch.randn(4, 2)
    for wrapped in (
        nn.DataParallel(model),
        nn.DataParallel(model, device_ids=[0, 1], output_device=0, dim=0),
        nn.parallel.DataParallel(module=model),
    ):
        assert torch.equal(wrapped(x), model(x)) and torch.equal(wrapped(input=x), model(x))
        assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
        assert wrapped.module is model and wrapped.device_ids == []
        assert [name for name, _ in wrapped.named_parameters()] == list(wrapped.state_dict())
    wrapped(x).sum().backward()
    assert model.weight.grad is not None
    others = nn.DataParallel(nn.Linear(2, 3))
    others.load_state_dict(wrapped.state_dict())
    assert torch.equal(others(x), model(x))
    assert torch.equal(nn.parallel.data_parallel(model, x), model(x))
    assert torch.equal(nn.parallel.data_parallel(model, (x,)), model(x))
    assert torch.equal(nn.parallel.data_parallel(model, None, module_kwargs={"input": x}), model(x))
    assert repr(wrapped).startswith("DataParallel(\n  (module): Linear(")
    assert nn.DataParallel[nn.Linear]  # in annotations


def test_compiling_gives_back_what_it_gets():
    layer = torch.nn.Linear(2, 1)

    def double(x):
        return 2 * x

    for thing in (layer, double, torch.nn.Linear, abs):
        assert torch.compile(thing) is thing
        assert torch.compile(thing, mode="max-autotune", dynamic=True, fullgraph=True) is thing
        assert torch.compile(backend="eager", options={"a": 1})(thing) is thing
        assert torch.compile(thing, disable=True, backend=lambda graph, inputs: graph) is thing
    assert layer.compile(mode="default") is None and list(layer.state_dict()) == ["weight", "bias"]
    with pytest.raises(RuntimeError, match="Either mode or options can be specified"):
        torch.compile(layer, mode="default", options={})
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast, should be one of: default"):
        torch.compile(layer, mode="fast")
    with pytest.raises(TypeError, match="expected a function or module, not int"):
        torch.compile(3)
    dynamo = importlib.import_module("autograd_cy._dynamo")
    dynamo.config.suppress_errors = True
    assert dynamo.config.suppress_errors and dynamo.optimize("eager")(double) is double
    assert dynamo.disable(double) is double and not dynamo.is_compiling()
    assert dynamo.graph_break() is dynamo.mark_dynamic(torch.ones(1), 0) is dynamo.reset() is None
    importlib.import_module("autograd_cy._inductor.config").coordinate_descent_tuning = True


def test_an_error_of_the_user_is_not_hidden_by_a_clause_for_another():
    for kind in (torch.cuda.OutOfMemoryError, torch.OutOfMemoryError):
        caught = None
        try:
            try:
                raise ValueError("mine")
            except kind:
                pass
        except ValueError as error:
            caught = error
        assert caught.args == ("mine",)
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    assert issubclass(torch.OutOfMemoryError, RuntimeError)


def test_classes_of_a_gpu_can_be_asked_for():
    def on(x: torch.Tensor, stream: torch.cuda.Stream | None = None):
        return isinstance(x, (torch.FloatTensor, torch.cuda.FloatTensor))

    assert on(torch.ones(1)) and not isinstance(torch.ones(1), torch.cuda.FloatTensor)
    with pytest.raises(RuntimeError, match="^CUDAGraph: .*not recorded yet"):
        torch.cuda.CUDAGraph()


def test_graphs_are_not_made_and_functions_stay():
    fx = torch.fx

    @fx.wrap
    def double(x):
        return 2 * x

    assert double(3) == 6 and fx.wrap("len") == "len" and fx.has_side_effect(print) is print
    with pytest.raises(RuntimeError, match="^Unsupported type for global function"):
        fx.wrap(3)
    assert not isinstance(torch.ones(1), fx.Proxy) and fx.Proxy.__module__ == "autograd_cy.fx"
    from autograd_cy.fx.experimental.proxy_tensor import make_fx  # noqa: F401

    assert not torch.onnx.is_in_onnx_export()


def test_private_names_that_programs_import():
    from autograd_cy.jit.annotations import BroadcastingList2, List

    assert BroadcastingList2[int] is int and List[int]
    from autograd_cy._jit_internal import Optional, _overload  # noqa: F401

    assert _overload(abs) is abs
    assert torch._C._log_api_usage_once("here") is torch._C._get_tracing_state() is None
    assert isinstance(torch.Tensor, torch._C._TensorMeta)
    parsed = torch._C._nn._parse_to
    assert parsed("cpu", torch.float64, True) == (torch.device("cpu"), torch.float64, True, None)
    assert parsed(torch.ones(1, dtype=torch.int64))[1] is torch.int64
    assert parsed(memory_format=torch.channels_last) == (None, None, False, torch.channels_last)
    assert not isinstance(3, torch.SymInt)
    storage = torch.ones(1).untyped_storage()
    assert torch.serialization.default_restore_location(storage, "cpu") is storage
    loader = torch.utils.data.DataLoader([1, 2])
    dataloader = torch.utils.data.dataloader
    assert isinstance(iter(loader), dataloader._BaseDataLoaderIter)
    assert isinstance(iter(loader), dataloader._SingleProcessDataLoaderIter)
    assert not isinstance(iter(loader), dataloader._MultiProcessingDataLoaderIter)
