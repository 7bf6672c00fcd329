"""Write versions, addresses and checksums into the recipes of this folder.

::

    python packaging/fill.py --version 0.3.0
    python packaging/fill.py --sdist dist/autograd_cy-0.3.0.tar.gz --into build/recipes
    python packaging/fill.py --sdist FILE --url file:///tmp/FILE --into FOLDER

The first form writes a version into the files of the tree, before a release, and begins its section
of the changelog. In the tree, recipes name the version of the package and have a checksum of zeros,
because no sdist exists yet. The second form copies them into a folder with the checksum of an
sdist, and with the address that PyPI gives to it; the third one with another address. Every recipe
that has a checksum is filled, wherever it stands under ``packaging/``: a new one needs no line
here. Easyconfigs have no address: ``eb --sourcepath`` names the folder of the sdist.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VERSION_FILE = "autograd_cy/_version.py"
#: A page outside of this folder that names the version in its commands alone.
INSTALL_PAGE = "docs/install.md"
#: Other files of the tree that name the version, and how.
MENTIONS = {
    "CITATION.cff": 'version: "{version}"',
    INSTALL_PAGE: "autograd_cy-{version}.tar.gz",
    "docs/coming-from-pytorch.md": "autograd.cy.{version}",
    "autograd_cy/_as_torch/switch.py": "autograd.cy.{version}",
}
UNRELEASED = "## [Unreleased]\n"
#: Files without a version that recipes need beside them: of conda, of Spack.
BESIDE = ("variants.yaml", "repo.yaml")
#: The checksum of recipes in the tree.
NO_CHECKSUM = "0" * 64
#: Where PyPI keeps the sdist of a version.
PYPI = "https://files.pythonhosted.org/packages/source/a/autograd_cy/autograd_cy-{version}.tar.gz"
#: The short form of that address in Spack's recipe, and what stands there for another one.
PYPI_OF_SPACK = 'pypi = "autograd_cy/autograd_cy-{version}.tar.gz"'
URL_OF_SPACK = 'url = "{url}"'
_SDIST = re.compile(r"autograd_cy-(\d[\w.]*)\.tar\.gz")
#: A dotted version, optionally a pre-release (PEP 440).
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")


def current_version() -> str:
    """Return the version of the tree."""
    text = (ROOT / VERSION_FILE).read_text(encoding="utf-8")
    return re.search(r'__version__ = "(.+)"', text)[1]


def recipes() -> list[Path]:
    """Return the files of this folder that name the version or have a checksum, sorted."""
    version = current_version()
    chosen = []
    for path in sorted(HERE.rglob("*")):
        if (
            path.is_file()
            and path.suffix not in {".pyc", ".md"}
            and path != Path(__file__).resolve()
        ):
            text = path.read_text(encoding="utf-8")
            if version in text or version in path.name or NO_CHECKSUM in text:
                chosen.append(path)
    return chosen


def pages() -> list[Path]:
    """Return the pages whose commands name the version: of this folder, and that of installing."""
    version = current_version()
    every = [*sorted(HERE.rglob("*.md")), ROOT / INSTALL_PAGE]
    return [path for path in every if version in path.read_text(encoding="utf-8")]


def with_version(text: str, old: str, new: str) -> str:
    """Return a text with one version in place of another, where it stands as a whole word."""
    return re.sub(rf"(?<![\w.]){re.escape(old)}(?![\w]|\.\d)", new, text)


def set_version(new: str, date: str) -> list[Path]:
    """Write a version into package, pages, citation file and recipes, and begin its section of the
    changelog; return what changed."""
    old = current_version()
    files = [ROOT / VERSION_FILE, *recipes(), *pages()]
    texts = {path: with_version(path.read_text(encoding="utf-8"), old, new) for path in files}
    for name, mention in MENTIONS.items():
        text = texts.get(ROOT / name) or (ROOT / name).read_text(encoding="utf-8")
        texts[ROOT / name] = text.replace(mention.format(version=old), mention.format(version=new))
    citation, changelog = ROOT / "CITATION.cff", ROOT / "CHANGELOG.md"
    texts[citation] = re.sub(
        r'^date-released: ".*"$', f'date-released: "{date}"', texts[citation], flags=re.M
    )
    if f"## [{new}]" not in changelog.read_text(encoding="utf-8"):
        head = f"{UNRELEASED}\n## [{new}] - {date}\n"
        texts[changelog] = changelog.read_text(encoding="utf-8").replace(UNRELEASED, head, 1)
    changed = []
    for path, text in texts.items():
        target = path.with_name(with_version(path.name, old, new))
        if target != path:
            path.rename(target)
        target.write_text(text, encoding="utf-8")
        changed.append(target)
    return changed


def fill(sdist: Path, folder: Path, url: str | None = None) -> list[Path]:
    """Copy the recipes with the checksum and address of an sdist.

    Parameters
    ----------
    sdist : pathlib.Path
        The file, ``autograd_cy-VERSION.tar.gz``. Its version must be that of the tree.
    folder : pathlib.Path
        Where the copies go, in the folders that they have here.
    url : str, optional
        The address instead of PyPI's, such as ``file:///...``.

    Returns
    -------
    list of pathlib.Path
        The copies.

    Raises
    ------
    SystemExit
        If there is no such file, it is of another version, or the folder can't be written to.
    """
    match = _SDIST.fullmatch(sdist.name)
    if match is None or not sdist.is_file():
        raise SystemExit(f"fill.py: {sdist} is not an sdist; make one: python -m build --sdist")
    version = current_version()
    if match[1] != version:
        raise SystemExit(
            f"fill.py: {sdist.name} is of another version than the tree ({version}); "
            "make an sdist of this tree: python -m build --sdist"
        )
    checksum = hashlib.sha256(sdist.read_bytes()).hexdigest()
    if HERE in (folder.resolve(), *folder.resolve().parents):
        raise SystemExit(
            f"fill.py: {folder} is where the recipes themselves are; copies go into another "
            "folder: --into build/recipes"
        )
    try:
        return _copy(checksum, folder, url)
    except OSError as error:
        raise SystemExit(
            f"fill.py: cannot write to {error.filename2 or error.filename} ({error.strerror}); "
            "name a folder of your own: --into build/recipes"
        ) from None


def _copy(checksum: str, folder: Path, url: str | None) -> list[Path]:
    """Write the copies of all recipes, and of the files that they need beside them."""
    version = current_version()
    copies = []
    for path in recipes():
        copy = folder / path.relative_to(HERE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
        text = copy.read_text(encoding="utf-8").replace(NO_CHECKSUM, checksum)
        if url is not None:
            text = text.replace(PYPI.format(version=version), url)
            text = text.replace(PYPI_OF_SPACK.format(version=version), URL_OF_SPACK.format(url=url))
        copy.write_text(text, encoding="utf-8")
        copies.append(copy)
    for path in sorted(HERE.rglob("*.yaml")):
        if path.name in BESIDE:
            copies.append(Path(shutil.copy(path, folder / path.relative_to(HERE))))
    return copies


def _is_date(text: str) -> bool:
    """Return whether a text is a date in the form YYYY-MM-DD."""
    try:
        return str(datetime.date.fromisoformat(text)) == text
    except ValueError:
        return False


def main(arguments: list[str] | None = None) -> int:
    """Run the command line of this file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--version", help="write this version into the files of the tree")
    parser.add_argument("--date", help="of this version, as YYYY-MM-DD; default: today")
    parser.add_argument("--sdist", type=Path, help="the sdist whose checksum is written")
    parser.add_argument("--into", type=Path, help="the folder of the filled copies")
    parser.add_argument("--url", help="the address of the sdist, instead of PyPI's")
    options = parser.parse_args(arguments)
    of_version = (options.version, options.date)
    of_sdist = (options.sdist, options.into, options.url)
    if options.version is not None and of_sdist == (None, None, None):
        if _VERSION.fullmatch(options.version) is None:
            parser.error(f"{options.version} is not a version such as 1.2.3 or 1.2.3rc1")
        date = options.date or datetime.date.today().isoformat()
        if not _is_date(date):
            parser.error(f"{date} is not a date such as 2026-12-31")
        paths = set_version(options.version, date)
    elif None not in of_sdist[:2] and of_version == (None, None):
        paths = fill(options.sdist, options.into, options.url)
    else:
        parser.error("give --version (and --date), or --sdist and --into (and --url)")
    print("\n".join(str(path) for path in paths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
