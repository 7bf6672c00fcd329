"""`autograd_cy.as_torch()`: `import torch` of any package finds this one, and it can be undone."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import programs
import pytest

from autograd_cy.__main__ import main
from autograd_cy._version import FOLLOWED, __version__
from autograd_cy.torch_version import TorchVersion

ROOT = Path(__file__).resolve().parents[1]
VERSION = f"{FOLLOWED}+autograd.cy.{__version__}"


def told(text, *arguments):
    """Return what a program prints, which must end well."""
    done = programs.run("-c", text, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(*words, cwd=None, status=0, options=()):
    """Run Python itself, in a process of its own."""
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, *options, *map(str, words)]
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stdout + done.stderr
    return done


# --- the modules --------------------------------------------------------------------------------


def test_every_module_is_found_by_the_name_of_torch():
    told("""
import importlib, pkgutil, sys
import autograd_cy as ag
ag.as_torch()
import torch
assert torch is ag
names = [m.name for m in pkgutil.walk_packages(ag.__path__, "autograd_cy.")]
skipped = ("autograd_cy.ops", "autograd_cy.__main__", "autograd_cy.legacy")
names = [n for n in names if not n.startswith(skipped) and "._C." not in n]
assert len(names) > 150
for name in names:
    try:
        theirs = importlib.import_module("torch" + name[11:])
    except ImportError:
        continue
    assert theirs is importlib.import_module(name), name
    assert theirs.__name__ == theirs.__spec__.name == name
""")


def test_an_import_by_the_name_of_torch_leaves_packages_as_they_are():
    # Python sets a module as an attribute of its package, where this may have a function.
    look = """
import importlib, pkgutil, sys
import autograd_cy as ag
names = [m.name for m in pkgutil.walk_packages(ag.__path__, "autograd_cy.")]
skipped = ("autograd_cy.ops", "autograd_cy.__main__", "autograd_cy.legacy")
names = [n for n in names if not n.startswith(skipped) and "._C." not in n]
if sys.argv[1] == "torch":
    ag.as_torch()
for name in reversed(names):
    try:
        importlib.import_module(sys.argv[1] + name[11:])
    except ImportError:
        pass
for name in names:
    parent, _, last = name.rpartition(".")
    kind = type(vars(sys.modules[parent]).get(last)).__name__ if parent in sys.modules else None
    print(name, kind)
"""
    assert told(look, "torch") == told(look, "autograd_cy")


def test_forms_of_imports():
    told("""
import autograd_cy
autograd_cy.as_torch()
import torch.nn.functional as F
import torch.utils.data
from torch import nn, Tensor
from torch.nn import functional, Module
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.data import DataLoader
from torch.optim.lr_scheduler import StepLR
import importlib
assert F is functional is importlib.import_module("torch.nn.functional")
assert F is autograd_cy.nn.functional
assert torch.utils.data.DataLoader is DataLoader is autograd_cy.utils.data.DataLoader
assert Tensor is autograd_cy.Tensor and Module is autograd_cy.nn.Module
names = {}
exec("from torch.nn import *", names)
assert names["Linear"] is nn.Linear
importlib.reload(torch.fft)
assert torch.fft is autograd_cy.fft
import autograd_cy.special  # loaded later, by its own name
import torch.special
assert torch.special is autograd_cy.special
""")


def test_what_is_not_there_is_the_error_of_python_or_says_what_to_do():
    told("""
import autograd_cy, importlib.util
autograd_cy.as_torch()
try:
    import torch.nothing
except ModuleNotFoundError as error:
    assert str(error) == "No module named 'torch.nothing'" and error.name == "torch.nothing"
try:
    from torch.nn.utils import fuse_conv_bn_eval
except ImportError as error:
    assert "no counterpart of torch.nn.utils.fuse_conv_bn_eval" in str(error), error
find = importlib.util.find_spec
assert find("torch.nothing") is None
assert find("torch") is not None and find("torch.fft").origin.endswith("fft.py")
import sys
assert "autograd_cy.fft" not in sys.modules
try:
    import torch_scatter
except ModuleNotFoundError as error:
    assert error.name == "torch_scatter"
""")


# Lines of real programs, which use what they name on a cluster, a GPU or in an option alone.
LINES = """
import torch.distributed as dist
from torch.distributed import ReduceOp, all_reduce, barrier, get_rank, get_world_size
from torch.distributed import init_process_group
from torch.distributed import ProcessGroup, all_gather, broadcast, destroy_process_group
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.elastic.multiprocessing.errors import record
import torch.distributed.nn
from torch.nn.parallel import DataParallel, DistributedDataParallel as DDP
from torch.nn.parallel.distributed import DistributedDataParallel
from torch.nn import DataParallel
from torch.distributions import Beta, Categorical, Normal, kl_divergence
from torch.distributions.normal import Normal
from torch.distributions import constraints
import torch.distributions as D
from torch.hub import load_state_dict_from_url
from torch.utils.model_zoo import load_url
from torch.utils import model_zoo
import torch.onnx
import torch.onnx.operators
from torch import fx
from torch.fx import GraphModule, Proxy, Tracer, symbolic_trace, wrap
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
from torch.jit.annotations import BroadcastingList2
from torch._jit_internal import Optional
from torch.utils.tensorboard import SummaryWriter
from torch.futures import Future
from torch._C import _log_api_usage_once
from torch.cuda import OutOfMemoryError
from torch.cuda.amp import GradScaler, autocast
from torch.autograd.functional import _autograd_grad, _grad_postprocess, _grad_preprocess
from torch.optim.optimizer import Optimizer, ParamsT, required
from torch.optim.optimizer import _default_to_fused_or_foreach, _get_value
from torch.optim.optimizer import _use_grad_for_differentiable
from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype
from torch.utils.data.dataloader import _BaseDataLoaderIter
from torch.utils._pytree import _dict_flatten_with_keys
from torch.nn.attention.bias import causal_lower_right
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.nn.init import _no_grad_normal_, _no_grad_trunc_normal_
from torch.serialization import default_restore_location
from torch.nn.utils import prune
from torch.ao.quantization import DeQuantStub, QuantStub
import torch._dynamo
from torch._dynamo import OptimizedModule
import torch._inductor.config
from torch import SymInt
"""


def test_lines_that_programs_begin_with():
    told(f"""
import autograd_cy
autograd_cy.as_torch()
{LINES}
@wrap
def double(x):
    return 2 * x

@torch.compile(dynamic=True)
def step(x: torch.Tensor, op=ReduceOp.SUM, stream: torch.cuda.Stream | None = None) -> SymInt:
    return double(x)

@record
def main():
    if dist.is_available() and dist.is_initialized():
        raise AssertionError
    model = torch.nn.Linear(1, 1)
    if isinstance(model, (DDP, FSDP, DataParallel, OptimizedModule)):
        raise AssertionError
    try:
        return step(torch.ones(1))
    except OutOfMemoryError:
        raise AssertionError

assert main().tolist() == [2] and torch.__version__ >= "2.0"
""")


# --- the version --------------------------------------------------------------------------------


def test_versions_and_metadata():
    assert told("""
import importlib.metadata as metadata
import autograd_cy
with autograd_cy.as_torch():
    import torch, torch.version
    print(torch.__version__, autograd_cy.__version__, torch.version.__version__)
    print(metadata.version("torch"), metadata.version("Torch"))
    print(metadata.distribution("torch").metadata["Name"])
    print([d.version for d in metadata.distributions() if d.metadata["Name"] == "torch"][0])
    assert torch.__version__ >= "1.8" and torch.__version__ > (2, 4) and torch.__version__ < "3"
    assert tuple(map(int, torch.__version__.split(".")[:2])) == (2, 13)
    metadata.version("numpy")
print(autograd_cy.__version__, autograd_cy.version.__version__)
""").split() == [*[VERSION] * 5, "torch", VERSION, __version__, __version__]


def test_the_version_is_a_local_version_of_the_one_that_is_followed():
    packaging = pytest.importorskip("packaging.version")
    version = packaging.Version(VERSION)
    assert str(version) == VERSION and version.public == FOLLOWED
    assert version.local == f"autograd.cy.{__version__}"
    assert version >= packaging.Version(FOLLOWED)


TEXTS = (
    "1.0 1.0.0 1.0.1 1.8 1.10 2 2.0 2.13.0 2.13.0+cpu 2.13.0+autograd.cy.0.2.0 2.13.0a0+git 2.13"
    " 2.13.0.dev20240101 2.13.0rc1 2.13.0.post1 2.13.0-1 1!0.1 3 v2.1 2.1b2 2.1b1.dev3 2.1b1"
    " 2.1.post2.dev1 2.13.0+cpu.2 2.13.0+cpu.10 2.13.0+1 2.13.0+CPU"
).split()


def test_versions_compare_as_versions():
    packaging = pytest.importorskip("packaging.version")
    for one in TEXTS:
        for other in TEXTS:
            mine = TorchVersion(one)
            theirs = packaging.Version(one), packaging.Version(other)
            for compare in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
                expected = getattr(theirs[0], compare)(theirs[1])
                assert getattr(mine, compare)(other) is expected, (one, compare, other)
                assert getattr(mine, compare)(TorchVersion(other)) is expected


def test_versions_are_text():
    version = TorchVersion(VERSION)
    assert version == VERSION and hash(version) == hash(VERSION) and f"{version}" == VERSION
    assert version > (1, 8) and version >= [2, 13, 0] and version >= "1.8"
    assert {VERSION: "found"}[version] == "found"
    assert pickle.loads(pickle.dumps(version)) == version
    assert (version == 2) is False and (version == "no version") is False
    assert TorchVersion("1.0") < "no version"  # as text
    with pytest.raises(TypeError, match="not supported between"):
        version >= 2.0  # noqa: B015
    with pytest.raises(TypeError, match="not supported between"):
        version < None  # noqa: B015


def test_versions_compare_as_those_of_torch():
    theirs = type(pytest.importorskip("torch").__version__)
    for one in TEXTS:
        for other in (*TEXTS, (1, 8), [2, 13, 0], (2, 13, 0), "no version", 2, (1, "a")):
            # Not `!=`, which compares text there: 1.0 is and is not 1.0.0.
            for compare in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__"):
                expected = getattr(theirs(one), compare)(other)
                assert getattr(TorchVersion(one), compare)(other) == expected, (one, compare, other)


# --- on and off ---------------------------------------------------------------------------------


def test_leaving_the_context_undoes_everything():
    told("""
import multiprocessing.spawn, os, sys
import autograd_cy as ag

def state():
    names = {n: m for n, m in sys.modules.items() if n.split(".")[0] == "torch"}
    preparation = multiprocessing.spawn.get_preparation_data
    return names, list(sys.meta_path), ag.__version__, preparation, dict(os.environ), sys.path[:]

before = state()
with ag.as_torch() as torch:
    assert torch is ag and state() != before
    import torch.nn.functional, torch.distributed.fsdp
    with ag.as_torch(), ag.as_torch():
        import torch.fft
    import torch.special  # still on
    try:
        with ag.as_torch():
            raise KeyError("mine")
    except KeyError:
        pass
    import torch.sparse
after = state()
assert before == after, [(a, b) for a, b in zip(before, after) if a != b]
try:
    with ag.as_torch():
        raise KeyError("mine")
except KeyError as error:
    assert error.args == ("mine",)
assert state() == before
once = ag.as_torch()
with ag.as_torch():
    pass
import torch
with once:
    assert torch is ag
assert state() == before
with once, once:  # one switch, which is off after its first end
    import torch
assert state() == before
""")


def test_a_call_alone_stays_on():
    told("""
import gc
import autograd_cy as ag
ag.as_torch()
gc.collect()
with ag.as_torch():
    pass
import torch.nn
assert torch is ag
""")


def test_what_forbids_an_import_is_there_again_afterwards():
    told("""
import sys
import autograd_cy as ag
sys.modules["torch"] = None
with ag.as_torch():
    import torch
assert sys.modules["torch"] is None
""")


def test_what_an_interrupt_has_left_is_no_pytorch():
    assert (
        told("""
import sys
import autograd_cy as ag
from autograd_cy._as_torch import switch

def interrupt(*arguments):
    raise KeyboardInterrupt

def is_off():
    names = [n for n in sys.modules if n.split(".")[0] == "torch"]
    return not names and switch._finder not in sys.meta_path and ag.__version__ == plain

plain = ag.__version__
for step in ("share", "tell_children"):  # while it is turned on
    original = getattr(switch, step)
    setattr(switch, step, lambda: (original(), interrupt()))
    try:
        ag.as_torch()
    except KeyboardInterrupt:
        print("interrupted")
    setattr(switch, step, original)
    assert is_off(), step
original, switch.tell_no_more = switch.tell_no_more, interrupt  # while it is turned off
try:
    with ag.as_torch():
        pass
except KeyboardInterrupt:
    print("interrupted")
switch.tell_no_more = original
with ag.as_torch():
    import torch
    assert torch is ag
assert is_off()
""").split()
        == ["interrupted"] * 3
    )


def test_pytorch_that_is_imported_already_is_refused(tmp_path):
    (tmp_path / "torch.py").write_text("Tensor = None\n")
    told(
        """
import sys
sys.path.insert(0, sys.argv[1])
import torch
import autograd_cy as ag
before = sys.meta_path[:], dict(sys.modules)
for _ in range(2):
    try:
        ag.as_torch()
    except RuntimeError as error:
        assert "PyTorch is imported already" in str(error) and "before" in str(error)
    else:
        raise AssertionError("not refused")
assert sys.modules["torch"] is torch and torch is not ag
assert sys.meta_path == before[0] and ag.__version__ == ag._version.__version__
del sys.modules["torch"]
with ag.as_torch():  # installed and not imported
    import torch as ours
    assert ours is ag
import torch as theirs
assert theirs is not ag and theirs.Tensor is None
""",
        tmp_path,
    )


def test_pickles_made_meanwhile_are_those_of_the_package():
    told("""
import io, pickle
import autograd_cy as ag
with ag.as_torch():
    import torch
    model = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.ReLU())
    text, file = pickle.dumps([model, torch.nn.functional.relu, torch.float16]), io.BytesIO()
    torch.save(model.state_dict(), file)
assert b"torch." not in text.replace(b"torch_", b"")
for _ in range(2):
    found, relu, dtype = pickle.loads(text)
    assert type(found[0]) is ag.nn.Linear and relu is ag.nn.functional.relu and dtype is ag.float16
    file.seek(0)
    found.load_state_dict(ag.load(file))
    switch = ag.as_torch()  # the second time with it
""")


def test_classes_of_tensors_say_that_they_are_of_torch():
    # Packages that know several libraries choose functions by the module of the class.
    told("""
import copy, pickle
import autograd_cy as ag
ours = ["autograd_cy", "autograd_cy.nn.parameter", "autograd_cy.nn.parameter"]
class Weight(ag.nn.Parameter):
    pass
classes = ag.Tensor, ag.nn.Parameter, ag.nn.Buffer
assert [cls.__module__ for cls in classes] == ours
for _ in range(2):
    with ag.as_torch():
        import torch
        assert [cls.__module__ for cls in classes] == [
            "torch", "torch.nn.parameter", "torch.nn.parameter"
        ]
        assert repr(type(torch.ones(2))) == "<class 'torch.Tensor'>"
        assert Weight.__module__ == "__main__"
        values = [cls(torch.ones(2)) for cls in (*classes, Weight)]
        for protocol in range(6):
            text = pickle.dumps([values, torch.nn.Parameter, Weight], protocol)
            assert b"torch" not in text.replace(b"as_torch", b"")
            again, *kinds = pickle.loads(text)
            assert kinds == [torch.nn.Parameter, Weight]
            assert [type(x) for x in again] == [type(x) for x in values]
            assert all(torch.equal(x, y) for x, y in zip(again, values))
        assert [type(x) for x in copy.deepcopy(values)] == [type(x) for x in values]
    assert [cls.__module__ for cls in classes] == ours
    assert [type(x) for x in pickle.loads(text)[0]] == [type(x) for x in values]
    assert repr(ag.Tensor) == "<class 'autograd_cy.Tensor'>"
""")


def test_files_are_written_alike_under_both_names():
    told("""
import io
import autograd_cy as ag
def written():
    file = io.BytesIO()
    parameter, buffer = ag.nn.Parameter(ag.ones(2)), ag.nn.Buffer(ag.zeros(1))
    ag.save({"weight": parameter, "mean": buffer, "x": ag.ones(3)}, file)
    return file.getvalue()
plain = written()
with ag.as_torch():
    assert written() == plain
""")


# --- processes ----------------------------------------------------------------------------------

MODULE = """
import torch  # at the top, as packages do
from torch.utils.data import Dataset

class Squares(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        import torch.nn.functional as F
        assert torch.nn.functional is F and "autograd" in torch.__version__ and torch.torch is torch
        return torch.tensor(float(i)) ** 2

def double(x):
    return (x * 2, torch.__version__)
"""

PROGRAM = """
import sys
{first}
import torch
import torch.multiprocessing as mp
from squares import Squares, double

class Batch(torch.nn.Module):  # of the main module, which spawned processes import anew
    def forward(self, x):
        return x + 1

def of_main(x):
    return Batch()(x)

if __name__ == "__main__":
    for method in sys.argv[1:]:
        loader = torch.utils.data.DataLoader(
            Squares(), batch_size=2, num_workers=2, multiprocessing_context=method
        )
        print(method, [batch.tolist() for batch in loader])
        with mp.get_context(method).Pool(1) as pool:
            print(pool.map(double, [torch.ones(1)]), pool.map(of_main, [torch.ones(1)]))
    print(len(sys.argv), __file__.endswith("program.py"), __spec__)
"""


def written(folder, first):
    (folder / "squares.py").write_text(MODULE)
    program = folder / "program.py"
    program.write_text(PROGRAM.format(first=first))
    return program


def answers(methods):
    expected = ""
    for method in methods:
        expected += f"{method} [[0.0, 1.0], [4.0, 9.0]]\n"
        expected += f"[(tensor([2.]), {VERSION!r})] [tensor([2.])]\n"
    return expected + f"{1 + len(methods)} True None\n"


@pytest.mark.slow
@pytest.mark.parametrize("methods", [("fork", "spawn"), ("forkserver",)])
def test_workers_of_a_program_that_turns_it_on(methods, tmp_path):
    first = "import autograd_cy; autograd_cy.as_torch()"
    program = written(tmp_path, first)
    assert python(program, *methods, cwd=tmp_path).stdout == answers(methods)


def test_workers_of_a_program_that_only_its_main_part_turns_on(tmp_path):
    (tmp_path / "squares.py").write_text(MODULE)
    program = tmp_path / "program.py"
    program.write_text("""
import multiprocessing

if __name__ == "__main__":
    import autograd_cy
    with autograd_cy.as_torch():
        import squares
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.map(squares.double, [autograd_cy.ones(1)]))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            pool.map(print, [squares])
        except TypeError as error:
            print(error)
""")
    assert python(program, cwd=tmp_path).stdout.startswith(f"[(tensor([2.]), {VERSION!r})]")


# --- the command --------------------------------------------------------------------------------

COMMAND = ("-m", "autograd_cy", "as-torch")


@pytest.mark.parametrize("method", ["spawn", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_workers_of_a_program_that_the_command_runs(method, tmp_path):
    program = written(tmp_path, "")
    assert python(*COMMAND, program, method, cwd=ROOT).stdout == answers([method])


def test_the_command_runs_a_script_as_python_does(tmp_path):
    folder = tmp_path / "of the script"
    folder.mkdir()
    script = folder / "look.py"
    script.write_text("""
import sys, __main__
print(__name__, __file__, sys.argv, sys.path[0], __spec__, __package__, __doc__, __cached__)
print(sorted(n for n in vars() if n.startswith("__")), __main__ is sys.modules["__main__"])
print(type(__loader__).__name__, type(__builtins__).__name__, __main__.__dict__ is globals())
def local(): pass
import pickle
assert pickle.loads(pickle.dumps(local)) is local
if "autograd_cy" in sys.modules:
    import torch
    assert torch is sys.modules["autograd_cy"]
""")
    words = ["--version", "-m", "--", "a b", "-h"]
    for name in (script, os.path.relpath(script, tmp_path)):
        plain = python(name, *words, cwd=tmp_path)
        ours = python(*COMMAND, name, *words, cwd=tmp_path)
        assert ours.stdout == plain.stdout
    link = tmp_path / "link.py"
    link.symlink_to(script)
    assert python(*COMMAND, link).stdout == python(link).stdout


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="needs /dev/stdin")
def test_the_command_runs_a_program_that_comes_by_a_pipe():
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "autograd_cy", "as-torch", "/dev/stdin", "a"]
    text = "import sys, torch\nprint(torch.__name__, sys.argv[1])\n"
    done = subprocess.run(command, env=env, input=text, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["torch", "a"], done.stdout + done.stderr


def test_the_command_runs_a_module_as_python_does(tmp_path):
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("""
import sys
from . import __name__ as own
print(__name__, __spec__.name, __package__, own, sys.argv[1:], sys.path[0])
print(__file__, sys.argv[0])
if "autograd_cy" in sys.modules:
    import torch.nn
""")
    plain = python("-m", "pack", "a", "-m", cwd=tmp_path)
    assert python(*COMMAND, "-m", "pack", "a", "-m", cwd=tmp_path).stdout == plain.stdout


@pytest.mark.slow
def test_what_is_not_there_is_said_as_python_says_it(tmp_path):
    for words, status in ((["nothing.py"], 2), (["-m", "nothing_of_this"], 1)):
        plain = python(*words, cwd=tmp_path, status=status)
        assert python(*COMMAND, *words, cwd=tmp_path, status=status).stderr == plain.stderr
    (tmp_path / "pack.py").write_text("print(__name__)\n")
    assert python(*COMMAND, "-mpack", cwd=tmp_path).stdout == "__main__\n"


def test_the_command_runs_a_folder_with_a_main_module(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "other.py").write_text("value = 3\n")
    main = "import sys, other\nprint(other.value, __name__, sys.argv, sys.path[0])\n"
    (tmp_path / "app" / "__main__.py").write_text(main)
    plain = python("app", "a", cwd=tmp_path).stdout
    assert python(*COMMAND, "app", "a", cwd=tmp_path).stdout == plain


ENDINGS = (
    "def f():\n    return 1 / 0\n\n\nf()",
    "import sys; sys.exit('words')",
    "raise KeyboardInterrupt",
    "def f(:\n    pass",
)
MORE_ENDINGS = (
    "raise SystemExit(3)",
    "import sys; sys.exit()",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('later') from e",
    "import nothing_of_this",
    "import sys; sys.excepthook = lambda *a: print('mine', a[0].__name__, a[2].tb_lineno)\n1 / 0",
    "import atexit; atexit.register(print, 'at the end')\nassert False",
    "import os; os._exit(7)",
)


@pytest.mark.parametrize(
    "ending", [*ENDINGS, *(pytest.param(end, marks=pytest.mark.slow) for end in MORE_ENDINGS)]
)
def test_programs_end_as_they_do_alone(ending, tmp_path):
    script = tmp_path / "ending.py"
    script.write_text(f"print('begun', flush=True)\n{ending}\n")
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    ends = []
    for words in ((), COMMAND):
        command = [sys.executable, *words, str(script)]
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
        ends.append((done.returncode, done.stdout, done.stderr))
    assert ends[0] == ends[1]


def test_the_command_says_how_it_is_called(capsys):
    for words in (["as-torch", "-h"], ["as-torch", "--help"]):
        assert main(words) == 0
        text = capsys.readouterr().out
        assert "as-torch SCRIPT" in text and "-m MODULE" in text and "import torch" in text
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "as-torch" in capsys.readouterr().out
    for words, said in (
        ([], "which program?"),
        (["-m"], "which program?"),
        (["--nothing"], "--nothing is not known"),
    ):
        assert main(["as-torch", *words]) == 2
        found = capsys.readouterr()
        assert said in found.err and "usage:" in found.err and not found.out
