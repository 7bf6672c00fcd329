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
