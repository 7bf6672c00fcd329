"""Files of weights by their addresses, kept in a folder; models of a folder with a hubconf.py."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from autograd_cy._environment.launcher import is_first_rank
from autograd_cy._environment.logger import tell

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

_folder: str | None = None
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_BLOCK = 1 << 17


def get_dir() -> str:
    """
    Return the folder in which files are kept.

    Returns
    -------
    str
        What :func:`set_dir` was told, else ``$TORCH_HOME/hub``, ``$XDG_CACHE_HOME/torch/hub`` or
        ``~/.cache/torch/hub``, which PyTorch uses, too.

    Examples
    --------
    >>> import os
    >>> import autograd_cy as ag
    >>> os.path.basename(ag.hub.get_dir())
    'hub'
    """
    return os.path.join(_get_torch_home(), "hub") if _folder is None else _folder


def _get_torch_home() -> str:
    """Return the folder of what PyTorch keeps; other packages ask for it, too."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike) -> None:
    """
    Keep files in another folder.

    Parameters
    ----------
    d : path

    Examples
    --------
    >>> import autograd_cy as ag
    >>> before = ag.hub.get_dir()
    >>> ag.hub.set_dir("weights")
    >>> ag.hub.get_dir()
    'weights'
    >>> ag.hub.set_dir(before)
    """
    global _folder
    _folder = os.path.expanduser(os.fspath(d))


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """
    Copy what is at an address to a file, which is there whole or not at all.

    Parameters
    ----------
    url : str
        ``https://``, ``file://`` or another that :mod:`urllib.request` opens.
    dst : path
    hash_prefix : str, optional
        How the SHA-256 of the contents begins.
    progress : bool, default True
        Show a bar, if tqdm is installed and the contents have a known size.

    Raises
    ------
    RuntimeError
        If the contents have another hash.
    urllib.error.URLError
        If the address can't be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import autograd_cy as ag
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a").write_text("weights")
    >>> ag.hub.download_url_to_file((folder / "a").as_uri(), str(folder / "b"), progress=False)
    >>> (folder / "b").read_text()
    'weights'
    """
    from urllib.request import Request, urlopen

    target = Path(os.path.expanduser(os.fspath(dst)))
    with urlopen(Request(url, headers={"User-Agent": "autograd_cy.hub"})) as source:
        size = source.headers.get("Content-Length")
        bar = _bar(int(size)) if progress and size else None
        handle, name = tempfile.mkstemp(suffix=".partial", prefix=target.name, dir=target.parent)
        try:
            sha = hashlib.sha256()
            with os.fdopen(handle, "wb") as file:
                while block := source.read(_BLOCK):
                    file.write(block)
                    sha.update(block)
                    if bar is not None:
                        bar.update(len(block))
            digest = sha.hexdigest()
            if hash_prefix is not None and not digest.startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest}")')
            # mkstemp() lets the owner alone read it.
            os.chmod(name, 0o666 & ~_umask())
            shutil.move(name, target)
        finally:
            if bar is not None:
                bar.close()
            if os.path.exists(name):
                os.remove(name)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _bar(size: int) -> Any:
    if not is_first_rank():
        return None
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:
        return None
    return tqdm.tqdm(total=size, unit="B", unit_scale=True, unit_divisor=1024)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """
    Load weights by their address; the file is downloaded unless it is there already.

    Parameters
    ----------
    url : str
    model_dir : path, optional
        Where the file is kept; by default ``checkpoints`` in :func:`get_dir`.
    map_location
        As of :func:`autograd_cy.load`.
    progress : bool, default True
        Show a bar, if tqdm is installed.
    check_hash : bool, default False
        Compare the contents with the hash in the file's name, ``name-<hash>.pth``.
    file_name : str, optional
        The file's name, if it isn't the last part of the address.
    weights_only : bool, default False
        As of :func:`autograd_cy.load`.

    Returns
    -------
    dict

    Raises
    ------
    RuntimeError
        If the contents have another hash.
    urllib.error.URLError
        If the address can't be read. Where there is no network, put the file into `model_dir`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import autograd_cy as ag
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> ag.save({"bias": ag.ones(2)}, folder / "net.pth")
    >>> address = (folder / "net.pth").as_uri()
    >>> ag.hub.load_state_dict_from_url(address, model_dir=folder / "weights", progress=False)
    {'bias': tensor([1., 1.])}
    """
    from autograd_cy.serialization import load as load_file

    folder = Path(get_dir()) / "checkpoints" if model_dir is None else Path(model_dir)
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name if file_name is not None else os.path.basename(urlparse(url).path)
    file = folder / name
    if not file.exists():
        tell(f'Downloading: "{url}" to {file}')
        wanted = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, str(file), wanted and wanted.group(1), progress=progress)
    return load_file(file, map_location=map_location, weights_only=weights_only)


# --- models of a folder -------------------------------------------------------------------------


def _configuration(repo: str, source: str) -> Any:
    """The module ``hubconf.py`` of a folder, whose other modules it can import."""
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        raise RuntimeError(
            f"hub: repositories aren't downloaded here; get {repo} (git clone), and give its "
            "folder with source='local'"
        )
    folder = os.path.expanduser(repo)
    path = os.path.join(folder, "hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"hub: {path} is no module of Python")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    needed = getattr(module, "dependencies", None) or ()
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: Any, model: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    function = getattr(module, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = None,
    verbose: bool = True,
    *,
    source: str = "local",
) -> Any:
    """
    List the models of a folder with a ``hubconf.py``.

    Parameters
    ----------
    github : path
        The folder.
    force_reload, skip_validation, trust_repo, verbose
        Of downloads; without effect.
    source : {'local', 'github'}
        Only folders can be read.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import autograd_cy as ag
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "hubconf.py").write_text("def tiny(scale=1):\\n    return scale\\n")
    >>> ag.hub.list(folder)
    ['tiny']
    """
    module = _configuration(os.fspath(github), source)
    return [
        name for name, value in vars(module).items() if callable(value) and not name.startswith("_")
    ]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = None,
    *,
    source: str = "local",
) -> str | None:
    """
    Return the docstring of a model of a folder with a ``hubconf.py``.

    Parameters
    ----------
    github : path
        The folder.
    model : str
    force_reload, skip_validation, trust_repo
        Of downloads; without effect.
    source : {'local', 'github'}
        Only folders can be read.

    Returns
    -------
    str or None

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import autograd_cy as ag
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "hubconf.py").write_text("def tiny():\\n    'A tiny model.'\\n")
    >>> ag.hub.help(folder, "tiny")
    'A tiny model.'
    """
    return _entry(_configuration(os.fspath(github), source), model).__doc__


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """
    Make a model of a folder with a ``hubconf.py``.

    Parameters
    ----------
    repo_or_dir : path
        The folder.
    model : str
        A function of its ``hubconf.py``, called with the other arguments.
    source : {'github', 'local'}
        Must be ``"local"``: repositories are not downloaded.
    trust_repo, force_reload, verbose, skip_validation
        Of downloads; without effect.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    RuntimeError
        If it would have to be downloaded, or there is no such model.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import autograd_cy as ag
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "hubconf.py").write_text("def tiny(scale=1):\\n    return scale\\n")
    >>> ag.hub.load(folder, "tiny", scale=2, source="local")
    2
    """
    module = _configuration(os.fspath(repo_or_dir), source)
    return _entry(module, model)(*args, **kwargs)
