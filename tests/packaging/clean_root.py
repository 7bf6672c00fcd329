"""A clean Debian root folder, in which the commands of a Dockerfile or a definition file run.

No container engine is needed: `debootstrap` installs what Debian's own image has, and `chroot` runs
commands in a copy of it, in namespaces of their own.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

#: Folder of roots that tests leave for each other and for the next run.
CACHE = "CLEAN_ROOT_CACHE"
#: The releases of Debian that containers may start from, and their Python.
PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MIRROR = "http://deb.debian.org/debian"


def reason_to_skip() -> str | None:
    """Return why no clean root can be made on this machine, or None."""
    if os.geteuid() != 0:
        return "needs root: chroot and mount"
    for program in ("debootstrap", "unshare", "chroot"):
        if shutil.which(program, path=f"{os.environ.get('PATH', '')}:{PATH}") is None:
            return f"needs {program}"
    probe = ["unshare", "--mount", "--pid", "--fork", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        return "needs namespaces, which this machine does not allow"
    return None


class Root:
    """A folder that looks like the root of a machine to the commands that run in it.

    Parameters
    ----------
    path : pathlib.Path
        The folder.
    mounts : dict, optional
        Folders of this machine that commands see, by their paths in the root.
    """

    def __init__(self, path: Path, mounts: dict[str, Path] | None = None):
        self.path = path
        self.mounts = mounts or {}

    def run(self, command: list[str], *, environment: dict, cwd: str = "/", user: str = "root"):
        """Run a command, and fail the test with all that it wrote if it fails."""
        home = "/root" if user == "root" else f"/home/{user}"
        variables = {"PATH": PATH, "HOME": home} | environment
        lines = [f"mount --rbind /dev {self._quoted('dev')}"]
        lines += [f"mount -t proc proc {self._quoted('proc')}"]
        for place, folder in self.mounts.items():
            (self.path / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
            lines += [f"mount --bind {shlex.quote(str(folder))} {self._quoted(place)}"]
        inner = ["chroot", f"--userspec={user}", str(self.path), "/usr/bin/env", "-i"]
        inner += [f"{name}={value}" for name, value in variables.items()]
        inner += ["/bin/sh", "-c", f'cd {shlex.quote(cwd)} && exec "$@"', "sh", *command]
        lines += [f"exec {shlex.join(inner)}"]
        outer = ["unshare", "--mount", "--pid", "--fork", "/bin/sh", "-ec", "\n".join(lines)]
        run = subprocess.run(
            outer,
            env=os.environ | {"PATH": f"{os.environ.get('PATH', '')}:{PATH}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        if run.returncode:
            tail = run.stdout[-6000:]
            pytest.fail(f"{shlex.join(command)} ended with {run.returncode}:\n{tail}")
        return run.stdout

    def put(self, source: Path, place: str, *, follow: bool = True) -> None:
        """Copy a file or folder into the root; a place that ends in / is a folder."""
        target = self.path / place.lstrip("/")
        if place.endswith("/"):
            target /= source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        links = "--dereference" if follow else "--no-dereference"
        subprocess.run(["cp", "-r", "--preserve=all", links, source, target], check=True)

    def _quoted(self, place: str) -> str:
        return shlex.quote(str(self.path / place.lstrip("/")))


class Roots:
    """Makes roots from images of Debian, which `debootstrap` installs once.

    Parameters
    ----------
    folder : pathlib.Path
        Where roots are made; the images themselves go to ``CLEAN_ROOT_CACHE`` if that is set.
    requirements : list of str
        What pip must find in the root: it is downloaded here, as pip is set up here.
    """

    def __init__(self, folder: Path, requirements: list[str]):
        self.folder = folder
        self.cache = Path(os.environ.get(CACHE) or folder)
        self.requirements = requirements
        self.cache.mkdir(parents=True, exist_ok=True)

    def new(self, image: str) -> Root:
        """Return a fresh root of an image such as ``debian:trixie-slim``."""
        suite = re.fullmatch(r"debian:(\w+)-slim", image)[1]
        root = Path(tempfile.mkdtemp(dir=self.folder, prefix=f"{suite}-"))
        subprocess.run(["cp", "-a", f"{self._image(suite)}/.", root], check=True)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        return Root(root, {"/wheelhouse": self._wheels(suite)})

    def variables(self) -> dict[str, str]:
        """Return variables with which pip takes packages from the mounted folder only."""
        return {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheelhouse"}

    def _image(self, suite: str) -> Path:
        path = self.cache / suite
        if not path.exists():
            partial = Path(tempfile.mkdtemp(dir=self.cache, prefix=f".{suite}-"))
            command = ["debootstrap", "--variant=minbase", suite, str(partial), mirror()]
            environment = os.environ | {"PATH": f"{os.environ.get('PATH', '')}:{PATH}"}
            log = partial.with_suffix(".log")
            with open(log, "w") as output:
                run = subprocess.run(
                    command, env=environment, stdout=output, stderr=output, check=False
                )
            if run.returncode:
                pytest.fail(f"{shlex.join(command)} failed:\n{log.read_text()[-3000:]}")
            partial.chmod(0o755)
            partial.rename(path)
        return path

    def _wheels(self, suite: str) -> Path:
        """Return a folder of wheels for the Python of a release."""
        python = PYTHONS[suite]
        path = self.folder / f"wheels-{python}"
        if not path.exists():
            tags = (f"{name}_{platform.machine()}" for name in ("manylinux_2_28", "manylinux2014"))
            download(path, self.requirements, f"--python-version={python}",
                     "--only-binary=:all:", *(f"--platform={tag}" for tag in tags))  # fmt: skip
        return path


def download(folder: Path, requirements: list[str], *options: str) -> None:
    """Download packages into a folder with the pip of this Python."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder)]
    subprocess.run([*command, *options, *requirements], check=True)


def mirror() -> str:
    """Return the address of Debian's packages that this machine uses, or the usual one."""
    texts = []
    for path in (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")):
        if path.suffix in {".list", ".sources"} and path.is_file():
            texts.append(path.read_text())
    addresses = re.findall(r"https?://\S+/debian(?=/?(?:\s|$))", "\n".join(texts))
    return addresses[0] if addresses else MIRROR
