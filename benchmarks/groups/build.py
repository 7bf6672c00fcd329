"""Build: from a clean copy of the sources to a wheel, with what is installed and without network.

Takes minutes, so it runs only when asked for: ``--groups build``.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.case import Command

_ROOT = Path(__file__).resolve().parents[2]

_PREPARE = f"""\
import os, shutil, subprocess, sys, tempfile, time
from pathlib import Path
folder = Path(tempfile.mkdtemp())
left_out = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "*.so", "*.o")
shutil.copytree({str(_ROOT)!r}, folder / "sources", ignore=left_out)
build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"]
start = time.perf_counter()
done = subprocess.run([*build, "-w", folder, folder / "sources"], stdout=sys.stderr)
taken = time.perf_counter() - start
wheels = list(folder.glob("*.whl"))
size = wheels[0].stat().st_size if wheels else 0
shutil.rmtree(folder)
if done.returncode or not wheels:
    sys.exit("the build failed")
"""

CASES = [
    Command("wheel from sources", _PREPARE + "print(taken)", only="autograd_cy", samples=1),
    Command("size of the wheel", _PREPARE + "print(size)", unit="B", only="autograd_cy", samples=1),
]
