"""The start at the first use, what is said where something is missing, and broken images."""

import os
import shutil
import subprocess
import threading

import pytest
from core_scripts import run, told
from emulator import places

import autograd_cy as torch
from autograd_cy._C import cuda_driver, cuda_launch, cuda_streams
from autograd_cy.cuda import _start

FAIL = """
    try:
        torch.ones(2).to("cuda")
    except RuntimeError as error:
        print(type(error) is RuntimeError or type(error).__name__, error)
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0
    assert not torch.cuda.is_initialized()
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    print(x.grad.tolist())
"""


def reason(script=FAIL, **options):
    out = told(script, **options)
    first, last = out.splitlines()
    assert last == "[3.0, 3.0]"
    assert "device 'cuda' is not available" in first and "device='cpu'" in first, first
    return first


# --- what is missing ------------------------------------------------------------------------------


@pytest.mark.emulated
def test_without_kernels_it_says_how_to_build_them(tmp_path):
    text = reason(AUTOGRAD_CY_CUDA_KERNELS=tmp_path)
    assert "built without CUDA" in text and "rebuild with nvcc" in text
    assert "driver" not in text and "PyCUDA" not in text


@pytest.mark.emulated
def test_without_pycuda_it_says_how_to_install_it():
    text = reason("    sys.modules['pycuda'] = None\n" + FAIL)
    assert "PyCUDA is not installed" in text and "autograd_cy[cuda]" in text
    assert "nvcc" not in text and "NVIDIA" not in text


@pytest.mark.emulated
def test_with_a_pycuda_that_cant_be_imported_its_error_is_said(tmp_path):
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").write_text("")
    (tmp_path / "pycuda" / "driver.py").write_text(
        "raise ImportError('_driver.so: undefined symbol: cuCtxCreate_v4')"
    )
    text = reason(f"    sys.path.insert(0, {str(tmp_path)!r})\n" + FAIL)
    assert "undefined symbol: cuCtxCreate_v4" in text and "too old" in text


@pytest.mark.emulated
def test_without_a_driver_it_says_so():
    text = reason(without=["LD_LIBRARY_PATH"])
    assert "Found no NVIDIA driver on your system" in text and "libcuda.so.1" in text
    assert "nvcc" not in text


@pytest.mark.emulated
def test_all_that_is_missing_is_said_at_once(tmp_path):
    text = reason(
        "    sys.modules['pycuda'] = None\n" + FAIL,
        AUTOGRAD_CY_CUDA_KERNELS=tmp_path,
        without=["LD_LIBRARY_PATH"],
    )
    assert all(word in text for word in ("rebuild with nvcc", "NVIDIA driver", "PyCUDA is not"))


@pytest.mark.emulated
def test_with_a_driver_that_is_too_old_it_says_what_it_lacks(tmp_path):
    source = tmp_path / "old.c"
    source.write_text("int cuInit(unsigned flags) { return 0; }\n")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    flags = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(tmp_path / "libcuda.so.1")]
    subprocess.run([compiler, *flags, str(source)], check=True)
    text = reason(LD_LIBRARY_PATH=tmp_path)
    assert "The NVIDIA driver on your system is too old".lower() in text.lower()
    assert "cuCtxSetCurrent" in text and "update your GPU driver" in text


@pytest.mark.emulated
def test_with_a_driver_that_finds_no_gpu_it_says_so():
    assert "No CUDA GPUs are available" in reason(EMU_DEVICES=0)


@pytest.mark.emulated
def test_with_a_driver_that_cant_start_it_says_its_error():
    script = """
    sys.path.insert(0, "tests/gpu")
    from emulator import control
    control.fail("cuInit", code=control.UNKNOWN)
    """
    text = reason(script.rstrip(" ") + FAIL)
    assert "CUDA initialization: unknown error" in text and "CUDA_ERROR_UNKNOWN" in text


@pytest.mark.emulated
def test_a_process_that_asks_for_a_context_in_vain_can_ask_again():
    out = told(
        """
        sys.path.insert(0, "tests/gpu")
        from emulator import control
        assert torch.cuda.is_available()
        control.fail("cuDevicePrimaryCtxRetain", code=2)
        try:
            torch.ones(2).to("cuda")
        except torch.OutOfMemoryError as error:
            print("out of memory" in str(error))
        print((torch.ones(2).to("cuda") + 1).tolist())
        """
    )
    assert out.split("\n")[:2] == ["True", "[2.0, 2.0]"]


# --- the start ------------------------------------------------------------------------------------


def test_questions_start_nothing():
    out = told(
        """
        from autograd_cy._C import placement
        print(torch.cuda.is_available(), torch.cuda.device_count() > 0)
        print(torch.cuda.is_initialized(), torch.device("cuda:0"))
        from autograd_cy._C import cuda_driver
        print(cuda_driver.started())
        torch.ones(1, device="cuda")
        print(torch.cuda.is_initialized(), cuda_driver.started(), cuda_driver.started(0))
        """
    )
    assert out.splitlines() == ["True True", "False cuda:0", "False", "True True True"]


def test_many_threads_start_it_once():
    out = told(
        """
        import threading
        barrier = threading.Barrier(8)
        found, errors = [], []
        def work(i):
            try:
                barrier.wait()
                found.append((torch.full((3,), float(i)).to("cuda") * 2).tolist())
            except BaseException as error:
                errors.append(error)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(errors, sorted(found)[0], len(found))
        """
    )
    assert out.strip() == "[] [0.0, 0.0, 0.0] 8"


def test_a_second_start_changes_nothing():
    _start.start()
    _start.start()
    assert _start.started() and _start.why_not() is None
    assert _start.device_count() == torch.cuda.device_count()


def test_an_index_that_is_not_there():
    n = torch.cuda.device_count()
    with pytest.raises(torch.AcceleratorError, match="CUDA error: invalid device ordinal"):
        torch.ones(2, device=f"cuda:{n}")
    for call in (cuda_driver.properties, cuda_driver.start_index):
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            call(n)
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            call(-1)


def test_properties_come_from_the_driver():
    import pycuda.driver as d

    found, device = cuda_driver.properties(0), d.Device(0)
    assert found["name"] == device.name()
    assert (found["major"], found["minor"]) == device.compute_capability()
    assert found["total_memory"] == device.total_memory()
    assert found["multi_processor_count"] == device.get_attribute(
        d.device_attribute.MULTIPROCESSOR_COUNT
    )
    assert len(found["uuid"]) == 16
    assert cuda_driver.driver_version() == d.get_driver_version()


def test_each_thread_works_in_the_context_without_pushing_it():
    import pycuda.driver as d

    x = torch.arange(4.0).to("cuda")
    seen = []

    def work():
        y = (x + 1).cpu()
        try:
            d.Context.pop()
        except d.LogicError as error:
            seen.append((y.tolist(), str(error)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen[0][0] == [1.0, 2.0, 3.0, 4.0] and "pop" in seen[0][1]


def test_another_context_that_became_current_is_changed_back():
    import pycuda.driver as d

    if torch.cuda.device_count() < 2:
        pytest.skip("needs two GPUs")
    x, y = torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
    other = cuda_driver.primary_context(1)
    other.push()
    try:
        assert (x + 1).tolist() == [2.0, 2.0]
    finally:
        d.Context.pop()
    assert (y + 1).tolist() == [2.0, 2.0]


# --- images ---------------------------------------------------------------------------------------

LOAD = """
    x = torch.ones(3).to("cuda")
    try:
        x + 1
    except RuntimeError as error:
        print(type(error).__name__, error)
    print(x.tolist(), (torch.ones(2) + 1).tolist())
"""


def folder_with(tmp_path, name, content):
    folder = tmp_path / "kernels"
    shutil.copytree(cuda_launch.folder(), folder)
    if content is None:
        os.remove(folder / name)
    else:
        (folder / name).write_bytes(content)
    return folder


IMAGES = {
    "damaged": (b"\x00" * 100, ("ew_f32.fatbin is damaged", "device kernel image is invalid")),
    "empty": (b"", ("ew_f32.fatbin is damaged",)),
    "of another architecture": (
        b"\x50\xed\x55\xba" + b"\x00" * 100,
        ("no kernel image is available for execution on the device", "AUTOGRAD_CY_CUDA_ARCHS="),
    ),
}


@pytest.mark.emulated
@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_that_cant_be_loaded(kind, tmp_path):
    content, words = IMAGES[kind]
    folder = folder_with(tmp_path, "ew_f32.fatbin", content)
    first, last = told(LOAD, AUTOGRAD_CY_CUDA_KERNELS=folder).splitlines()
    assert first.startswith("AcceleratorError CUDA error: ")
    assert all(word in first for word in words), first
    assert last == "[1.0, 1.0, 1.0] [2.0, 2.0]"


@pytest.mark.emulated
def test_an_image_of_another_version_lacks_a_kernel(tmp_path):
    content = (places.KERNELS / "ew_bits.fatbin").read_bytes()
    folder = folder_with(tmp_path, "ew_f32.fatbin", content)
    first = told(LOAD, AUTOGRAD_CY_CUDA_KERNELS=folder).splitlines()[0]
    assert "has no kernel 'add_f32" in first and "another version" in first


@pytest.mark.emulated
def test_an_unloadable_image_does_not_end_the_process_noisily(tmp_path):
    folder = folder_with(tmp_path, "ew_f32.fatbin", b"\x00" * 10)
    status, _, err = run("torch.ones(3).to('cuda') + 1", AUTOGRAD_CY_CUDA_KERNELS=folder)
    assert status == 1 and "damaged" in err.splitlines()[-1]


def test_images_are_named_and_found():
    assert "ew_f32" in cuda_launch.images()
    assert cuda_streams.priority_range() == (0, 0)
