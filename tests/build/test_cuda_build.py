"""Kernels of GPUs in a build: the switches, what is compiled again, where it goes, what goes wrong.

A script stands for nvcc, which keeps what it was given, so that no toolkit is needed.
"""

import json
import os
import shutil
import stat
import textwrap
from pathlib import Path

import pytest
from building import ROOT, build_inplace, run_python, write

from ext.build import cuda, cuda_listing
from ext.build.flags import FlagRefused

NVCC = """
    #!{python}
    import os, sys, pathlib
    words = sys.argv[1:]
    with open("{log}", "a") as log:
        print(*words, file=log)
    if "--version" in words:
        print("Cuda compilation tools, release {release}, V{release}.88")
    elif "--list-gpu-arch" in words:
        print("compute_75\\ncompute_80\\ncompute_90\\ncompute_100")
    else:
        source = next(word for word in words if word.endswith(".cu"))
        text = pathlib.Path(source).read_text()
        if "{broken}" and ("{broken}" in text or "{broken}" == "all"):
            sys.exit("{said}")
        output = words[words.index("-o") + 1]
        print("ptxas info    : Used 8 registers, used 0 barriers")
        pathlib.Path(output).write_text("compiled " + text)
        if "-MF" in words:
            read = source + " \\\\\\n ext/cuda/device/kernel.cuh"
            pathlib.Path(words[words.index("-MF") + 1]).write_text(output + " : " + read)
"""
SOURCES = """
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class CudaSource:
        text: str
        flags: tuple = ()

    HEAD = '#include "kernel.cuh"\\n'

    def sources():
        one = "AG_KERNEL(fill_f32, ag_flat_args) {{ }} AG_KERNEL(add_f32, ag_flat_args) {{ }}"
        two = HEAD + "AG_KERNEL_TOGETHER(sum_f32, ag_strided_args, 256) {{ }}"
        return {{"ew_f32": CudaSource(HEAD + one), "{second}": CudaSource(two, ("-fmad=false",))}}
"""


def pretended(folder: Path, release="13.0", broken="", said="") -> Path:
    """A folder for CUDA_HOME whose nvcc is a script."""
    path = folder / "bin" / "nvcc"
    python = shutil.which("python3")
    text = (
        textwrap.dedent(NVCC)
        .lstrip()
        .format(python=python, log=folder / "log", release=release, broken=broken, said=said)
    )
    write(path, text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture
def tree(small_tree):
    """A tree with two images and a module of each Python."""
    write(small_tree / "ext/codegen/__init__.py", "")
    write(small_tree / "ext/codegen/cuda_sources.py", SOURCES.format(second="rows_f32"))
    shutil.copytree(ROOT / "ext/cuda/device", small_tree / "ext/cuda/device")
    return small_tree


def compiled(home: Path) -> list[str]:
    """Images that nvcc was given since the last look."""
    log = home / "log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.write_text("")
    return sorted(Path(line.split()[-1]).stem for line in lines if "-MF" in line.split())


def kernels(tree: Path) -> list[str]:
    return sorted(path.name for path in (tree / "autograd_cy/_cuda").glob("*"))


def info(tree: Path) -> dict:
    found: dict = {}
    exec((tree / "autograd_cy/_C/_build_info.py").read_text(), found)
    return found["BUILD"]["cuda"]


def build(tree, home, **environment):
    return build_inplace(tree, **{"AUTOGRAD_CY_CUDA": "auto", "CUDA_HOME": home, **environment})


@pytest.mark.slow
def test_images_are_compiled_once_and_again_when_what_they_read_changes(tree, tmp_path):
    home = pretended(tmp_path / "cuda")
    first = build(tree, home)
    assert "building 2 images with nvcc 13.0.88: sm_80, sm_90, compute_80" in first.stdout
    assert "registers" not in first.stdout
    assert kernels(tree) == ["ew_f32.fatbin", "manifest.json", "rows_f32.fatbin"]
    log = (home / "log").read_text()
    assert log.count("arch=compute_80,code=[sm_80,sm_90,compute_80]") == 2
    assert [line.split()[-1] for line in log.splitlines() if "-fmad=false" in line] == [
        "build/cuda/rows_f32.cu"
    ]
    assert all("-Werror=all-warnings" in line for line in log.splitlines() if "-MF" in line)
    assert compiled(home) == ["ew_f32", "rows_f32"]
    manifest = json.loads((tree / "autograd_cy/_cuda/manifest.json").read_text())
    assert sorted(manifest["ew_f32"]) == ["add_f32", "fill_f32"]
    assert manifest["rows_f32"]["sum_f32"] > manifest["ew_f32"]["add_f32"] > 100
    assert info(tree)["archs"] == ["sm_80", "sm_90", "compute_80"]
    assert sorted(info(tree)["images"]) == ["ew_f32", "rows_f32"]

    build(tree, home)
    assert (home / "log").read_text() == ""  # not even asked for its version

    header = tree / "ext/cuda/device/kernel.cuh"
    header.write_text(header.read_text() + "// more\n")
    build(tree, home)
    assert compiled(home) == ["ew_f32", "rows_f32"]

    path = tree / "ext/codegen/cuda_sources.py"
    path.write_text(path.read_text().replace("add_f32", "sub_f32"))
    build(tree, home)
    assert compiled(home) == ["ew_f32"]

    build(tree, home, AUTOGRAD_CY_CUDA_ARCHS="90")
    assert (home / "log").read_text().count("arch=compute_90,code=[sm_90] ") == 2
    assert compiled(home) == ["ew_f32", "rows_f32"]


@pytest.mark.slow
def test_what_is_stale_goes(tree, tmp_path):
    home = pretended(tmp_path / "cuda")
    build(tree, home)
    write(tree / "ext/codegen/cuda_sources.py", SOURCES.format(second="columns_f32"))
    build(tree, home)
    assert kernels(tree) == ["columns_f32.fatbin", "ew_f32.fatbin", "manifest.json"]
    assert not (tree / "build/cuda/rows_f32.cu").exists()
    assert not (tree / "build/cuda/rows_f32.fatbin").exists()
    build(tree, home, AUTOGRAD_CY_CUDA=0)
    assert not (tree / "autograd_cy/_cuda").exists()
    assert info(tree) == {"missing": "AUTOGRAD_CY_CUDA=0 when it was built"}
    compiled(home)
    build(tree, home)
    assert compiled(home) == []
    assert len(kernels(tree)) == 3


@pytest.mark.slow
def test_wheel_and_editable_wheel_carry_the_kernels(tree, tmp_path):
    import zipfile

    home = pretended(tmp_path / "cuda")
    call = "import setuptools.build_meta as b; print(b.{}('dist'))"
    for form, has in (("build_wheel", True), ("build_editable", False)):
        run = run_python(
            "-W", "ignore", "-c", call.format(form), cwd=tree,
            AUTOGRAD_CY_CUDA=1, CUDA_HOME=home,
        )  # fmt: skip
        names = zipfile.ZipFile(tree / "dist" / run.stdout.split()[-1]).namelist()
        assert ("autograd_cy/_cuda/ew_f32.fatbin" in names) == has
        assert ("autograd_cy/_cuda/manifest.json" in names) == has
    assert kernels(tree) == ["ew_f32.fatbin", "manifest.json", "rows_f32.fatbin"]


@pytest.mark.slow
def test_without_nvcc_one_line_says_so_and_with_the_switch_the_build_stops(tree, tmp_path):
    environment = {"CUDA_HOME": "", "CUDA_PATH": "", "PATH": path_without_nvcc(tmp_path)}
    if Path("/usr/local/cuda/bin/nvcc").exists():
        # A toolkit of this machine would be found: one too old stands before it.
        environment["CUDA_HOME"] = str(pretended(tmp_path / "old", release="11.2"))
    run = build_inplace(tree, AUTOGRAD_CY_CUDA="auto", **environment)
    (line,) = [line for line in run.stdout.splitlines() if "CUDA" in line]
    assert line.startswith("no CUDA kernels: ")
    assert info(tree)["missing"] in line
    assert not (tree / "autograd_cy/_cuda").exists()
    run = build_inplace(tree, check=False, AUTOGRAD_CY_CUDA=1, **environment)
    assert run.returncode
    for part in ("nvidia-cuda-nvcc", "module load cuda", "AUTOGRAD_CY_CUDA=0 builds for the CPU"):
        assert part in run.stdout
    assert "Traceback" not in run.stdout


def path_without_nvcc(folder: Path) -> str:
    return os.pathsep.join(
        place for place in os.environ["PATH"].split(os.pathsep)
        if not Path(place, "nvcc").exists()
    )  # fmt: skip


@pytest.mark.slow
def test_a_kernel_that_fails_names_its_image_and_shows_the_words_of_nvcc(tree, tmp_path):
    home = pretended(
        tmp_path / "cuda", broken="sum_f32", said="rows_f32.cu(1): error: no such thing"
    )
    run = build(tree, home, check=False)
    assert run.returncode
    assert "the CUDA kernels of image rows_f32 do not compile (nvcc 13.0.88" in run.stdout
    assert "error: no such thing" in run.stdout
    assert "AUTOGRAD_CY_CUDA=0 builds for the CPU only" in run.stdout
    assert "Traceback" not in run.stdout
    assert not (tree / "build/cuda/rows_f32.fatbin").exists()
    home = pretended(tmp_path / "cuda")
    build(tree, home)
    assert "rows_f32.fatbin" in kernels(tree)


def test_a_host_compiler_that_is_too_new_is_named(tmp_path):
    said = "host_config.h: error: -- unsupported GNU version! gcc versions later than 15"
    home = pretended(tmp_path / "cuda", broken="all", said=said)
    with pytest.raises(cuda.NoCuda, match=r"C\+\+ compiler, which is too new") as raised:
        cuda.toolkit(tmp_path / "probe", {"CUDA_HOME": str(home)})
    assert "NVCC_CCBIN=g++-13" in str(raised.value)
    assert said in str(raised.value)
    assert "too new" in raised.value.reason
    home = pretended(tmp_path / "parts", broken="all", said="cicc: not found")
    with pytest.raises(cuda.NoCuda, match="does not compile an empty kernel") as raised:
        cuda.toolkit(tmp_path / "probe", {"CUDA_HOME": str(home)})
    assert "nvidia-nvvm" in str(raised.value)


def test_old_and_silent_toolkits_are_refused(tmp_path):
    home = pretended(tmp_path / "old", release="11.2")
    with pytest.raises(cuda.NoCuda, match=r"version 11\.2\.88, and kernels need 11\.8 or later"):
        cuda.toolkit(tmp_path / "probe", {"CUDA_HOME": str(home)})
    write(home / "bin/nvcc", "#!/bin/sh\necho hello\n")
    with pytest.raises(cuda.NoCuda, match="does not say its version"):
        cuda.toolkit(tmp_path / "probe", {"CUDA_HOME": str(home)})


def test_the_toolkit_is_asked_again_when_it_changes(tmp_path):
    cache = tmp_path / "probe"
    home = pretended(tmp_path / "cuda")
    assert cuda.toolkit(cache, {"CUDA_HOME": str(home)}).version == "13.0.88"
    asked = (home / "log").read_text()
    found = cuda.toolkit(cache, {"CUDA_HOME": str(home)})
    assert (home / "log").read_text() == asked
    assert found.known == (75, 80, 90, 100)
    assert found.flags == ("--compress-mode=size",)
    pretended(home, release="13.11")
    assert cuda.toolkit(cache, {"CUDA_HOME": str(home)}).version == "13.11.88"


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ("", "arch=compute_80,code=[sm_80,sm_90,compute_80]"),
        ("90", "arch=compute_90,code=[sm_90]"),
        ("9.0+PTX 8.0", "arch=compute_80,code=[sm_80,sm_90,compute_80]"),
        ("sm_100; 90", "arch=compute_90,code=[sm_90,sm_100]"),
        ("10.0,PTX", "arch=compute_100,code=[sm_100,compute_100]"),
    ],
)
def test_architectures(given, flags):
    found = cuda.archs((75, 80, 90, 100), {"AUTOGRAD_CY_CUDA_ARCHS": given})
    assert found.flags == ["-gencode", flags]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("hopper", "hopper is no compute capability; write 80, 9.0, sm_90 or ptx"),
        ("90a", "90a is no compute capability"),
        ("75", r"7\.5 are too old; kernels need 8\.0"),
        ("121", r"nvcc 13\.0 does not compile for 121; it knows 80, 90, 100"),
        ("ptx", "names no compute capability"),
        ("90+SASS", "is no compute capability"),
    ],
)
def test_architectures_that_are_refused(given, said):
    with pytest.raises(FlagRefused, match=said):
        cuda.archs((75, 80, 90, 100), {"AUTOGRAD_CY_CUDA_ARCHS": given}, "13.0")


def test_the_default_leaves_out_what_an_older_nvcc_does_not_know():
    assert cuda.archs((75, 80), {}).names == ["sm_80", "compute_80"]


@pytest.mark.parametrize(
    ("given", "read"),
    [("", "auto"), ("auto", "auto"), ("0", "0"), ("OFF", "0"), ("1", "1"), ("yes", "1")],
)
def test_the_switch(given, read):
    assert cuda.wanted({"AUTOGRAD_CY_CUDA": given}) == read


def test_the_switch_has_no_other_values():
    with pytest.raises(FlagRefused, match="AUTOGRAD_CY_CUDA=2 is not 0, 1 or auto"):
        cuda.wanted({"AUTOGRAD_CY_CUDA": "2"})


@pytest.mark.parametrize("flag", ["--use_fast_math", "-use_fast_math", "--ftz=true"])
def test_fast_math_of_nvcc_is_refused(flag, tmp_path):
    home = pretended(tmp_path / "cuda")
    environment = {"CUDA_HOME": str(home), "NVCC_APPEND_FLAGS": f"-lineinfo {flag}"}
    with pytest.raises(FlagRefused, match="from NVCC_APPEND_FLAGS"):
        cuda.toolkit(tmp_path / "probe", environment)


def test_nvcc_of_the_package_index_is_found(tmp_path, monkeypatch):
    home = pretended(tmp_path / "site" / "nvidia" / "cu13")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(cuda, "SYSTEM", tmp_path / "none")
    assert cuda.find({"PATH": path_without_nvcc(tmp_path)}) == home / "bin/nvcc"
    assert cuda.find({"PATH": str(pretended(tmp_path / "other") / "bin")}).parts[-3] == "other"
    assert (
        cuda.find({"CUDA_PATH": str(home), "PATH": str(tmp_path / "other/bin")}).parts[-3] == "cu13"
    )


def test_a_kernel_that_is_defined_twice_is_refused(tmp_path):
    source = tmp_path / "twice.cu"
    source.write_text(
        '#include "kernel.cuh"\nAG_KERNEL(a, ag_flat_args) {}\nAG_KERNEL(a, ag_flat_args) {}\n'
    )
    compiler = ["cc", f"-I{ROOT / 'ext/cuda/device'}"]
    with pytest.raises(cuda_listing.ListingFailed, match="a kernel is defined twice"):
        cuda_listing.listed(source, compiler)


def test_kernels_that_macros_define_are_listed(tmp_path):
    source = tmp_path / "macros.cu"
    source.write_text(
        '#include "kernel.cuh"\n#define BOTH(T) AG_KERNEL(flat_##T, ag_flat_args) {} \\\n'
        "    AG_KERNEL_TOGETHER(some_##T, ag_divisor, 128) {}\nBOTH(f32)\nBOTH(f64)\n"
    )
    found = cuda_listing.listed(source, ["cc", f"-I{ROOT / 'ext/cuda/device'}"])
    assert sorted(found) == ["flat_f32", "flat_f64", "some_f32", "some_f64"]
    assert found["some_f32"] == 12
