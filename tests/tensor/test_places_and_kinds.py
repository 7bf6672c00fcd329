"""Devices and kinds of tensors that aren't here: flags, names, and warnings that torch gives."""

import warnings

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag

ACCELERATORS = ("cuda", "xpu", "mps", "hpu", "mtia", "xla")
FLAGS = (
    "cuda", "ipu", "maia", "meta", "mkldnn", "mps", "mtia", "nested", "quantized", "sparse",
    "sparse_csr", "vulkan", "xla", "xpu",
)  # fmt: skip


@each("kind", ACCELERATORS)
def test_a_device_is_made_and_nothing_on_it(kind):
    for library in (ag, pytest.importorskip("torch")):
        made = library.device(kind)
        assert (made.type, made.index, str(made)) == (kind, None, kind)
        assert library.device(f"{kind}:1") == library.device(kind, 1) != made
    for make in (
        lambda: ag.ones(1, device=kind),
        lambda: ag.ones(1).to(kind),
        lambda: ag.nn.Linear(1, 1, device=ag.device(kind)),
    ):
        with pytest.raises(
            RuntimeError, match=f"'{kind}' is not available: .* [Uu]se device='cpu'"
        ):
            make()
    with pytest.raises(RuntimeError, match="^Expected one of cpu, cuda, .* device type"):
        ag.device("nowhere")


def test_the_number_of_a_device():
    for library in (ag, pytest.importorskip("torch")):
        for x in (library.ones(2), library.ones(2, device="meta")):
            assert x.get_device() == library.get_device(x) == -1


@each("flag", FLAGS)
def test_flags(flag):
    assert getattr(ag.ones(2), f"is_{flag}") is False
    assert getattr(pytest.importorskip("torch").ones(2), f"is_{flag}") is False


def test_questions_of_one_answer():
    for library in (ag, pytest.importorskip("torch")):
        x = library.ones(2)
        assert x.is_pinned() is False and x.is_distributed() is False
        assert library.GradScaler is library.amp.GradScaler


def warned(call, library=ag):
    """The texts of warnings, which must be of this file."""
    before = library.is_warn_always_enabled()
    library.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
    finally:
        library.set_warn_always(before)
    if library is ag:
        assert [w.filename for w in found] == [__file__] * len(found)
    assert all(w.category is UserWarning for w in found)
    return [str(w.message).partition(" (Triggered")[0] for w in found]


FREEDOM = (
    "{}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction "
    "factor (input numel divided by output numel)."
)


def of_few(t):
    """Calls with and without a warning."""
    return {
        "std": lambda: t.ones(1).std(),
        "var": lambda: t.var(t.ones(3, 1), dim=1),
        "std_mean": lambda: t.std_mean(t.ones(1)),
        "var_mean": lambda: t.var_mean(t.ones(1, 2), dim=0),
        "correction": lambda: t.var(t.ones(2), correction=2),
        "empty": lambda: t.ones(0).std(),
        "no rows": lambda: t.ones(0, 3).var(1),
        "no correction": lambda: t.ones(1).var(unbiased=False),
        "enough": lambda: t.ones(2).std(),
        "meta": lambda: t.ones(1, device="meta").std(),
    }


@each("which", of_few(ag))
def test_too_few_elements_for_a_variance_warn(which):
    torch = pytest.importorskip("torch")
    expected = warned(of_few(torch)[which], torch)
    assert warned(of_few(ag)[which]) == expected


def test_the_text_of_that_warning_and_one_for_complex_numbers():
    for name in ("std", "var", "std_mean", "var_mean"):
        for x in (ag.ones(1), ag.ones(1) + 0j):
            assert warned(lambda name=name, x=x: getattr(ag, name)(x)) == [FREEDOM.format(name)]


def test_arguments_that_will_be_needed_warn():
    c, x = ag.ones(3), ag.ones(2)
    (text,) = warned(lambda: ag.cross(c, c))
    assert text.startswith("Using torch.cross without specifying the dim arg is deprecated.")
    assert warned(lambda: (c.cross(c, dim=0), ag.linalg.cross(c, c))) == []
    (text,) = warned(lambda: ag.meshgrid(x, x))
    assert "it will be required to pass the indexing argument" in text
    assert warned(lambda: ag.meshgrid(x, x, indexing="ij")) == []


def test_a_read_only_array_warns_and_its_tensor_is_not_written_to():
    array = np.ones(3)
    assert warned(lambda: ag.from_numpy(array)) == []
    array.flags.writeable = False
    (text,) = warned(lambda: ag.from_numpy(array))
    assert text.startswith("The given NumPy array is not writable")
    with pytest.raises(RuntimeError, match="read-only"):
        ag.from_numpy(array).add_(1)
    assert array.tolist() == [1, 1, 1]


def test_assert_allclose():
    for library in (ag, pytest.importorskip("torch")):
        close = library.testing.assert_allclose
        with pytest.warns(FutureWarning, match="deprecated"):
            close([1.0, 2.0], (1.0, 2.0001))
        with pytest.warns(FutureWarning):
            close(
                library.tensor([float("nan")]),
                library.tensor([float("nan")], dtype=library.float64),
            )
        for args, words in (
            (([1.0, 2.0], [1.0, 2.1]), "not close"),
            ((library.ones(2), library.ones(1)), "shape"),
            ((library.tensor([1]), library.tensor([2])), "not equal"),
        ):
            with pytest.warns(FutureWarning), pytest.raises(AssertionError, match=words):
                close(*args)
        with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="^of mine$"):
            close(library.ones(1), library.zeros(1), msg="of mine")
