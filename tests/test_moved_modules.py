"""Modules are found by the paths under which torch has them, and cost nothing until they are."""

import collections
import copy
import importlib
import pickle
from importlib.util import find_spec

import programs
import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy._lazy.table import MOVED

# Modules that are where torch has them, and loaded at their first use.
LATER = (
    "__config__",
    "nn._reduction",
    "nn.common_types",
    "nn.grad",
    "nn.modules.utils",
    "utils._pytree",
    "utils.dlpack",
)


def names_of(path):
    return [name.partition("=") for part in MOVED[path] for name in part.partition(": ")[2].split()]


@each("path", MOVED)
def test_names_are_found_by_the_path_of_torch(path):
    module = importlib.import_module(f"autograd_cy.{path}")
    place = ag
    for word in path.split("."):
        place = getattr(place, word)
    assert place is module and find_spec(f"autograd_cy.{path}") is not None
    for name, _, other in names_of(path):
        assert not other or getattr(module, name).__name__ == other
        exec(f"from autograd_cy.{path} import {name}", {})


@each("path", (*MOVED, *LATER, "types", "version"))
def test_torch_has_the_path_and_the_names(path):
    pytest.importorskip("torch")
    if path.startswith("utils.tensorboard"):
        pytest.importorskip("tensorboard")  # without which torch's can't be imported
    theirs = importlib.import_module(f"torch.{path}")
    if path in MOVED:
        wanted = [name for name, *_ in names_of(path)]
    else:
        ours = importlib.import_module(f"autograd_cy.{path}")
        wanted = [name for name in getattr(ours, "__all__", ()) if name != "Storage"]
    assert [name for name in wanted if not hasattr(theirs, name)] == []


def test_classes_are_those_of_nn():
    from autograd_cy.nn.modules.batchnorm import _BatchNorm
    from autograd_cy.nn.modules.conv import Conv2d, _ConvNd
    from autograd_cy.nn.modules.loss import _Loss
    from autograd_cy.nn.modules.rnn import RNNBase

    assert Conv2d is ag.nn.Conv2d and isinstance(Conv2d(1, 1, 1), _ConvNd)
    assert isinstance(ag.nn.BatchNorm1d(2), _BatchNorm) and not isinstance(
        ag.nn.LayerNorm(2), _BatchNorm
    )
    assert isinstance(ag.nn.MSELoss(), _Loss) and isinstance(ag.nn.GRU(1, 1), RNNBase)
    assert pickle.loads(pickle.dumps(Conv2d)) is Conv2d


@each(
    "statement",
    (
        "from autograd_cy.nn.modules.pooling import FractionalMaxPool2d",
        "import autograd_cy.nn.modules.normalization.CrossMapLRN2d",
        "from autograd_cy.optim.sparse_adam import SparseAdam",
        "from autograd_cy.functional import stft",
    ),
)
def test_what_is_missing_there_says_what_to_do(statement):
    with pytest.raises(ImportError, match=r"no counterpart of torch\..*\(.{5,}\)$"):
        exec(statement, {})
    path, _, name = statement.replace(" import ", ".").split()[-1].rpartition(".")
    with pytest.raises(AttributeError, match=r"no counterpart of torch\..*\(.{5,}\)$"):
        getattr(importlib.import_module(path), name)


def test_what_nobody_has_is_the_error_of_python():
    with pytest.raises(ImportError, match="cannot import name 'nothing' from .*modules.conv"):
        from autograd_cy.nn.modules.conv import nothing  # noqa: F401
    with pytest.raises(AttributeError, match=r"nn\.modules\.conv' has no attribute 'nothing'$"):
        ag.nn.modules.conv.nothing
    for package in (ag.nn.modules, ag.utils.data, ag.utils, ag.optim, ag.nn):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'$"):
            package.nothing


def test_the_table_is_read_when_it_is_needed():
    code = (
        "import sys, autograd_cy as torch\n"
        "torch.nn, torch.optim, torch.utils.data\n"
        "print([n for n in sys.modules if n.endswith(('_lazy.table', '_lazy.lookup'))])\n"
        f"print([n for n in {[*LATER, 'types', 'version']} if 'autograd_cy.' + n in sys.modules])"
    )
    assert programs.run("-c", code).stdout.split() == ["[]", "[]"]


# --- the modules that are no other names --------------------------------------------------------


def test_tuples_of_sizes():
    for library in (ag, pytest.importorskip("torch")):
        u = library.nn.modules.utils
        assert (u._single(3), u._pair(3), u._triple(3), u._quadruple(3)) == (
            (3,), (3, 3), (3, 3, 3), (3, 3, 3, 3),
        )  # fmt: skip
        assert u._pair([1, 2, 3]) == (1, 2, 3) and u._ntuple(2, "two").__name__ == "two"
        assert u._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)
        assert u._list_with_default([1, None], [3, 4, 5]) == [1, 5]
        assert u._list_with_default(3, [3]) == 3
        with pytest.raises(ValueError, match="at least 3"):
            u._list_with_default([1, 2], [3])
        state = collections.OrderedDict({"module.a": 1, "b": 2})
        state._metadata = {"module": 1, "module.a": 2, "": 3, "c": 4}
        u.consume_prefix_in_state_dict_if_present(state, "module.")
        assert state == {"a": 1, "b": 2} and state._metadata == {"": 1, "a": 2, "c": 4}


def test_the_version_and_types():
    assert ag.version.cuda is None and ag.version.__version__ == ag.__version__
    assert isinstance(True, ag.types._Number)
    assert ag.types._dtype is ag.dtype and ag.types._device is ag.device
    assert ag.nn.common_types._size_2_t == ag.nn.common_types._scalar_or_tuple_2_t[int]
    assert ag.equal(ag.utils.dlpack.from_dlpack(ag.utils.dlpack.to_dlpack(ag.ones(2))), ag.ones(2))


@each("dims", (1, 2, 3))
def test_gradients_of_convolutions_are_those_of_torch(dims):
    torch = pytest.importorskip("torch")
    options = {"stride": 3, "padding": 1, "dilation": 2, "groups": 2}
    ag.manual_seed(dims)
    x = ag.randn(2, 4, *(8, 9, 7)[:dims], dtype=ag.float64)
    w = ag.randn(6, 2, *(2, 3, 2)[:dims], dtype=ag.float64)
    out = getattr(ag.nn.functional, f"conv{dims}d")(x, w, None, *options.values())
    g = ag.randn(out.shape, dtype=ag.float64)
    t = [torch.from_numpy(y.numpy()) for y in (x, w, g)]
    ours, theirs = ag.nn.grad, torch.nn.grad
    for name, args, others in (
        ("input", (x.shape, w, g), (t[0].shape, t[1], t[2])),
        ("weight", (x, w.shape, g), (t[0], t[1].shape, t[2])),
    ):
        found = getattr(ours, f"conv{dims}d_{name}")(*args, **options)
        expected = getattr(theirs, f"conv{dims}d_{name}")(*others, **options)
        assert found.shape == expected.shape and not found.requires_grad
        assert ag.allclose(found, ag.from_numpy(expected.numpy()))
    x.requires_grad_()
    found = getattr(ours, f"conv{dims}d_weight")(x, w.shape, g, **options)
    assert found.requires_grad and found.shape == w.shape


Point = collections.namedtuple("Point", "x y")
TREES = (
    {"b": 1, "a": [2, (3,)]}, None, 5, [None], Point(1, 2), collections.deque([1, 2], maxlen=4),
    collections.OrderedDict(a=1), collections.defaultdict(list, a=1), (), {"a": {}},
)  # fmt: skip


@each("tree", TREES)
def test_containers_are_taken_apart_as_in_torch(tree):
    from autograd_cy.utils import _pytree as ours

    leaves, spec = ours.tree_flatten(tree)
    again = ours.tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert ours.tree_structure(tree) == spec and ours.tree_leaves(tree) == leaves
    doubled = ours.tree_map(lambda x: [x], tree)
    assert ours.tree_leaves(doubled) == leaves
    pytest.importorskip("torch")
    theirs = importlib.import_module("torch.utils._pytree")
    expected, other = theirs.tree_flatten(tree)
    assert leaves == expected and repr(spec) == repr(other)
    for name in ("num_leaves", "num_nodes", "num_children"):
        assert getattr(spec, name) == getattr(other, name)
    assert spec.is_leaf() == other.is_leaf()


def test_functions_of_containers_and_their_refusals_are_those_of_torch():
    libraries = [importlib.import_module("autograd_cy.utils._pytree")]
    pytest.importorskip("torch")
    libraries.append(importlib.import_module("torch.utils._pytree"))
    for p in libraries:
        assert p.tree_map(lambda a, b: a + b, [1, (2,)], [3, (4,)]) == [4, (6,)]
        assert p.tree_map_only(int, lambda x: x + 1, [1, "a", True]) == [2, "a", 2]
        assert p.tree_map(str, [1, (2,)], is_leaf=lambda x: type(x) is tuple) == ["1", "(2,)"]
        assert p.tree_all(bool, [1, [2]]) and not p.tree_any(bool, [0, []])
        assert p.tree_all_only(int, bool, [1, ""]) and not p.tree_any_only(str, bool, [1, ""])
        seen = []
        tree = {"a": 1, "b": ("x",)}
        assert p.tree_map_(seen.append, tree) is tree and seen == [1, "x"]
        assert p.tree_map_only_(str, seen.append, tree) is tree and seen == [1, "x", "x"]
        spec = p.tree_structure([1, 2])
        for call, error, match in (
            (lambda: p.tree_unflatten([1], spec), ValueError, "has length 1 but .* 2 items"),
            (lambda: p.tree_unflatten([1, 2], 3), TypeError, "instance of PyTreeSpec"),
            (lambda: p.tree_map(max, [1, 2], [3, 4, 5]), ValueError, "arity mismatch; expected 2"),
            (lambda: p.tree_map(max, [1, 2], (3, 4)), ValueError, "type mismatch; expected <class"),
            (lambda: p.tree_map(max, {"a": 1}, {"b": 2}), ValueError, "missing key.*extra key"),
        ):
            with pytest.raises(error, match=match):
                call()

        class Pair:
            def __init__(self, a, b):
                self.parts = a, b

        p.register_pytree_node(Pair, lambda x: (list(x.parts), None), lambda xs, _: Pair(*xs))
        assert p.tree_map(lambda x: x + 1, [Pair(1, 2)])[0].parts == (2, 3)
        with pytest.raises(ValueError, match="already registered"):
            p.register_pytree_node(Pair, lambda x: (list(x.parts), None), lambda xs, _: Pair(*xs))


def test_sizes_are_containers_of_numbers_as_in_torch():
    torch = pytest.importorskip("torch")
    for library in (ag, torch):
        p = importlib.import_module(f"{library.__name__}.utils._pytree")
        shape = library.ones(2, 3).shape
        mapped = p.tree_map(lambda n: n + 1, [shape])
        assert mapped == [(3, 4)] and type(mapped[0]) is tuple
        assert p.tree_leaves(shape) == [2, 3] and not p.tree_is_leaf(shape)
        assert repr(p.tree_structure(shape)).startswith("TreeSpec(Size, None, [*")
        with pytest.raises(ValueError, match="ype mismatch; expected <class .*Size'>"):
            p.tree_map(max, shape, (1, 2))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_specifications_are_keys_and_have_classes_as_in_torch():
    torch = pytest.importorskip("torch")
    for library in (ag, torch):
        p = importlib.import_module(f"{library.__name__}.utils._pytree")
        for make in (
            lambda n: {"a": n, "b": [n, (n,)]},
            lambda n: collections.defaultdict(list, a=n),
            lambda n: collections.deque([n], maxlen=4),
            lambda n: n,
        ):
            spec, other = p.tree_structure(make(1)), p.tree_structure(make(2))
            assert spec == other and {spec: "found"}[other] == "found"
            assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
            assert isinstance(spec, p.LeafSpec) == spec.is_leaf() == (spec == p.LeafSpec())
        assert p.tree_structure({"a": 1, "b": 2}) != p.tree_structure({"b": 2, "a": 1})
        assert p.tree_structure([1]) != p.tree_structure((1,)) and p.LeafSpec() != 3
        assert issubclass(p.LeafSpec, p.TreeSpec) and repr(p.LeafSpec()) == "*"
        assert p.tree_unflatten([5], p.LeafSpec()) == 5


def test_samples_are_put_together_by_functions_of_the_user():
    for library in (ag, pytest.importorskip("torch")):
        c = importlib.import_module(f"{library.__name__}.utils.data._utils.collate")

        class Own:
            pass

        def own(batch, *, collate_fn_map):
            assert collate_fn_map[Own] is own
            return len(batch)

        assert c.collate([(Own(), [Own()]), (Own(), [Own()])], collate_fn_map={Own: own}) == [
            2,
            [2],
        ]
        with pytest.raises(TypeError, match="must contain"):
            c.collate([1])
        with pytest.raises(TypeError, match="must contain"):
            c.default_collate([Own()])
        c.default_collate_fn_map[Own] = own
        try:
            assert c.default_collate([{"a": Own(), "b": 1}])["a"] == 1
        finally:
            del c.default_collate_fn_map[Own]
        assert c.collate_tensor_fn([library.ones(2), library.zeros(2)]).tolist() == [[1, 1], [0, 0]]


def test_texts_of_tensors_are_put_together_as_in_torch():
    from autograd_cy import _tensor_str as parts

    x = ag.tensor([[1.0, 2.5]], requires_grad=True)
    assert parts._tensor_str(x, 2) == "[[1.0000, 2.5000]]"
    assert parts._add_suffixes("x(1", ["a=2", "b=3"], 2) == "x(1, a=2, b=3)"
    assert parts._add_suffixes("x(1", ["a=2"], 2, True) == "x(1,\n  a=2)"
    assert parts.PRINT_OPTS.threshold == 1000
    ag.set_printoptions(threshold=7)
    try:
        assert parts.PRINT_OPTS.threshold == 7
    finally:
        ag.set_printoptions(profile="default")
