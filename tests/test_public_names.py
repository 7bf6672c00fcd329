"""The public names, pinned: a change of tests/public_names.txt is a change that users notice.

`python tests/test_public_names.py` writes the file anew.
"""

import importlib
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("public_names.txt")
MODULES = (
    "autograd_cy",
    "autograd_cy.accelerator",
    "autograd_cy.amp",
    "autograd_cy.autograd",
    "autograd_cy.autograd.functional",
    "autograd_cy.autograd.gradcheck",
    "autograd_cy.autograd.profiler",
    "autograd_cy.autograd.profiler_util",
    "autograd_cy.compiler",
    "autograd_cy.cpu",
    "autograd_cy.cpu.amp",
    "autograd_cy.cuda",
    "autograd_cy.cuda.amp",
    "autograd_cy.cuda.comm",
    "autograd_cy.cuda.nvtx",
    "autograd_cy.cuda.profiler",
    "autograd_cy.distributed",
    "autograd_cy.distributed.checkpoint",
    "autograd_cy.distributed.checkpoint.state_dict",
    "autograd_cy.distributions",
    "autograd_cy.fft",
    "autograd_cy.futures",
    "autograd_cy.fx",
    "autograd_cy.hub",
    "autograd_cy.jit",
    "autograd_cy.legacy",
    "autograd_cy.legacy.nn",
    "autograd_cy.legacy.nn.functional",
    "autograd_cy.legacy.nn.init",
    "autograd_cy.legacy.optim",
    "autograd_cy.legacy.utils.data",
    "autograd_cy.linalg",
    "autograd_cy.mps",
    "autograd_cy.nn",
    "autograd_cy.nn.functional",
    "autograd_cy.nn.init",
    "autograd_cy.nn.parallel",
    "autograd_cy.nn.utils",
    "autograd_cy.nn.utils.parametrizations",
    "autograd_cy.nn.utils.parametrize",
    "autograd_cy.onnx",
    "autograd_cy.optim",
    "autograd_cy.optim.lr_scheduler",
    "autograd_cy.overrides",
    "autograd_cy.profiler",
    "autograd_cy.return_types",
    "autograd_cy.sparse",
    "autograd_cy.special",
    "autograd_cy.testing",
    "autograd_cy.torch_version",
    "autograd_cy.utils",
    "autograd_cy.utils.checkpoint",
    "autograd_cy.utils.data",
    "autograd_cy.utils.preemption",
    "autograd_cy.utils.safetensors",
    "autograd_cy.utils.tensorboard",
    "autograd_cy.xpu",
)


def names_of(module):
    """`__all__`, or all names without an underscore that the module defines."""
    module = importlib.import_module(module)
    listed = getattr(module, "__all__", None)
    if listed is None:
        listed = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
        ]
    return sorted(listed)


def methods():
    """Public attributes of Tensor."""
    from autograd_cy import Tensor

    return sorted(n for n in dir(Tensor) if not n.startswith("_") and hasattr(Tensor, n))


def read():
    sections, current = {}, None
    for line in FILE.read_text().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        elif line:
            current.append(line)
    return sections


def found():
    return {name: names_of(name) for name in MODULES} | {"autograd_cy.Tensor": methods()}


def write():
    parts = ["\n".join([f"[{name}]", *names]) for name, names in found().items()]
    FILE.write_text("\n\n".join(parts) + "\n")


@pytest.mark.parametrize("section", [*MODULES, "autograd_cy.Tensor"])
def test_public_names_are_the_pinned_ones(section):
    built = methods() if section == "autograd_cy.Tensor" else names_of(section)
    assert built == read()[section], "see the docstring of this file"


@pytest.mark.parametrize("module", MODULES)
def test_public_names_exist(module):
    loaded = importlib.import_module(module)
    assert [name for name in names_of(module) if not hasattr(loaded, name)] == []


def test_names_that_are_loaded_later_are_listed_by_their_modules():
    import autograd_cy

    for place, names in autograd_cy._LATER.items():
        listed = importlib.import_module(f"autograd_cy.{place}").__all__
        if place.startswith("_tensors."):  # which have names of the top level alone
            assert names.split() == sorted(listed)
        assert set(names.split()) <= set(listed)


def test_every_module_that_is_loaded_later_is_there():
    import autograd_cy

    package = Path(autograd_cy.__file__).parent
    found = {path.stem for path in package.glob("[!_]*.py")}
    found |= {path.parent.name for path in package.glob("[!_]*/__init__.py")}
    at_import = {"amp", "autograd", "random", "storage"}
    assert sorted(found - at_import) == list(autograd_cy._MODULES)


if __name__ == "__main__":
    sys.path.insert(0, str(FILE.parents[1]))
    write()
