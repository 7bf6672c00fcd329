"""Names that the package doesn't have raise an error that says what to use, wherever a program asks
for them."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from grouping import each
from test_public_names import read

import autograd_cy as torch
from autograd_cy._lazy.methods import METHODS as NAMES_OF_METHODS
from autograd_cy._lazy.table import ABSENT, WITHOUT_DEVICE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coming-from-pytorch.md"
PUBLIC = read()


def missing(inner):
    """The names of the table that public_names.txt lacks: a record may define one of them."""
    section = ".".join(filter(None, ("autograd_cy", inner)))
    return [name for name in ABSENT[inner] if name not in PUBLIC.get(section, ())]


NAMES = [(inner, name) for inner in ABSENT if inner != "Tensor" for name in missing(inner)]
METHODS = missing("Tensor")


def test_methods_are_those_of_the_table():
    assert sorted(NAMES_OF_METHODS) == sorted(ABSENT["Tensor"])


def test_most_names_of_the_table_are_missing():
    assert len(NAMES) > 100 and len(METHODS) > 30


def found(path):
    place = torch
    for part in path.split("."):
        place = getattr(place, part)
    return place


@each("inner, name", NAMES)
def test_an_absent_name_is_an_error_with_the_way_out(inner, name):
    path = ".".join(filter(None, (inner, name)))
    with pytest.raises(AttributeError, match=rf"no counterpart of torch\.{path} \(.{{5,}}\)"):
        found(path)
    module = import_module(".".join(filter(None, ("autograd_cy", inner))))
    assert not hasattr(module, name)
    assert name not in dir(module)


@each("inner, name", NAMES)
def test_an_absent_module_or_name_is_not_imported_and_the_way_out_is_said(inner, name):
    package = ".".join(filter(None, ("autograd_cy", inner)))
    with pytest.raises(ImportError) as caught:
        exec(f"from {package} import {name}", {})
    if hasattr(import_module(package), "__path__"):
        assert "no counterpart of torch." in str(caught.value)
        with pytest.raises(ModuleNotFoundError, match=r"no counterpart of torch\..*\(.{5,}\)$"):
            exec(f"import {package}.{name}", {})


def test_importing_what_nobody_has_is_the_error_of_python():
    for path in ("autograd_cy.nothing", "autograd_cy.nn.nothing", "nothing_autograd_cy.nested"):
        with pytest.raises(ModuleNotFoundError, match="^No module named") as caught:
            import_module(path)
        assert "counterpart" not in str(caught.value)
    with pytest.raises(ImportError, match="^cannot import name 'nothing' from 'autograd_cy'"):
        from autograd_cy import nothing  # noqa: F401


def test_torch_has_what_is_called_absent():
    pytest.importorskip("torch")
    unknown = []
    for inner, name in NAMES:
        place = import_module(".".join(filter(None, ("torch", inner))))
        if not hasattr(place, name) and find_spec(f"{place.__name__}.{name}") is None:
            unknown.append(f"{inner}.{name}")
    assert unknown == []


def test_an_absent_method_is_an_error_with_the_way_out():
    x = torch.ones(2, 2)
    for name in METHODS:
        theirs = rf"it has no counterpart of torch\.Tensor\.{name} \(.{{5,}}\)$"
        for owner, kind in (
            (x, r"'autograd_cy\.Tensor' object"),
            (torch.Tensor, r"type object 'autograd_cy\.Tensor'"),
            (torch.nn.Parameter(x), "'Parameter' object"),
            (torch.nn.Parameter, "type object 'Parameter'"),
        ):
            with pytest.raises(AttributeError) as caught:
                getattr(owner, name)
            assert re.match(f"{kind} has no attribute '{name}': {theirs}", str(caught.value))
            assert caught.value.name == name and caught.value.obj is owner
        assert name not in dir(x) and not hasattr(x, name)
    assert {"add", "add_", "shape", "__add__"} <= set(dir(x))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
        x.nothing


def test_the_words_of_absent_methods_are_those_of_functions():
    alone = set()
    for name in METHODS:
        function = name.rstrip("_")  # "gcd_" is told what "gcd" is
        if function not in ABSENT[""]:
            alone.add(name)
        words = ABSENT["Tensor" if name in alone else ""][name if name in alone else function]
        with pytest.raises(AttributeError) as caught:
            getattr(torch.ones(2), name)
        assert str(caught.value).endswith(f"torch.Tensor.{name} ({words})")
    assert {"xpu", "coalesce", "dequantize"} <= alone < set(METHODS)
    with pytest.raises(AttributeError, match=r"coalesce \(there are dense tensors only\)$"):
        torch.ones(2).coalesce


def test_subclasses_may_have_what_is_absent():
    class Own(torch.Tensor):
        def coalesce(self):
            return "own"

    class Asked(torch.Tensor):
        def __getattr__(self, name):
            return f"asked for {name}"

    x = torch.ones(2)
    assert x.as_subclass(Own).coalesce() == "own" and "coalesce" in dir(x.as_subclass(Own))
    assert x.as_subclass(Asked).coalesce == "asked for coalesce"
    assert torch.legacy.ones(2).mode  # of 2017
    x.values = 3
    assert x.values == 3 and dir(x).count("values") == 1


def test_torch_has_the_methods_that_are_called_absent():
    tensor = pytest.importorskip("torch").Tensor
    assert [name for name in METHODS if not hasattr(tensor, name)] == []


def test_the_page_names_what_is_missing_and_the_package_agrees():
    text = PAGE.read_text()
    table = text[text.index("| missing | instead |") :].split("\n\n")[0]
    missing = "".join(re.findall(r"^\|(.*?)\|", table, re.MULTILINE))
    names = set(re.findall(r"`(?:torch\.)?([\w.]+)`", missing))
    assert {"stft", "linalg.lu"} <= names
    for name in sorted(names):
        with pytest.raises(AttributeError, match="no counterpart"):
            found(name)


def test_other_names_are_the_plain_error():
    for module in (
        torch,
        torch.fft,
        torch.linalg,
        torch.nn,
        torch.nn.functional,
        torch.optim,
        torch.sparse,
        torch.special,
        torch.utils,
    ):
        with pytest.raises(AttributeError, match=r"has no attribute 'nothing'$"):
            module.nothing
        assert not hasattr(module, "")
    with pytest.raises(ModuleNotFoundError):
        import_module("autograd_cy.")


@each("name", WITHOUT_DEVICE)
def test_modules_of_devices_say_that_there_is_the_cpu(name):
    module = found(name)
    words = rf"^module 'autograd_cy\.{name}' has no attribute 'nothing': tensors are on the CPU"
    with pytest.raises(AttributeError, match=words):
        module.nothing
    assert all(hasattr(module, listed) for listed in module.__all__)


def test_sparse_has_a_product_alone():
    assert torch.sparse.__all__ == ["mm"] and not hasattr(torch.sparse, "addmm")
    with pytest.raises(
        AttributeError, match=r"torch\.sparse\.addmm \(use addmm of dense tensors\)$"
    ):
        torch.sparse.addmm


def test_what_is_defined_later_takes_the_place():
    tensor = torch._C.tensor
    before = vars(torch.Tensor)["coalesce"]
    tensor._install("coalesce", lambda self: "defined")
    try:
        assert torch.ones(2).coalesce() == "defined" and "coalesce" in dir(torch.ones(2))
    finally:
        tensor._install("coalesce", before)
    assert not hasattr(torch.ones(2), "coalesce")


def test_programs_may_prepare_for_a_gpu_that_is_not_there():
    assert torch.cuda.manual_seed(0) is None and torch.cuda.manual_seed_all(0) is None
    state = torch.get_rng_state()
    torch.cuda.manual_seed_all(1)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.cuda.empty_cache() is None
    assert not torch.cuda.is_initialized()
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_allocated() == 0
    assert torch.cuda.memory_reserved() == torch.cuda.max_memory_reserved() == 0
    assert torch.cuda.get_rng_state_all() == torch.cuda.get_arch_list() == []
    assert torch.cuda.set_rng_state_all([]) is torch.cuda.seed() is torch.cuda.seed_all() is None
    assert not torch.cuda.is_bf16_supported()


def test_the_cpu_answers_as_a_device():
    cpu = torch.cpu
    assert cpu.is_available() and cpu.is_initialized()
    assert (cpu.device_count(), cpu.current_device()) == (1, "cpu")
    assert cpu.synchronize() is cpu.set_device("cpu") is None
    with pytest.raises(AttributeError, match="has no attribute 'Stream'"):
        cpu.Stream


def test_functions_are_as_they_are_for_a_compiler_that_is_not_there():
    compiler = torch.compiler
    assert not (compiler.is_compiling() or compiler.is_dynamo_compiling())
    assert not compiler.is_exporting()
    assert compiler.disable(abs) is compiler.allow_in_graph(abs) is abs
    assert compiler.disable(recursive=False, reason="slow")(abs) is abs
    assert compiler.reset() is compiler.cudagraph_mark_step_begin() is None
    with pytest.raises(AttributeError, match="has no attribute 'list_backends'"):
        compiler.list_backends
    assert torch.compile is compiler.compile


def test_functions_are_as_they_are_for_torchscript():
    jit = torch.jit
    assert not (jit.is_scripting() or jit.is_tracing())
    for mark in (jit.script, jit.trace, jit.unused, jit.export, jit.script_if_tracing, jit.ignore):
        assert mark(abs) is abs
    assert jit.ignore(drop=True)(abs) is abs
    assert jit.trace(abs, example_inputs=torch.ones(1), strict=False) is abs

    class Layer(jit.ScriptModule):
        steps: jit.Final[int]

        def __init__(self):
            super().__init__()
            self.steps = 2
            self.inner = jit.script(torch.nn.Linear(1, 1))

        @jit.script_method
        def forward(self, x):
            found = jit.annotate(list, [])
            for _ in range(self.steps):
                found.append(x)
            return torch.stack(found).sum(0)

    assert Layer()(torch.ones(1)).tolist() == [2]
    assert [name for name, _ in Layer().named_parameters()] == ["inner.weight", "inner.bias"]
    with pytest.raises(AttributeError, match="no attribute 'save'.*save the weights"):
        jit.save


def test_what_is_built_is_told_as_text():
    assert torch.__version__ in torch.__config__.show()
    assert "threads" in torch.__config__.parallel_info()


def test_programs_assert_by_a_function():
    assert torch._assert(torch.tensor(True), "fine") is None
    for wrong in (False, torch.tensor(0), []):
        with pytest.raises(AssertionError, match="^not so$"):
            torch._assert(wrong, "not so")


def test_reductions_of_older_programs_have_numbers():
    from autograd_cy.nn import _reduction

    assert [_reduction.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.raises(ValueError, match="median is not a valid value for reduction"):
        _reduction.get_enum("median")
    wanted = {
        (True, None): "mean",
        (False, None): "sum",
        (None, False): "none",
        (None, None): "mean",
    }
    for given, name in wanted.items():
        assert _reduction.legacy_get_string(*given, emit_warning=False) == name
        with pytest.warns(UserWarning, match=f"please use reduction='{name}' instead"):
            assert _reduction.legacy_get_string(*given) == name
        with pytest.warns(UserWarning, match="size_average and reduce args"):
            assert _reduction.legacy_get_enum(*given) == _reduction.get_enum(name)
