"""Saving a state from all ranks."""

from __future__ import annotations

import hashlib
import json
import math
import os
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn

from . import _folder
from ._tree import dtype_of, encode, merge, tensors_of
from .api import CheckpointException, Ranks, ranks_of
from .filesystem import FileSystemWriter, absolute, metadata_of
from .metadata import Metadata

__all__ = ["save"]


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
    keep: int | None = None,
) -> Metadata | None:
    """
    Save a state to a folder, from all ranks together.

    Tensors that all ranks have are dealt over the ranks, so that each is written once; what only
    some ranks have, as the state of
    :class:`~autograd_cy.distributed.optim.ZeroRedundancyOptimizer`, is written by one of them.
    Values that differ between ranks under one name are all saved. The folder appears when it is
    complete: a job that is killed, or a disk that is full, leaves the checkpoints as they were.

    Parameters
    ----------
    state_dict : dict
        Tensors, numbers, texts, dicts, lists and tuples of them, and objects with ``state_dict``
        and ``load_state_dict``: modules, optimizers, schedules, scalers,
        :class:`~autograd_cy.utils.data.StatefulDataLoader`, :class:`RandomState`.
    checkpoint_id : path, optional
        The folder, on a file system that all nodes share.
    storage_writer : FileSystemWriter, optional
        Instead of `checkpoint_id`.
    planner : None
        Not supported.
    process_group : ProcessGroup, optional
        The ranks that save; by default all, or this process if there are no groups.
    no_dist : bool, default False
        Whether this process saves alone, without the others.
    use_collectives : bool, default True
        Only True is supported.
    keep : int, optional
        The number of checkpoints to keep of those whose names differ in the number at the end,
        this one included; older ones are removed. By default all stay.

    Returns
    -------
    Metadata
        The description of the tensors. None on a rank outside of the group.

    Raises
    ------
    CheckpointException
        If it can't be saved, on all ranks alike.
    ValueError
        If arguments don't go together.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> model = ag.nn.Linear(2, 1)
    >>> optimizer = ag.optim.Adam(model.parameters())
    >>> state = {"model": model, "optimizer": optimizer, "step": 10}
    >>> _ = checkpoint.save(state, checkpoint_id="run/step_10", keep=3)
    >>> state = {"model": model, "optimizer": optimizer, "step": 0}
    >>> checkpoint.load(state, checkpoint_id=checkpoint.latest("run"))
    >>> state["step"]
    10
    """
    if planner is not None:
        raise ValueError("distributed.checkpoint.save: planners aren't supported; leave it out")
    if not use_collectives:
        raise ValueError("distributed.checkpoint.save: ranks save together; leave it out")
    if not isinstance(state_dict, dict):
        kind = type(state_dict).__name__
        raise ValueError(f"distributed.checkpoint.save: state_dict must be a dict, not {kind}")
    writer = _writer_of(checkpoint_id, storage_writer)
    _folder.check_keep(writer.path, keep)
    ranks = ranks_of(process_group, no_dist, "save")
    if ranks is None:
        return None
    tensors: dict[str, Tensor] = {}
    with ag.no_grad():
        node = ranks.together(lambda: encode({**state_dict}, (), tensors))
    parts = _gather(ranks, node["dict"])
    content = ranks.at_first(lambda: _plan(parts, ranks.size))
    own = _folder.file_name(ranks.rank)
    # Ranks with the same value under one name share a node.
    written = {each["tensor"]: each for each in tensors_of(content["tree"]) if each["file"] == own}
    nodes = sorted(written.values(), key=lambda each: each["offset"])
    owner = ranks.at_first(lambda: _folder.prepare(writer.path, writer.overwrite))
    try:
        ranks.together(lambda: writer._write(nodes, tensors, ranks.rank))
        ranks.at_first(lambda: _folder.finish(writer.path, content, writer.sync_files, owner))
    except CheckpointException:
        if ranks.rank == 0:
            _folder.give_up(writer.path, owner)
        raise
    if keep is not None and ranks.rank == 0:
        _remove_old(writer.path, keep)
    return metadata_of(content)


def _writer_of(
    checkpoint_id: str | os.PathLike | None, storage_writer: FileSystemWriter | None
) -> FileSystemWriter:
    if storage_writer is None:
        if checkpoint_id is None:
            raise ValueError("distributed.checkpoint.save: give a folder as checkpoint_id")
        return FileSystemWriter(checkpoint_id)
    if not isinstance(storage_writer, FileSystemWriter):
        kind = type(storage_writer).__name__
        raise ValueError(
            f"distributed.checkpoint.save: storage_writer must be a FileSystemWriter, not {kind}"
        )
    if checkpoint_id is not None:
        storage_writer.path = absolute(checkpoint_id)
    return storage_writer


def _gather(ranks: Ranks, pairs: list[Any]) -> list[Any]:
    """Return the trees of all ranks on the first one.

    What a rank has as the first one has it isn't sent, and is the same object in both trees.
    """
    digests = [hashlib.sha256(json.dumps(pair).encode()).digest() for pair in pairs]
    common = ranks.broadcast(digests)
    places = {digest: number for number, digest in enumerate(common)}
    own = [places.get(digest, pair) for digest, pair in zip(digests, pairs)]
    gathered = ranks.gather(pairs if ranks.rank == 0 else own)
    return [
        {"dict": [pairs[each] if isinstance(each, int) else each for each in part]}
        for part in gathered
    ]


def _plan(parts: list[Any], size: int) -> dict[str, Any]:
    """Return the content of the index: each tensor has one rank that writes it, and a place."""
    stored: list[tuple[dict[str, Any], list[int]]] = []
    tree = merge(list(enumerate(parts)), stored)
    for node, _ in stored:
        node["nbytes"] = math.prod(node["shape"]) * dtype_of(node["dtype"]).itemsize
    loads = [0] * size
    for node, owners in sorted(stored, key=lambda pair: (len(pair[1]) > 1, -pair[0]["nbytes"])):
        rank = min(owners, key=lambda each: (loads[each], each))
        loads[rank] += node["nbytes"]
        node["file"] = _folder.file_name(rank)
    by_file: dict[str, list[dict[str, Any]]] = {}
    for node, _ in stored:
        by_file.setdefault(node["file"], []).append(node)
    files = {}
    for name, nodes in sorted(by_file.items()):
        # Wide elements first, so that each tensor is aligned to its elements.
        nodes.sort(key=lambda node: -dtype_of(node["dtype"]).itemsize)
        offset = 0
        for node in nodes:
            node["offset"] = offset
            offset += node["nbytes"]
        begin = len(_folder.header_of(nodes))
        files[name] = {"data": begin, "bytes": begin + offset}
    return {"world_size": size, "files": files, "tree": tree}


def _remove_old(path: Any, keep: int) -> None:
    try:
        _folder.remove_old(path, keep)
    except OSError as error:
        _warn(
            f"distributed.checkpoint.save: {path} is saved, and an older one can't be removed: "
            f"{error}"
        )
