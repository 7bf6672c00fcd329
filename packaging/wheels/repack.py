"""Write a wheel again, so that equal contents are equal bytes.

Files are sorted, with ``RECORD`` at the end, and times and modes are the same on every machine.
Texts of licences may be added, and the licence expression of what was bundled.
"""

from __future__ import annotations

import base64
import hashlib
import time
import zipfile
from pathlib import Path

#: zip has no times before 1980.
EARLIEST = 315532800
FILE, PROGRAM = 0o100644, 0o100755


def repack(
    wheel: Path, date: int, licences: dict[str, bytes] | None = None, also: str = ""
) -> None:
    """Write a wheel in place.

    Parameters
    ----------
    wheel : pathlib.Path
        The file.
    date : int
        The time of all files, in seconds since 1970.
    licences : dict, optional
        Texts to be added: {name below ``licenses/``: content}.
    also : str, optional
        The licence of what is bundled, an SPDX expression.
    """
    with zipfile.ZipFile(wheel) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        files = {info.filename: archive.read(info) for info in infos}
        modes = {info.filename: info.external_attr >> 16 for info in infos}
    (metadata,) = (name for name in files if name.endswith(".dist-info/METADATA"))
    folder = metadata.rpartition("/")[0]
    for name, text in sorted((licences or {}).items()):
        files[f"{folder}/licenses/{name}"] = text
    files[metadata] = _metadata(files[metadata].decode(), sorted(licences or {}), also).encode()
    record = f"{folder}/RECORD"
    files[record] = _record(files, record).encode()
    stamp = time.gmtime(max(date, EARLIEST))[:6]
    passing = wheel.with_name(f".{wheel.name}")
    with zipfile.ZipFile(passing, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files, key=lambda name: (name == record, name)):
            info = zipfile.ZipInfo(name, stamp)
            info.create_system = 3  # the modes are those of Unix
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (PROGRAM if modes.get(name, 0) & 0o100 else FILE) << 16
            archive.writestr(info, files[name])
    passing.replace(wheel)


def _metadata(text: str, licences: list[str], also: str) -> str:
    """Return METADATA with further licences in its headers."""
    head, separator, body = text.partition("\n\n")
    lines = head.split("\n")
    for place, line in enumerate(lines):
        if also and line.startswith("License-Expression: ") and also not in line:
            lines[place] = f"{line} AND {also}"
    last = max(
        (k for k, line in enumerate(lines) if line.startswith("License-File: ")), default=None
    )
    new = [f"License-File: {name}" for name in licences]
    new = [line for line in new if line not in lines]
    place = len(lines) if last is None else last + 1
    return "\n".join([*lines[:place], *new, *lines[place:]]) + separator + body


def _record(files: dict[str, bytes], record: str) -> str:
    """Return RECORD: name, digest and size of each file."""
    lines = []
    for name in sorted(files):
        if name == record:
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=")
        lines.append(f"{name},sha256={digest.decode()},{len(files[name])}")
    return "\n".join([*lines, f"{record},,", ""])
