"""The code that is generated so that the host can compute for a device."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from ext.codegen import cuda_host, kernel_runs, table  # noqa: E402


@pytest.fixture(scope="module")
def families():
    return table.load()


@pytest.fixture(scope="module")
def slots(families):
    return {slot.key: slot for slot in cuda_host.slots(families)}


def test_there_is_a_slot_for_each_of_the_table(families, slots):
    made = {
        key: form
        for records in families.values()
        for key, _, form, _ in kernel_runs.slots_of(records)
    }
    assert made.items() <= {key: slot.form for key, slot in slots.items()}.items()
    assert set(slots) - set(made) == {"arange"}


def test_what_a_kernel_changes_is_known_from_its_record(families, slots):
    for r in (r for records in families.values() for r in records if kernel_runs.has_shape(r)):
        written = slots[r.key].written
        assert len(written) == len(r.call.mutates) + r.kernel.draws
        names = [""] * len(r.returns) + kernel_runs.kernel_args(r)
        for (place, condition), (name, expected) in zip(written, r.call.changes):
            assert names[place] == name
            assert bool(condition) == bool(expected)


def test_conditions_are_of_the_arguments_of_the_kernel(slots):
    text = "\n".join(cuda_host.kernel("k", slots["_fused_sgd_"], 0))
    assert "is not None else 0)" in text and "!= 0 else 0)" in text
    assert "grad_scale" not in text and "momentum" not in text


def test_the_text_has_one_function_for_each_signature(families, slots):
    text = cuda_host.source(families, ROOT / "ext" / "composites")
    forms = {slot.form for slot in slots.values()}
    assert text.count("ctypedef int (*form_") == len(forms) < len(slots)
    for slot in slots.values():
        assert f'"{slot.key}": PyCapsule_New(' in text


def test_composites_say_which_kernels_they_ask_for():
    found = cuda_host.composed(ROOT / "ext" / "composites")
    assert {"_attention", "_recurrent", "_fused_layer_norm_backward"} < set(found)
    assert found == sorted(found)


def test_the_way_of_each_operator(families):
    own = cuda_host.own_keys(ROOT / "ext" / "cuda", families)
    assert {"sum", "mm", "_mse_loss", "_fused_adam_"} <= own and len(own) >= 40
    records = {r.key: r for rs in families.values() for r in rs}
    assert {key.removesuffix(".sizes") for key in own} - {"arange"} <= records.keys()
    ways = {key: cuda_host.way(r, own) for key, r in records.items()}
    expected = {"add": "kernel", "sum": "kernel", "linalg_inv": "host", "median": "host"}
    assert {key: ways[key] for key in expected} == expected
    assert set(ways.values()) == {"kernel", "parts", "host"}
