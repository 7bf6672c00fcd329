"""The effects of `state_dict` and `load_state_dict` beside copying, compared with torch."""

import copy
from collections import OrderedDict

import pytest

import autograd_cy as ag
from autograd_cy import nn


def counting(lib):
    """A module with extra state, a buffer that isn't saved, and a version."""

    class Counting(lib.nn.Module):
        _version = 3

        def __init__(self):
            super().__init__()
            self.weight = lib.nn.Parameter(lib.ones(2))
            self.register_buffer("seen", lib.tensor(0))
            self.register_buffer("scratch", lib.zeros(3), persistent=False)
            self.notes = {"steps": 1}

        def get_extra_state(self):
            return self.notes

        def set_extra_state(self, state):
            self.notes = state

    return Counting()


def model(lib):
    return lib.nn.Sequential(OrderedDict(first=lib.nn.Linear(2, 2), second=counting(lib)))


def libraries():
    torch = pytest.importorskip("torch")
    return ag, torch


def test_extra_state_is_saved_and_loaded():
    one, other = model(ag), model(ag)
    one.second.notes = {"steps": 7}
    state = one.state_dict()
    assert state["second._extra_state"] == {"steps": 7}
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.second.notes == {"steps": 7}


def test_keys_and_versions_are_those_of_torch():
    ours, theirs = (model(lib).state_dict() for lib in libraries())
    assert list(ours) == list(theirs)
    assert dict(ours._metadata) == dict(theirs._metadata)
    assert ours._metadata["second"] == {"version": 3}


CHANGES = {
    "nothing": lambda s, lib: None,
    "a key less": lambda s, lib: s.pop("first.weight"),
    "extra state less": lambda s, lib: s.pop("second._extra_state"),
    "a strange key": lambda s, lib: s.update(odd=1),
    "a strange child": lambda s, lib: s.update({"third.weight": lib.ones(1)}),
    "a strange key of a child": lambda s, lib: s.update({"first.odd": 1}),
    "extra state of another": lambda s, lib: s.update({"first._extra_state": 1}),
    "a name below a parameter": lambda s, lib: s.update({"first.weight.more": 1}),
    "another shape": lambda s, lib: s.update({"first.weight": lib.ones(3, 2)}),
    "no tensor": lambda s, lib: s.update({"first.bias": [1.0]}),
    "one element for none": lambda s, lib: s.update({"second.seen": lib.tensor([4])}),
    "several": lambda s, lib: (s.pop("first.bias"), s.update(odd=1, more=2),
                               s.update({"second.weight": lib.ones(1)})),
}  # fmt: skip


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_match_is_told_as_in_torch(change, strict):
    told = []
    for lib in libraries():
        loaded = model(lib)
        state = model(lib).state_dict()
        CHANGES[change](state, lib)
        try:
            keys = loaded.load_state_dict(state, strict=strict)
            told.append((sorted(keys.missing_keys), sorted(keys.unexpected_keys)))
        except RuntimeError as error:
            text = str(error).replace("torch.Tensor or Tensor-like object", "a Tensor")
            told.append(text.replace("torch.", "").replace("autograd_cy.", ""))
        told.append(loaded.second.seen.item())
    assert told[:2] == told[2:]


@pytest.mark.parametrize("as_parameter", [True, False])
def test_assigned_tensors_become_the_modules(as_parameter):
    layer = nn.Linear(2, 1).requires_grad_(False)
    weight = nn.Parameter(ag.ones(1, 2)) if as_parameter else ag.ones(1, 2)
    layer.load_state_dict({"weight": weight, "bias": ag.zeros(1)}, assign=True)
    assert (layer.weight is weight) == as_parameter
    assert type(layer.weight) is nn.Parameter and not layer.weight.requires_grad
    meta = nn.Linear(2, 1).to_empty(device="meta")
    meta.load_state_dict(nn.Linear(2, 1).state_dict(), assign=True)
    assert not meta.weight.is_meta and meta.weight.requires_grad


def test_values_loaded_into_nothing_are_reported():
    meta = nn.Linear(2, 1).to_empty(device="meta")
    with pytest.warns(UserWarning, match="for weight: copying from a non-meta.*assign=True"):
        meta.load_state_dict({"weight": ag.ones(1, 2)}, strict=False)
    meta.load_state_dict(nn.Linear(2, 1).to_empty(device="meta").state_dict())  # no warning


def test_a_subclass_may_mend_old_files():
    class Renamed(nn.Linear):
        _version = 2

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            if local_metadata.get("version", 1) < 2:
                state_dict[prefix + "weight"] = state_dict.pop(prefix + "kernel")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "note"] = 3

    whole = nn.Sequential(Renamed(2, 1))
    old = OrderedDict([("0.kernel", ag.ones(1, 2)), ("0.bias", ag.ones(1))])
    whole.load_state_dict(old)
    assert whole[0].weight.tolist() == [[1.0, 1.0]] and "0.kernel" in old
    state = whole.state_dict()
    assert list(state) == ["0.weight", "0.bias", "0.note"]
    state.pop("0.note")
    whole.load_state_dict(state)  # says version 2


def test_positional_arguments_of_state_dict_are_old():
    target = OrderedDict()
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        state = nn.Linear(1, 1).state_dict(target, "a.")
    assert state is target and list(target) == ["a.weight", "a.bias"]


def test_half_of_extra_state_is_an_error():
    class Half(nn.Module):
        def get_extra_state(self):
            return 1

    with pytest.raises(RuntimeError, match="set_extra_state"):
        Half().set_extra_state(1)
    assert list(Half().state_dict()) == ["_extra_state"]
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\).*_extra_state"):
        Half().load_state_dict(Half().state_dict())
    with pytest.raises(RuntimeError, match="get_extra_state"):
        nn.ReLU().get_extra_state()


def test_modules_found_twice_and_names():
    shared = nn.ReLU()
    both = nn.Sequential(shared, shared)
    assert len(list(both.modules())) == 2
    assert len(list(both.modules(remove_duplicate=False))) == 3
    assert both._get_name() == "Sequential"

    class Named(nn.ReLU):
        def _get_name(self):
            return "Another"

    assert repr(Named()) == "Another()"


def test_compiling_leaves_a_module_as_it_is():
    module = nn.Linear(2, 1)
    before = dict(vars(module))
    assert module.compile() is module.compile("eager", mode="default") is None
    assert vars(module) == before


#: Members of torch's Module that have no sense here, and why.
ABSENT = {
    "T_destination": "a type variable",
    "call_super_init": "of multiple inheritance in torch",
    "dump_patches": "ignored since torch 1.0",
    "ipu": "a device that isn't here",
    "mtia": "a device that isn't here",
}


def test_public_members_are_those_of_torch():
    torch = pytest.importorskip("torch")
    theirs = {name for name in dir(torch.nn.Module) if not name.startswith("_")}
    assert sorted(theirs - set(dir(nn.Module)) - set(ABSENT)) == []


def test_a_module_without_values_is_not_moved_and_the_way_is_said():
    for meta in (nn.Linear(2, 1, device="meta"), nn.BatchNorm1d(2, affine=False, device="meta")):
        for arguments in (("cpu",), ("cpu", ag.float64), (ag.ones(1),)):
            with pytest.raises(NotImplementedError, match=r"use torch\.nn\.Module\.to_empty\(\)"):
                meta.to(*arguments)
        assert meta.to("meta") is meta and meta.to(ag.float64) is meta
    assert nn.Linear(2, 1, device="meta").to(ag.float64).weight.dtype is ag.float64


def test_new_memory_keeps_parameters_and_leaves_children_alone_if_told():
    model = ag.nn.Sequential(ag.nn.Linear(2, 3))
    weight, memory = model[0].weight, model[0].weight.data_ptr()
    assert model.to_empty(device="cpu", recurse=False) is model
    assert model[0].weight.data_ptr() == memory
    model.to_empty(device="cpu")
    assert model[0].weight is weight and weight.shape == (3, 2) and weight.requires_grad
    assert weight.data_ptr() != memory


def older_names(m):
    """The hooks of programs that are older than the public methods."""

    class Renaming(m.nn.Module):
        def __init__(self):
            super().__init__()
            self.part = m.nn.Linear(1, 1)
            self._register_load_state_dict_pre_hook(self.rename)
            self._register_load_state_dict_pre_hook(self.note, with_module=True)
            self._register_state_dict_hook(self.added)

        def rename(self, state, prefix, metadata, strict, missing, unexpected, errors):
            for name in [name for name in state if name.startswith("old.")]:
                state["part." + name[4:]] = state.pop(name)

        @staticmethod
        def note(module, state, prefix, *rest):
            module.noted = (prefix, len(rest))

        @staticmethod
        def added(module, state, prefix, metadata):
            return {**state, prefix + "more": m.ones(1)}

    return Renaming()


@pytest.mark.parametrize("library", ["autograd_cy", "torch"])
def test_hooks_of_states_by_their_older_names(library):
    m = pytest.importorskip(library)
    model = older_names(m)
    assert list(model.state_dict()) == ["part.weight", "part.bias", "more"]
    found = model.load_state_dict({"old.weight": m.ones(1, 1), "old.bias": m.zeros(1)})
    assert repr(found) == "<All keys matched successfully>"
    assert model.noted == ("", 5) and model.part.weight.item() == 1.0


@pytest.mark.parametrize("library", ["autograd_cy", "torch"])
def test_modules_are_copied_by_setstate(library):
    m = pytest.importorskip(library)

    class Newer(m.nn.Linear):
        def __setstate__(self, state):
            state.setdefault("gain", 2.0)
            super().__setstate__(state)

    model = m.nn.Sequential(Newer(2, 1))
    copied = copy.deepcopy(model)[0]
    assert copied.gain == 2.0 and not hasattr(model[0], "gain")
    assert copied.weight is not model[0].weight and m.equal(copied.weight, model[0].weight)
