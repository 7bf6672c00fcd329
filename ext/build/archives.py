"""Source archives and wheels whose bytes depend on their contents alone.

setuptools puts the owner, the umask and the times of this machine into them. Here, all files belong
to nobody and have one of two modes. SOURCE_DATE_EPOCH, if it is set, is the time of all of them.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
from pathlib import Path

from setuptools.command.sdist import sdist

from .flags import source_date

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ModuleNotFoundError:  # an old setuptools, which a build refuses with the way out
    from setuptools import Command as bdist_wheel

FILE, PROGRAM = 0o644, 0o755


class Sdist(sdist):
    """Make the source archive, then write it again without traces of this machine."""

    def run(self):
        source_date()
        super().run()

    def make_archive(self, *args, **kwargs):
        path = super().make_archive(*args, **kwargs)
        if path.endswith(".tar.gz"):
            rewrite_tar(Path(path))
        return path


class BdistWheel(bdist_wheel):
    """Give the files of a wheel modes that the umask does not change, before they are zipped."""

    def write_wheelfile(self, *args, **kwargs):
        super().write_wheelfile(*args, **kwargs)
        # An editable install calls this, too, and has no such folder.
        if self.bdist_dir and os.path.isdir(self.bdist_dir):
            set_modes(Path(self.bdist_dir))


def mode_of(mode: int) -> int:
    """Return the mode for a file, of which only the owner's right to run it counts."""
    return PROGRAM if mode & 0o100 else FILE


def set_modes(folder: Path) -> None:
    """Give all files of a folder one of the two modes."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.chmod(mode_of(path.stat().st_mode))


def rewrite_tar(path: Path, environ=os.environ) -> None:
    """Write a tar.gz again: sorted, of nobody, all of the time that SOURCE_DATE_EPOCH says."""
    date = source_date(environ)
    passing = path.with_name(f".{path.name}")
    with tarfile.open(path) as old, open(passing, "wb") as raw:
        members = sorted(old.getmembers(), key=lambda member: member.name)
        newest = int(max(member.mtime for member in members)) if date is None else date
        with (
            gzip.GzipFile("", "wb", fileobj=raw, mtime=newest) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as new,
        ):
            for member in members:
                info = tarfile.TarInfo(member.name)
                info.type, info.size, info.linkname = member.type, member.size, member.linkname
                info.mode = PROGRAM if member.isdir() else mode_of(member.mode)
                info.mtime = int(member.mtime) if date is None else date
                new.addfile(info, old.extractfile(member) if member.isfile() else None)
    shutil.move(passing, path)
