"""The checks of CUDA kernels: what they find in machine code that differs from what was meant."""

import json
import struct

import pytest
from building import ROOT

from ext.build import cuda, cuda_checks, cuda_limits
from ext.build.elf import FUNCTION, SYMBOL_TABLE, Elf

STRUCT = 144


def parameter(number, offset, size):
    """A record of .nv.info: a parameter of a kernel."""
    return struct.pack("<BBHIHHI", 4, cuda_checks.PARAMETER, 12, 0, number, offset, size << 18)


def elf(sections: dict[str, bytes], functions=()) -> Elf:
    """An ELF file with these sections and a table of these functions."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in functions)
    symbols = bytes(24)
    for name in functions:
        at = strings.index(b"\0" + name.encode() + b"\0") + 1
        symbols += struct.pack("<IBBHQQ", at, FUNCTION, 0, 1, 0, 64)
    whole = {"": b"", **sections, ".strtab": strings, ".symtab": symbols}
    names = b"".join(name.encode() + b"\0" for name in [*whole, ".shstrtab"])
    whole[".shstrtab"] = names
    data, heads = bytearray(64), b""
    for name, content in whole.items():
        at = names.index(name.encode() + b"\0")
        kind = SYMBOL_TABLE if name == ".symtab" else 1
        link = list(whole).index(".strtab") if name == ".symtab" else 0
        heads += struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, len(data), len(content), link, 0, 0, 0)
        data += content
    head = b"\x7fELF\x02\x01" + bytes(34) + struct.pack("<Q", len(data))
    head = head[:0x28] + struct.pack("<Q", len(data)) + bytes(10)
    head += struct.pack("<HHH", 64, len(whole), len(whole) - 1)
    data[:64] = head.ljust(64, b"\0")
    return Elf(bytes(data + heads))


def test_names_and_arguments_are_compared_both_ways():
    info = {f".nv.info.{name}": parameter(0, 0, STRUCT) for name in ("add_f32", "extra_f32")}
    cubin = elf(info, ("add_f32", "extra_f32"))
    assert cuda_checks.kernels_of(cubin) == {"add_f32", "extra_f32"}
    assert cuda_checks.compare("ew", cubin, {"add_f32": STRUCT, "extra_f32": STRUCT}) == []
    found = cuda_checks.compare("ew", cubin, {"add_f32": STRUCT + 8, "missing_f32": STRUCT})
    assert found == [
        "ew: kernel missing_f32 of the manifest is not in the machine code",
        "ew: kernel extra_f32 is in the machine code, not in the manifest",
        f"ew: add_f32 takes [(0, 0, {STRUCT})] (number, offset, bytes), and the host packs one "
        f"struct of {STRUCT + 8} bytes",
    ]


def test_parameters_are_found_among_other_records():
    other = struct.pack("<BBHI", 4, 0x11, 4, 7) + struct.pack("<BBH", 3, 0x1B, 255)
    section = other + parameter(1, 8, 16) + other + parameter(0, 0, 8)
    assert cuda_checks.parameters(section) == [(0, 0, 8), (1, 8, 16)]


def test_what_fills_up_a_kernel_is_no_instruction():
    word, nop = struct.pack("<QQ", 0x7A02, 0), struct.pack("<QQ", 0x7918, 0)
    cubin = elf({".text.exp_f32": word * 9 + nop * 7, ".text.abs_f32": word * 6}, ("exp_f32",))
    found = cuda_checks.costs(cubin, {"exp_f32", "abs_f32"}, {"exp_f32": 2, "abs_f32": 1})
    assert found == {"exp_f32": 3, "abs_f32": 6}


def test_spills_are_read_from_the_words_of_ptxas():
    said = (
        "ptxas info    : Compiling entry function 'good' for 'sm_90'\n"
        "ptxas info    : Function properties for good\n"
        "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
        "ptxas info    : Function properties for bad\n"
        "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    )
    assert cuda_checks.spills("ew", said) == ["ew: bad spills 20 bytes"]


def test_limits_are_of_functions_and_types():
    limit = cuda_limits.LIMITS["exp"][0]
    assert cuda_limits.exceeded({"exp_f32": limit, "exp_f64": 1000, "other_f32": 1000}) == []
    assert cuda_limits.exceeded({"exp_f32": limit + 1}) == [
        f"exp_f32 takes {limit + 1:.1f} instructions an element, more than {limit}"
    ]


def test_every_limit_is_of_a_kernel():
    from ext.codegen import cuda_elementwise

    entries, _ = cuda_elementwise.plan()
    named = {f"{name}_{dtype}" for name in cuda_limits.LIMITS for dtype in cuda_limits.TYPES}
    assert named <= entries.keys()


def test_files_that_are_none_are_refused():
    with pytest.raises(ValueError, match="not a little-endian ELF"):
        Elf(b"MZ" + bytes(100))


@pytest.mark.slow
def test_some_images_pass_with_the_nvcc_of_this_machine(tmp_path, capsys, monkeypatch):
    try:
        cuda.toolkit(tmp_path / "probe")
    except cuda.NoCuda as error:
        pytest.skip(error.reason)
    monkeypatch.chdir(ROOT)
    report = tmp_path / "report.json"
    chosen = ["copies", "ew_bits", "ew_b1"]
    assert cuda_checks.main(["--images", *chosen, "--json", str(report)]) == 0
    assert "3 images" in capsys.readouterr().out
    found = json.loads(report.read_text())
    assert sorted(found["seconds"]) == sorted(chosen)
    assert found["kernels"] > 20
    with pytest.raises(SystemExit):
        cuda_checks.main(["--images", "nothing"])
