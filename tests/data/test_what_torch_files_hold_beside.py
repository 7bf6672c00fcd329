"""Files of torch with tensors of kinds that aren't here say how to convert them; NumPy's arrays."""

import io
import pickle
import warnings

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy.serialization._archive import not_here

KINDS = {
    "float8": (lambda t, x: x.to(t.float8_e4m3fn), ".float()"),
    "complex32": (lambda t, x: x.to(t.complex32), ".to(torch.complex64)"),
    "sparse": (lambda t, x: x.to_sparse(), ".to_dense()"),
    "csr": (lambda t, x: x.to_sparse_csr(), ".to_dense()"),
    "quantized": (lambda t, x: t.quantize_per_tensor(x, 0.1, 0, t.qint8), ".dequantize()"),
    "nested": (lambda t, x: t.nested.nested_tensor([x[0], x[1]]), ".to_padded_tensor(0.0)"),
    "jagged": (
        lambda t, x: t.nested.nested_tensor([x[0], x[1]], layout=t.jagged),
        ".to_padded_tensor(0.0)",
    ),
    "layout": (lambda t, x: t.sparse_coo, ".to_dense()"),
}


@each("kind", KINDS)
def test_the_error_says_how_to_convert_what_is_not_here(kind):
    torch = pytest.importorskip("torch")
    make, way_out = KINDS[kind]
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.save({"w": make(torch, torch.tensor([[1.0, 0.0], [0.0, 2.0]]))}, file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError) as caught:
        ag.load(file)
    assert str(caught.value).endswith(f"Convert it in PyTorch first (`{way_out}`), and save that.")


@each(
    "module, name, way_out",
    (
        ("torch", "float8_e5m2", ".float()"),
        ("torch", "QInt8Storage", "state_dict()"),
        ("torch._utils", "_rebuild_sparse_tensor", ".to_dense()"),
        ("torch.nn.modules.linear", "Linear", "state_dict()"),
        ("torch.nn.modules.linear", "float8_e5m2", "state_dict()"),
    ),
)
def test_names_and_their_ways_out(module, name, way_out):
    assert way_out in not_here(module, name)


def arrays():
    return (np._core if hasattr(np, "_core") else np.core).multiarray


def test_all_that_an_array_of_numpy_needs_is_named_at_once():
    state = np.random.RandomState(3).get_state()
    file = io.BytesIO()
    ag.save(state, file)
    with pytest.raises(pickle.UnpicklingError, match=r"_reconstruct, numpy.ndarray, numpy.dtype\]"):
        ag.load(file.seek(0) or file)
    needed = [arrays()._reconstruct, np.ndarray, np.dtype]
    with ag.serialization.safe_globals(needed):
        again = ag.load(file.seek(0) or file)
    other = np.random.RandomState(4)
    other.set_state(again)
    assert other.rand() == np.random.RandomState(3).rand()


def test_keys_that_do_not_match_print_as_in_torch():
    for library in (ag, pytest.importorskip("torch")):
        layer = library.nn.Linear(2, 2)
        found = layer.load_state_dict({"weight": library.ones(2, 2), "more": 1}, strict=False)
        assert repr(found) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['more'])"
        assert type(found) is library.nn.modules.module._IncompatibleKeys
        assert str(layer.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"
