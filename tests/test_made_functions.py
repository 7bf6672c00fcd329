"""Functions and methods that are made in loops have their own names and descriptions."""

import ast
import importlib
import inspect
import pkgutil
import types
from pathlib import Path

import autograd_cy

# Owner and name, where the function has another name and that one isn't there.
RENAMED = {("Pointwise", "cmul"), ("Pointwise", "cdiv")}

# What passes arguments on and has names of its own beside them: as in torch, as in
# programs of its time, or where no argument that is passed on has such a name.
NAMES_OF_THEIR_OWN = {
    ("amp/grad_scaler.py", "_maybe_opt_step"): {"optimizer", "optimizer_state"},
    ("amp/grad_scaler.py", "step"): {"optimizer"},
    ("cuda/nvtx.py", "range"): {"msg"},
    ("hub.py", "load"): {
        "repo_or_dir", "model", "source", "trust_repo", "force_reload", "verbose",
        "skip_validation",
    },
    ("jit/__init__.py", "fork"): {"func"},
    ("jit/__init__.py", "trace_module"): {"mod", "inputs"},
    ("nn/lazy.py", "initialize_parameters"): {"input"},
    ("nn/utils/_pruning_methods.py", "apply"): {"importance_scores", "module", "name"},
    ("legacy/autograd/_functions/adapter.py", "define"): {"module", "name", "names"},
    ("legacy/functions.py", "function"): {"out"},
    ("legacy/nn/modules/rnn.py", "__init__"): {"nonlinearity"},
    ("legacy/tensors/filling.py", "uniform_"): {"generator"},
    ("legacy/tensors/memory.py", "copy_"): {"source"},
    ("nn/utils/init.py", "skip_init"): {"module_cls"},
    ("ops/_samples.py", "one"): {"shape"},
    ("overrides.py", "handle_torch_function"): {"public_api", "relevant_args"},
    ("utils/checkpoint.py", "checkpoint"): {
        "function", "use_reentrant", "context_fn", "determinism_check", "debug", "early_stop",
    },
}  # fmt: skip


def owners():
    """All modules of the package, and their classes."""
    for found in pkgutil.walk_packages(autograd_cy.__path__, "autograd_cy."):
        if "__main__" in found.name or "._C" in found.name:
            continue
        module = importlib.import_module(found.name)
        yield module
        for value in list(vars(module).values()):
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value


def made(value):
    """The function, if it stands inside of another one in the source."""
    value = getattr(value, "__func__", value)
    inside = isinstance(value, types.FunctionType) and value.__code__.co_flags & inspect.CO_NESTED
    return value if inside and value.__module__.startswith("autograd_cy.") else None


def test_functions_made_in_loops_have_names_and_descriptions():
    count = 0
    for owner in owners():
        for name, value in list(vars(owner).items()):
            function = made(value)
            if name.startswith("_") or function is None:
                continue
            count += 1
            where = owner.__name__, name
            top = getattr(autograd_cy, function.__name__, None)
            other = vars(owner).get(function.__name__, top)
            assert function.__name__ == name or other is value or where in RENAMED, where
            assert function.__doc__ or name in ("forward", "backward"), where
    assert count > 300


def test_what_passes_any_arguments_on_takes_no_name_of_them():
    package = Path(autograd_cy.__file__).parent
    found = {}
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            given = node.args
            if given.vararg is None or given.kwarg is None:
                continue
            own = {x.arg for x in given.args + given.kwonlyargs} - {"self", "cls"}
            if own:
                found[path.relative_to(package).as_posix(), node.name] = own
    assert found == NAMES_OF_THEIR_OWN
