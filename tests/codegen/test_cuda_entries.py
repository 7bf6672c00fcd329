"""The table of elementwise kernels of CUDA devices, and the sources that it speaks of."""

import re

import pytest

from ext.codegen import cuda_copies, cuda_elementwise, cuda_entries, kernel_loops
from ext.codegen.dtypes import CLASSES
from ext.codegen.kernel_loops import SIZE, TYPES
from ext.codegen.kernel_specs import SPECS, KernelSpec

ENTRIES = cuda_elementwise.plan()[0] | cuda_copies.casts()
SOURCES = cuda_elementwise.sources() | cuda_copies.sources()


def made_by(text):
    """Names of the kernels that the macros of a source make."""
    return re.findall(r"^AG_(?:ELEMENTWISE|DIVISION|TURN)\((\w+),", text, re.M)


def test_each_dtype_of_each_kernel_has_an_entry():
    _, served = cuda_elementwise.plan()
    claimed = {(spec.name, t) for spec in SPECS for t in kernel_loops.types_of(spec)}
    assert served.keys() == claimed
    assert all(name in ENTRIES for name, _ in served.values())


def test_each_pair_of_dtypes_has_an_entry():
    for source in TYPES:
        for target in TYPES:
            made = cuda_copies.of_cast(source, target)
            name = made if isinstance(made, str) else made.name
            assert name in ENTRIES, (source, target)


def test_an_image_has_the_kernels_of_its_entries_and_no_others():
    for image, source in SOURCES.items():
        names = made_by(source.text)
        assert len(names) == len(set(names)), image
        if image != "copies":
            assert names == [e.name for e in ENTRIES.values() if e.image == image]


def test_vectors_are_of_sixteen_bytes_at_most():
    for e in ENTRIES.values():
        assert e.lanes * max(SIZE[t] for t in e.outside) <= 16, e.name
        assert e.lanes & (e.lanes - 1) == 0, e.name


def test_integers_that_are_divided_note_zeros():
    notes = {e.name for e in ENTRIES.values() if e.notes_faults}
    divides = [spec.name for spec in SPECS if spec.divides]
    assert notes == {f"{name}_{t}" for name in divides for t in CLASSES["i"]}


def test_a_new_kernel_needs_a_line_of_the_list_alone():
    spec = KernelSpec("brand_new", 2, "ihf")
    entries, served = cuda_elementwise.plan((*SPECS, spec))
    assert entries["brand_new_f32"].image == "ew_f32"
    assert served["brand_new", "f16"] == ("brand_new_f16", False)
    assert "ag_brand_new_f32, ag_half, ag_half, ag_half" in entries["brand_new_f16"].text


def test_the_table_is_the_same_each_time():
    assert cuda_entries.table_text() == cuda_entries.table_text()


@pytest.mark.parametrize(
    ("source", "target", "expression"),
    [
        ("i32", "f16", "ag_cast_f32_f16(ag_cast_i32_f32(x))"),
        ("f16", "c128", "ag_cast_f64_c128(ag_cast_f32_f64(ag_cast_f16_f32(x)))"),
        ("f64", "i8", "(ag_i8)ag_cast_f64_u8(x)"),
        ("f32", "f32", "x"),
    ],
)
def test_casts_take_the_steps_of_the_cpu(source, target, expression):
    assert cuda_copies.conversion(source, target, "x") == expression
