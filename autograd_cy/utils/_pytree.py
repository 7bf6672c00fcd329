"""Nested containers taken apart, mapped and rebuilt, by the names of ``torch.utils._pytree``."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, NamedTuple

from autograd_cy import Size
from autograd_cy._C._warned import warn as _warn

PyTree = Any
Context = Any
_IsLeaf = Callable[[Any], bool] | None


class NodeDef(NamedTuple):
    """The functions that take containers of a type apart and make them again."""

    type: type
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]


def _flatten_mapping(x: Any) -> tuple[list[Any], Context]:
    return list(x.values()), list(x)


def _unflatten_defaultdict(values: Iterable[Any], context: Context) -> Any:
    return defaultdict(context[0], zip(context[1], values))


class namedtuple:  # stands for all classes of named tuples
    """The type of a `TreeSpec` of a named tuple, whose class is the context."""


SUPPORTED_NODES: dict[type, NodeDef] = {
    kind: NodeDef(kind, flatten, unflatten)
    for kind, flatten, unflatten in (
        (tuple, lambda x: (list(x), None), lambda values, _: tuple(values)),
        (list, lambda x: (x, None), lambda values, _: list(values)),
        (dict, _flatten_mapping, lambda values, keys: dict(zip(keys, values))),
        (OrderedDict, _flatten_mapping, lambda values, keys: OrderedDict(zip(keys, values))),
        (
            defaultdict,
            lambda x: (list(x.values()), [x.default_factory, list(x)]),
            _unflatten_defaultdict,
        ),
        (deque, lambda x: (list(x), x.maxlen), lambda values, most: deque(values, maxlen=most)),
        (namedtuple, lambda x: (list(x), type(x)), lambda values, kind: kind(*values)),
        # A function of numbers may return anything.
        (Size, lambda x: (list(x), None), lambda values, _: tuple(values)),
    )
}

# --- parts with their keys ----------------------------------------------------------------------


@dataclass(frozen=True)
class SequenceKey:
    """The place of a part of a sequence; its text is how the part is reached."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the part."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The key of a part of a mapping."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the part."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The name of a part that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the part."""
        return getattr(obj, self.name)


KeyEntry = Any


def keystr(kp: Iterable[Any]) -> str:
    """Return how a part is reached by its keys."""
    return "".join(map(str, kp))


def _sequence_with_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    """Take a sequence apart, each part with its place."""
    values, context = SUPPORTED_NODES[_node_type(x)].flatten_fn(x)
    return [(SequenceKey(i), value) for i, value in enumerate(values)], context


def _mapping_with_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    """Take a mapping apart, each part with its key."""
    values, context = SUPPORTED_NODES[_node_type(x)].flatten_fn(x)
    return [(MappingKey(key), value) for key, value in zip(x, values, strict=True)], context


def _namedtuple_flatten_with_keys(x: Any) -> tuple[list[tuple[Any, Any]], Context]:
    """Take a named tuple apart, each part with its name."""
    values, context = SUPPORTED_NODES[namedtuple].flatten_fn(x)
    return [
        (GetAttrKey(name), value) for name, value in zip(x._fields, values, strict=True)
    ], context


# The names by which other packages import them.
_tuple_flatten_with_keys = _list_flatten_with_keys = _deque_flatten_with_keys = _sequence_with_keys
_dict_flatten_with_keys = _ordereddict_flatten_with_keys = _mapping_with_keys
_defaultdict_flatten_with_keys = _mapping_with_keys

_MAPPINGS = dict, OrderedDict, defaultdict


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    **options: Any,
) -> None:
    """Let the functions of this module take apart objects of a class.

    Parameters
    ----------
    cls : type
    flatten_fn : callable
        Gets an object and returns its parts, and what else makes it again.
    unflatten_fn : callable
        Gets the parts and that, and returns an object.
    **options
        How specifications are written and keys are named; they change nothing here.

    Raises
    ------
    ValueError
        If the class is registered already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


def _register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    **options: Any,
) -> None:
    """Register a class, as :func:`register_pytree_node` does; the older name, which warns."""
    _warn(
        "`_register_pytree_node` is deprecated. Please use `register_pytree_node` instead.",
        FutureWarning,
    )
    if cls in SUPPORTED_NODES:
        _warn(
            f"{cls} is already registered as pytree node. Overwriting the previous registration.",
            UserWarning,
        )
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


@dataclass(frozen=True, eq=False)
class TreeSpec:
    """The nesting of a container: the types, the rest that makes them again, and places of
    leaves."""

    type: Any
    context: Context
    children_specs: list[TreeSpec]
    num_nodes: int = field(init=False)
    num_leaves: int = field(init=False)
    num_children: int = field(init=False)

    def __post_init__(self) -> None:
        inner = self.children_specs
        leaf = self.type is None
        object.__setattr__(self, "num_nodes", 1 + sum(s.num_nodes for s in inner))
        object.__setattr__(self, "num_leaves", 1 if leaf else sum(s.num_leaves for s in inner))
        object.__setattr__(self, "num_children", len(inner))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (self.type, self.context, self.children_specs) == (
            other.type,
            other.context,
            other.children_specs,
        )

    def __hash__(self) -> int:
        # What else makes a container again may have no hash, as a list of keys hasn't.
        return hash((self.type, tuple(self.children_specs)))

    def __repr__(self, indent: int = 0) -> str:
        if self.is_leaf():
            return "*"
        start = f"TreeSpec({self.type.__name__}, {self.context}, ["
        indent += 2
        inner = f",\n{' ' * indent}".join(s.__repr__(indent) for s in self.children_specs)
        return f"{start}{inner}])"

    def is_leaf(self) -> bool:
        """Return whether it is that of a leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """Return the specifications of the parts."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """Return the specification of a part."""
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Return the container with these leaves."""
        values = list(leaves)
        if len(values) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(values)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(values))

    def _build(self, leaves: Iterator[Any]) -> PyTree:
        if self.is_leaf():
            return next(leaves)
        parts = [s._build(leaves) for s in self.children_specs]
        return SUPPORTED_NODES[self.type].unflatten_fn(parts, self.context)

    def flatten_up_to(self, tree: PyTree) -> list[PyTree]:
        """Return the parts of another container in the places of the leaves."""
        if self.is_leaf():
            return [tree]
        kind = _node_type(tree)
        both = self.type in _MAPPINGS and kind in _MAPPINGS
        if kind is not self.type and not both:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        parts, context = _apart(tree, kind)
        if len(parts) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(parts)}."
            )
        if both:
            keys = self.context[1] if self.type is defaultdict else self.context
            missing, extra = set(keys) - set(tree), set(tree) - set(keys)
            if missing or extra:
                raise ValueError(
                    "Node keys mismatch"
                    + (f"; missing key(s): {missing}" if missing else "")
                    + (f"; extra key(s): {extra}" if extra else "")
                    + "."
                )
            parts = [tree[key] for key in keys]
        elif self.type is not deque and context != self.context:
            raise ValueError(f"Node context mismatch for custom node type {self.type!r}.")
        return [x for s, part in zip(self.children_specs, parts) for x in s.flatten_up_to(part)]


PyTreeSpec = TreeSpec


class LeafSpec(TreeSpec):
    """The specification of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF_SPEC = LeafSpec()


def _node_type(tree: Any) -> Any:
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return namedtuple
    return kind


def _apart(tree: Any, kind: Any) -> tuple[list[Any], Context]:
    parts, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return list(parts), context


_get_node_type = _node_type  # which other packages import


def tree_is_leaf(tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return whether this is no container, or called a leaf.

    Examples
    --------
    >>> tree_is_leaf(3), tree_is_leaf([3])
    (True, False)
    """
    return (is_leaf is not None and bool(is_leaf(tree))) or _node_type(tree) not in SUPPORTED_NODES


def tree_flatten(tree: PyTree, is_leaf: _IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a container in order, and how it is nested.

    Parameters
    ----------
    tree : object
    is_leaf : callable, optional
        Says of a container whether it is taken as a leaf.

    Returns
    -------
    list
    TreeSpec

    Examples
    --------
    >>> leaves, spec = tree_flatten({"a": 1, "b": [2, 3]})
    >>> leaves, tree_unflatten([x * 2 for x in leaves], spec)
    ([1, 2, 3], {'a': 2, 'b': [4, 6]})
    """
    leaves: list[Any] = []
    return leaves, _collected(tree, leaves, is_leaf)


def _collected(tree: PyTree, leaves: list[Any], is_leaf: _IsLeaf) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF_SPEC
    kind = _node_type(tree)
    parts, context = _apart(tree, kind)
    return TreeSpec(kind, context, [_collected(x, leaves, is_leaf) for x in parts])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Return the container whose specification `tree_flatten` returned, with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: _IsLeaf = None) -> Iterable[Any]:
    """Go over the leaves."""
    yield from tree_flatten(tree, is_leaf)[0]


def tree_leaves(tree: PyTree, is_leaf: _IsLeaf = None) -> list[Any]:
    """Return the leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: _IsLeaf = None) -> TreeSpec:
    """Return the nesting of a container."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None
) -> PyTree:
    """Return the container with a function applied to each leaf.

    Parameters
    ----------
    func : callable
        Of a leaf, and of what `rests` have in its place.
    tree : object
    *rests : object
        Nested like `tree`, at least as deep.
    is_leaf : callable, optional
        Says of a container whether it is taken as a leaf.

    Returns
    -------
    object

    Examples
    --------
    >>> tree_map(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"a": 10, "b": (20,)})
    {'a': 11, 'b': (22,)}
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *map(spec.flatten_up_to, rests)))


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: _IsLeaf = None
) -> PyTree:
    """Apply a function to each leaf, and return the container as it is."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for _ in map(func, leaves, *map(spec.flatten_up_to, rests)):
        pass
    return tree


def _chosen(which: Any) -> Callable[[Any], bool]:
    if isinstance(which, (type, tuple, UnionType)):
        return lambda x: isinstance(x, which)
    if callable(which):
        return which
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def tree_map_only(
    type_or_types_or_pred: Any,
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: _IsLeaf = None,
) -> PyTree:
    """Return the container with a function applied to the leaves of a type.

    Examples
    --------
    >>> tree_map_only(int, lambda x: x + 1, [1, "a"])
    [2, 'a']
    """
    chosen = _chosen(type_or_types_or_pred)
    return tree_map(lambda x: func(x) if chosen(x) else x, tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any,
    /,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: _IsLeaf = None,
) -> PyTree:
    """Apply a function to the leaves of a type, and return the container as it is."""
    chosen = _chosen(type_or_types_or_pred)
    return tree_map_(lambda x: func(x) if chosen(x) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return whether something holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None) -> bool:
    """Return whether something holds for any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None
) -> bool:
    """Return whether something holds for all leaves of a type."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: _IsLeaf = None
) -> bool:
    """Return whether something holds for any leaf of a type."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))
