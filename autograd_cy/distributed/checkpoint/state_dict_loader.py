"""Loading a state on all ranks, whatever the number of ranks that saved it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import autograd_cy as ag
from autograd_cy import Tensor

from . import _folder
from ._tree import decode, encode, items_of, pairs_of, tensors_of, values_of
from .api import Ranks, Refusal, ranks_of
from .filesystem import FileSystemReader
from .stateful import Stateful

__all__ = ["latest", "load"]

#: Returns the tensor of a node.
Tensors = Callable[[dict[str, Any]], Tensor]
#: Gives a value what was read, and returns it.
Assign = Callable[[Tensors], Any]

_SHOWN = 5  # names of a kind in a message


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: str | os.PathLike | None = None,
    storage_reader: FileSystemReader | None = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """
    Load a checkpoint into a state, in place, on all ranks.

    Objects with ``load_state_dict`` get all that was saved of them, of a spread optimizer each rank
    its share; tensors are copied into the tensors of `state_dict`; other values replace those of
    `state_dict`. The number of ranks may be another than it was when the checkpoint was saved.
    Values that differed between ranks are each rank's own again if the number is the same;
    otherwise all get that of the first rank. Names, shapes and checksums are compared before
    anything changes.

    Parameters
    ----------
    state_dict : dict
        The names that are loaded, with values like those that were saved. The checkpoint may have
        more. An empty dict gets all that was saved under its name.
    checkpoint_id : path, optional
        The folder.
    storage_reader : FileSystemReader, optional
        Instead of `checkpoint_id`.
    planner : None
        Not supported.
    process_group : ProcessGroup, optional
        The ranks that load; by default all, or this process if there are no groups.
    no_dist : bool, default False
        Whether this process loads alone, without the others.

    Raises
    ------
    CheckpointException
        If there is no checkpoint, it is damaged, or it is of another model; on all ranks alike.
    ValueError
        If arguments don't go together.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> _ = checkpoint.save({"a": ag.ones(2), "epoch": 3}, checkpoint_id="four")
    >>> state = {"a": ag.zeros(2), "epoch": 0}
    >>> checkpoint.load(state, checkpoint_id="four")
    >>> state
    {'a': tensor([1., 1.]), 'epoch': 3}
    """
    if planner is not None:
        raise ValueError("distributed.checkpoint.load: planners aren't supported; leave it out")
    if storage_reader is None:
        if checkpoint_id is None:
            raise ValueError("distributed.checkpoint.load: give a folder as checkpoint_id")
    elif not isinstance(storage_reader, FileSystemReader):
        kind = type(storage_reader).__name__
        raise ValueError(
            f"distributed.checkpoint.load: storage_reader must be a FileSystemReader, not {kind}"
        )
    ranks = ranks_of(process_group, no_dist, "load")
    if ranks is None:
        return
    if checkpoint_id is not None:
        storage_reader = FileSystemReader(checkpoint_id)
    assert storage_reader is not None
    _load(state_dict, storage_reader, ranks)


def _load(state_dict: dict[str, Any], reader: FileSystemReader, ranks: Ranks) -> None:
    reader.path, content = ranks.at_first(lambda: (reader.path, reader._read_index()))
    tree = values_of(content["tree"], ranks.rank, ranks.size, content["world_size"])
    comparison = _Comparison(reader.path)
    assign = ranks.together(lambda: comparison.compare(tree, state_dict))
    tensors = ranks.together(lambda: reader._read(comparison.needed, content["files"]))

    def give_out() -> None:
        try:
            assign(lambda node: tensors[node["file"], node["tensor"]])
        except Exception as error:
            raise Refusal(
                f"{type(error).__name__}: {str(error).removesuffix('.')}; a part of the state is "
                f"loaded already, so don't train on. The checkpoint {reader.path} is intact"
            ) from error

    with ag.no_grad():
        ranks.together(give_out)


def latest(folder: str | os.PathLike, *, process_group: Any = None) -> Path | None:
    """
    Return the checkpoint in a folder that was saved last.

    Parameters
    ----------
    folder : path
        The folder that has the folders of checkpoints.
    process_group : ProcessGroup, optional
        The ranks that ask; by default all, or this process if there are no groups. The first one
        looks, so that all get the same result.

    Returns
    -------
    Path or None
        None if there is no complete checkpoint, or no such folder.

    Raises
    ------
    CheckpointException
        If the folder can't be read, on all ranks alike.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> checkpoint.latest("series") is None
    True
    >>> for step in (1, 2):
    ...     _ = checkpoint.save({"step": step}, checkpoint_id=f"series/step_{step}")
    >>> checkpoint.latest("series").name
    'step_2'
    """
    ranks = ranks_of(process_group, False, "latest")
    return None if ranks is None else ranks.at_first(lambda: _folder.last_of(Path(folder)))


class _Comparison:
    """A state beside a tree: what has to be read, and where they differ."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.needed: list[dict[str, Any]] = []
        self._missing: list[str] = []
        self._unexpected: list[str] = []
        self._sizes: list[str] = []

    def compare(self, tree: Any, state_dict: dict[str, Any]) -> Assign:
        """Return the function that gives the state what was read.

        Raises
        ------
        Refusal
            If they don't fit.
        """
        assign = self._visit_top(tree, state_dict)
        problems = []
        for text, names in (
            ("Missing key in checkpoint state_dict: ", self._missing),
            ("Unexpected key in checkpoint state_dict: ", self._unexpected),
            ("Size mismatch: ", self._sizes),
        ):
            if names:
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                problems.append(text + ", ".join(names[:_SHOWN]) + more)
        if problems:
            raise Refusal(
                f"the checkpoint {self._path} is of another model or program. "
                f"{'. '.join(problems)}. Load it into what it was saved from, or give the tensors "
                "that both have, by name; nothing was changed"
            )
        return assign

    def _visit_top(self, tree: Any, state_dict: dict[str, Any]) -> Assign:
        if state_dict:
            return self._visit_dict(tree, state_dict, ())
        self.needed += tensors_of(tree)
        return lambda tensors: state_dict.update(decode(tree, tensors))

    def _visit(self, node: Any, target: Any, path: tuple[Any, ...]) -> Assign:
        name = ".".join(map(str, path))
        if isinstance(target, Tensor):
            return self._visit_tensor(node, target, name)
        if isinstance(target, Stateful) and not isinstance(target, type):
            return self._visit_object(node, target, path)
        if isinstance(target, dict) and target:
            return self._visit_dict(node, target, path)
        if isinstance(target, (list, tuple)) and _has_places(target):
            return self._visit_list(node, target, path)
        self.needed += tensors_of(node)
        return lambda tensors: decode(node, tensors)

    def _visit_tensor(self, node: Any, target: Tensor, name: str) -> Assign:
        if not isinstance(node, dict) or "tensor" not in node:
            self._sizes.append(f"{name} is no tensor in the checkpoint")
        elif list(target.shape) != node["shape"]:
            self._sizes.append(
                f"{name} has shape {node['shape']} in the checkpoint and {list(target.shape)} here"
            )
        else:
            self.needed.append(node)

        def assign(tensors: Tensors) -> Any:
            target.detach().copy_(tensors(node))
            return target

        return assign

    def _visit_object(self, node: Any, target: Stateful, path: tuple[Any, ...]) -> Assign:
        if hasattr(target, "named_parameters"):
            self._compare_module(node, target, path)
        elif hasattr(target, "param_groups"):
            self._compare_optimizer(node, target, path)
        needs = getattr(target, "_needs_state", None)
        pairs = pairs_of(node)
        if needs is not None and pairs is not None:
            node = {"dict": [[key, _needed_part(key, each, needs)] for key, each in pairs]}
        self.needed += tensors_of(node)

        def assign(tensors: Tensors) -> Any:
            target.load_state_dict(decode(node, tensors))
            return target

        return assign

    def _compare_module(self, node: Any, module: Any, path: tuple[Any, ...]) -> None:
        """Compare names and shapes, so that no module is loaded in part."""
        prefix = "".join(f"{key}." for key in path)
        saved = {str(key): each for key, each in pairs_of(node) or ()}
        own = module.state_dict()
        self._missing += [prefix + name for name in own if name not in saved]
        self._unexpected += [prefix + name for name in saved if name not in own]
        for name, value in own.items():
            if isinstance(value, Tensor) and name in saved:
                self._visit_tensor(saved[name], value, prefix + name)

    def _compare_optimizer(self, node: Any, optimizer: Any, path: tuple[Any, ...]) -> None:
        """Compare the numbers of parameters, so that no model is loaded without its optimizer."""
        saved = _value_of(node, "param_groups")
        counts = []
        for group in items_of(saved) or ():
            counts.append(len(items_of(_value_of(group, "params")) or ()))
        own = [len(group["params"]) for group in optimizer.param_groups]
        if counts != own:
            name = ".".join(map(str, path))
            self._sizes.append(
                f"{name} has groups of {counts} parameters in the checkpoint and of {own} here"
            )

    def _visit_dict(self, node: Any, target: dict[Any, Any], path: tuple[Any, ...]) -> Assign:
        saved = {json.dumps(key): each for key, each in pairs_of(node) or ()}
        assigns = {}
        for key, value in target.items():
            text = json.dumps(encode(key, (*path, "a key"), {}))
            if text in saved:
                assigns[key] = self._visit(saved[text], value, (*path, key))
            else:
                self._missing.append(".".join(map(str, (*path, key))))

        def assign(tensors: Tensors) -> Any:
            for key, each in assigns.items():
                target[key] = each(tensors)
            return target

        return assign

    def _visit_list(self, node: Any, target: Any, path: tuple[Any, ...]) -> Assign:
        saved = items_of(node)
        if saved is None or len(saved) != len(target):
            length = "no list" if saved is None else f"{len(saved)} elements"
            name = ".".join(map(str, path))
            self._sizes.append(f"{name} has {length} in the checkpoint and {len(target)} here")
            return lambda tensors: target
        assigns = [
            self._visit(each, value, (*path, number))
            for number, (each, value) in enumerate(zip(saved, target))
        ]

        def assign(tensors: Tensors) -> Any:
            values = [each(tensors) for each in assigns]
            if isinstance(target, tuple):
                return tuple(values)
            target[:] = values
            return target

        return assign


def _value_of(node: Any, name: str) -> Any:
    """Return the node of a name in a mapping, None if there is none."""
    return next((each for key, each in pairs_of(node) or () if key == name), None)


def _has_places(values: Any) -> bool:
    """Return whether something in a list is loaded in place."""
    return any(
        isinstance(value, (Tensor, Stateful))
        or (isinstance(value, dict) and _has_places(value.values()))
        or (isinstance(value, (list, tuple)) and _has_places(value))
        for value in values
    )


def _needed_part(key: Any, node: Any, needs: Callable[[Any, Any], bool]) -> Any:
    """Return a mapping without the entries that a rank doesn't need."""
    pairs = pairs_of(node)
    if pairs is None:
        return node
    return {"dict": [[inner, each] for inner, each in pairs if needs(key, inner)]}
