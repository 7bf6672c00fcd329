"""Objects made by ``__new__`` alone, of every compiled class: usable, or a TypeError; no crash."""

import importlib
import io
import pickle
import pkgutil
import zipfile
from pathlib import Path

import programs
import pytest

import autograd_cy as ag
from autograd_cy import _C

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: classes written in Python
ROOT = Path(ag.__file__).parents[1]


def compiled_classes():
    """(module, name) of every class written in Cython."""
    found = set()
    for module in pkgutil.iter_modules(_C.__path__):
        try:
            values = vars(importlib.import_module(f"autograd_cy._C.{module.name}")).values()
        except ImportError as error:  # kernels for another processor
            if "which this one lacks" not in str(error):
                raise
            continue
        for value in values:
            if (
                isinstance(value, type)
                and not value.__flags__ & HEAP_TYPE
                and value.__module__.startswith("autograd_cy.")
            ):
                found.add((value.__module__, value.__name__))
    # Those of nodes are in no module: they are made with the first node.
    found |= {(kind.__module__, kind.__name__) for kind in _C.node._generated_classes()}
    return sorted(found)


# Runs in another process: a crash ends that one. Prints the class before it is touched.
POKE = """
import copy, importlib, sys, pickle, warnings
warnings.simplefilter("ignore")
import autograd_cy as ag

def attempt(f):
    try:
        return f()
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise

def poke(o):
    for name in dir(type(o)):
        if name in ("__class__", "__init_subclass__", "__subclasshook__", "__new__", "__del__"):
            continue
        value = attempt(lambda: getattr(o, name))
        if callable(value):
            for args in ((), (o,), (1,), (ag.ones(1),), (None, None), (ag.ones(1), ag.ones(1), 0)):
                attempt(lambda: value(*args))
        attempt(lambda: setattr(o, name, o)) if not name.startswith("__") else None
    for f in (repr, str, hash, len, list, bool, copy.copy, copy.deepcopy, pickle.dumps, memoryview):
        attempt(lambda: f(o))
    for name in ("_saved_self", "_saved_dim", "_raw_saved_self", "_saved_other"):
        attempt(lambda: getattr(o, name))
    attempt(lambda: ag.autograd.backward([(o, 0)], [ag.ones(1)]))
    attempt(lambda: ag.autograd.grad((ag.ones(1, requires_grad=True) * 2).sum(), [(o, 0)]))
    attempt(lambda: ag.autograd.backward([ag.autograd.graph.GradientEdge(o, 0)], [ag.ones(1)]))

import contextlib, pkgutil
from autograd_cy import _C
from autograd_cy._C import node
for module in pkgutil.iter_modules(_C.__path__):  # those of operators that are loaded later, too
    with contextlib.suppress(ImportError):  # kernels for another processor
        importlib.import_module(f"autograd_cy._C.{module.name}")
kinds = {f"{kind.__module__}.{kind.__name__}": kind for kind in node._generated_classes()}

for line in sys.argv[1:]:
    module, _, name = line.rpartition(".")
    print(line, flush=True)
    cls = kinds[line] if line in kinds else getattr(importlib.import_module(module), name)
    for make in (lambda: cls.__new__(cls), cls, lambda: object.__new__(cls)):
        o = attempt(make)
        if o is not None:
            poke(o)
            del o
print("done", flush=True)
"""


def test_objects_made_by_new_alone_never_crash():
    names = [f"{module}.{name}" for module, name in compiled_classes()]
    assert len(names) > 200
    run = programs.run("-c", POKE, *names, cwd=ROOT, timeout=300)
    lines = run.stdout.split()
    assert run.returncode == 0 and lines[-1:] == ["done"], (
        f"crash (exit {run.returncode}) with an object of {lines[-1:]}: {run.stderr[-500:]}"
    )


def test_a_tensor_made_by_new_alone_is_empty():
    t = ag.Tensor.__new__(ag.Tensor)
    assert t.tolist() == [] and t.shape == (0,) and t.dtype == ag.get_default_dtype()
    assert t.clone().tolist() == [] and repr(t) == "tensor([])"
    assert (t + 1).tolist() == []


def test_a_subclass_that_forgets_to_initialise_is_empty():
    class Forgetful(ag.Tensor):
        def __init__(self, anything):
            self.kept = anything

    t = Forgetful(3)
    assert t.kept == 3 and t.tolist() == []


@pytest.mark.parametrize("cls", [ag.dtype, ag.StorageBase, ag.layout, ag.memory_format])
def test_objects_that_only_the_library_makes(cls):
    with pytest.raises(TypeError, match="cannot be made"):
        cls.__new__(cls)
    with pytest.raises(TypeError, match="cannot be made"):
        cls()


def test_a_device_needs_its_type():
    with pytest.raises(TypeError):
        ag.device.__new__(ag.device)
    assert ag.device.__new__(ag.device, "cpu") == ag.device("cpu")


def file(pickled):
    """An archive with nothing but this pickle."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as members:
        members.writestr("x/data.pkl", pickled)
        members.writestr("x/version", "3\n")
    return io.BytesIO(made.getvalue())


def test_a_hostile_file_gets_no_tensor_without_memory():
    t = ag.load(file(b"\x80\x04cautograd_cy\nTensor\n)\x81."))
    assert t.tolist() == [] and t.clone().tolist() == []


@pytest.mark.parametrize(
    "named",
    [
        b"cautograd_cy\ndtype\n",
        b"cautograd_cy\nUntypedStorage\n",
        b"cautograd_cy._C.node\nNode\n",
        b"cautograd_cy._C.engine\nGraphTask\n",
        b"cautograd_cy.nn\nLinear\n",
        b"cautograd_cy.nn\nModule\n",
        b"cautograd_cy.serialization\n_Unpickler\n",
        b"cautograd_cy.optim\nSGD\n",
    ],
)
def test_classes_that_are_no_tensors_are_refused(named):
    with pytest.raises(pickle.UnpicklingError, match="does not allow"):
        ag.load(file(b"\x80\x04" + named + b")\x81."))


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("autograd_cy", "Tensor.backward"),
        ("autograd_cy", "Tensor.__class__"),
        ("autograd_cy.serialization", "os.system"),
        ("autograd_cy._C.tensor", "Tensor.__init__.__globals__"),
        ("autograd_cy.nn", "parameter.Parameter"),
    ],
)
def test_dotted_names_are_refused(module, name):
    def text(x):
        return b"\x8c" + bytes([len(x)]) + x.encode()

    with pytest.raises(pickle.UnpicklingError, match="does not allow"):
        ag.load(file(b"\x80\x04" + text(module) + text(name) + b"\x93."))


def test_tables_of_functions_have_no_gaps():
    for module in (_C.tensor, _C.node, _C.linking):
        assert module._unfilled() == []


ALONE = """
import importlib, sys, types
for name in ("autograd_cy", "autograd_cy._C"):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [sys.argv[1] + "/" + name.replace(".", "/")]
print(*importlib.import_module("autograd_cy._C." + sys.argv[2])._unfilled())
"""


@pytest.mark.parametrize(
    ("module", "wanted"),
    [
        ("tensor", {"upcalls.binary[0]", "upcalls.unary[3]", "upcalls.getitem"}),
        ("node", {"graph_upcalls.pack_saved", "graph_upcalls.note_creation"}),
    ],
)
def test_gaps_of_tables_are_named(module, wanted):
    """Some gaps exist as long as nothing else is loaded."""
    done = programs.run("-c", ALONE, ROOT, module)
    assert done.returncode == 0, done.stderr
    names = done.stdout.split()
    assert wanted <= set(names) and len(names) == len(set(names))


def test_a_subclass_of_a_class_without_objects_has_none_either():
    for cls in (ag.dtype, ag.layout, ag.memory_format):
        sub = type("Sub", (cls,), {})
        for make in (sub, lambda sub=sub: sub.__new__(sub)):
            with pytest.raises(TypeError, match=f"{cls.__name__} objects cannot be made"):
                make()
