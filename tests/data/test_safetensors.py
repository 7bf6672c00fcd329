"""Files of safetensors, where the library is installed."""

import sys

import pytest

import autograd_cy as ag
from autograd_cy.utils import safetensors as st


def tensors():
    made = {
        name: ag.tensor([1, 0, 3]).to(getattr(ag, name))
        for name in ("bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
                     "complex64").split()
    }  # fmt: skip
    return made | {"empty": ag.empty(0, 2), "scalar": ag.tensor(3.0), "m": ag.ones(2, 3)[1:]}


def told(state):
    return {k: repr(v).replace("autograd_cy.", "torch.") for k, v in sorted(state.items())}


def test_the_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    for call in (
        lambda: st.save({}),
        lambda: st.load(b""),
        lambda: st.save_file({}, "x"),
    ):
        with pytest.raises(ImportError, match=r'pip install "autograd_cy\[safetensors\]"'):
            call()


def test_tensors_come_back(tmp_path):
    pytest.importorskip("safetensors")
    assert told(st.load(st.save(tensors()))) == told(tensors())
    st.save_file(tensors(), tmp_path / "x", {"format": "pt"})
    assert told(st.load_file(tmp_path / "x")) == told(tensors())
    assert all(x.is_meta for x in st.load_file(tmp_path / "x", device="meta").values())


def test_files_go_to_torch_and_back():
    pytest.importorskip("torch")
    theirs = pytest.importorskip("safetensors.torch")
    loaded = theirs.load(st.save(tensors()))
    assert told(loaded) == told(tensors())
    assert told(st.load(theirs.save(loaded))) == told(tensors())


def test_what_the_format_cannot_say_is_refused():
    pytest.importorskip("safetensors")
    w = ag.ones(2, 3)
    with pytest.raises(ValueError, match="non contiguous tensor: `w`"):
        st.save({"w": w.t()})
    with pytest.raises(RuntimeError, match="`a` and `b`"):
        st.save({"a": w, "b": w[1:]})
    with pytest.raises(ValueError, match="no dtype for"):
        st.save({"c": w.to(ag.complex128)})
    with pytest.raises(ValueError, match="is no tensor"):
        st.save({"n": 3})
    with pytest.raises(ValueError, match="expected a dict"):
        st.save([w])


def tied(library):
    """A module two of whose names are one tensor, one a part of another, one not contiguous."""
    library.manual_seed(0)
    model = library.nn.Module()
    model.embedding = library.nn.Embedding(5, 3)
    model.decoder = library.nn.Linear(3, 5, bias=False)
    model.decoder.weight = model.embedding.weight
    rows = library.arange(6.0).reshape(2, 3)
    model.register_buffer("rows", rows)
    model.register_buffer("first_row", rows[0])
    model.register_buffer("turned", library.arange(6.0).reshape(2, 3).t())
    both = library.arange(4.0)
    model.register_buffer("left", both[:2])
    model.register_buffer("right", both[2:])
    return model


def test_a_model_with_tied_weights_is_saved_once_and_comes_back(tmp_path):
    pytest.importorskip("safetensors")
    model, other = tied(ag), tied(ag)
    with ag.no_grad():
        for x in other.state_dict().values():
            x.zero_()
    st.save_model(model, tmp_path / "m", {"note": "a"})
    assert sorted(st.load_file(tmp_path / "m")) == [
        "decoder.weight", "left", "right", "rows", "turned",
    ]  # fmt: skip
    assert st.load_model(other, tmp_path / "m") == ([], [])
    assert told(other.state_dict()) == told(model.state_dict())
    assert other.decoder.weight is other.embedding.weight
    with pytest.raises(ValueError, match="non contiguous tensor: `turned`"):
        st.save_model(model, tmp_path / "n", force_contiguous=False)


def test_names_that_do_not_match_are_said_or_returned(tmp_path):
    pytest.importorskip("safetensors")
    st.save_model(ag.nn.Linear(2, 3), tmp_path / "m")
    other = ag.nn.Linear(2, 3, bias=False)
    other.register_buffer("more", ag.zeros(1))
    assert st.load_model(other, tmp_path / "m", strict=False) == (["more"], ["bias"])
    with pytest.raises(RuntimeError, match='Missing key.*"more"\n.*Unexpected key.*"bias"'):
        st.load_model(other, tmp_path / "m")
    both = ag.arange(4.0)
    other.register_buffer("left", both[:3])
    other.register_buffer("right", both[1:])
    with pytest.raises(RuntimeError, match="`left`, `right` share memory"):
        st.save_model(other, tmp_path / "n")


def test_models_go_to_torch_and_back(tmp_path):
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("safetensors.torch")
    first, second = (tied(library) for library in (torch, ag))
    del first.left, first.right, second.left, second.right
    theirs.save_model(first, str(tmp_path / "t"))
    assert st.load_model(second, tmp_path / "t") == ([], [])
    assert told(second.state_dict()) == told(first.state_dict())
    st.save_model(second, tmp_path / "u")
    missing, unexpected = theirs.load_model(first, str(tmp_path / "u"))
    assert not missing and not unexpected
    assert sorted(theirs.load_file(str(tmp_path / "u"))) == sorted(
        theirs.load_file(str(tmp_path / "t"))
    )
    with (
        theirs.safe_open(str(tmp_path / "u"), "pt") as ours,
        theirs.safe_open(str(tmp_path / "t"), "pt") as them,
    ):
        assert ours.metadata() == them.metadata()
