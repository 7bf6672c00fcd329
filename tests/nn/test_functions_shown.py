"""The functions and arguments of nn.functional that overriding objects and modes are shown."""

import contextlib
import inspect

import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F

HAND_ON = {
    "alpha_dropout": lambda F, x: F.alpha_dropout(x, 0.3),
    "celu": lambda F, x: F.celu(x),
    "cross_entropy": lambda F, x: F.cross_entropy(x, x),
    "dropout": lambda F, x: F.dropout(x, training=True),
    "embedding": lambda F, x: F.embedding(x, x),
    "feature_alpha_dropout": lambda F, x: F.feature_alpha_dropout(x, 0.3, True),
    "gelu": lambda F, x: F.gelu(x),
    "log_softmax": lambda F, x: F.log_softmax(x, 0),
    "max_pool1d": lambda F, x: F.max_pool1d(x, 2),
    "max_pool1d_with_indices": lambda F, x: F.max_pool1d(x, 2, return_indices=True),
    "max_pool2d": lambda F, x: F.max_pool2d(x, 2),
    "max_pool2d_with_indices": lambda F, x: F.max_pool2d(x, 2, return_indices=True),
    "nll_loss": lambda F, x: F.nll_loss(x, x),
    "relu": lambda F, x: F.relu(x, inplace=True),
    "rrelu": lambda F, x: F.rrelu(x, inplace=True),
    "selu": lambda F, x: F.selu(x),
    "silu": lambda F, x: F.silu(x),
    "softmax": lambda F, x: F.softmax(x, dim=0),
    "threshold": lambda F, x: F.threshold(x, 0.1, 20.0),
    "interpolate": lambda F, x: F.upsample_nearest(x, 2),
}


class Shown:
    """An object that keeps what it is shown."""

    calls = []  # noqa: RUF012 - of all of them

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((func, args, kwargs))
        return cls()

    def dim(self):
        return 2

    def size(self, *dim):
        return 2 if dim else (2, 3)

    shape = (2, 3)
    requires_grad = is_sparse = is_nested = False


@pytest.mark.filterwarnings("ignore")
def test_functions_show_themselves_and_not_the_operator_they_hand_on_to():
    for name, call in HAND_ON.items():
        Shown.calls.clear()
        assert isinstance(call(F, Shown()), Shown)
        ((func, args, _),) = Shown.calls
        assert func is getattr(F, name), name
        assert isinstance(args[0], Shown)


def test_arguments_are_those_of_the_function():
    x = Shown()
    Shown.calls.clear()
    F.relu(x, inplace=True)
    assert Shown.calls.pop() == (F.relu, (x,), {"inplace": True})
    F.threshold(x, 0.1, 20.0)
    assert Shown.calls.pop() == (F.threshold, (x, 0.1, 20.0), {"inplace": False})
    F.dropout(x)
    assert Shown.calls.pop() == (F.dropout, (x,), {"p": 0.5, "training": True, "inplace": False})
    ag.relu(x)
    assert Shown.calls.pop() == (ag.relu, (x,), {})


def test_what_is_shown_can_be_called():
    shown = []

    class Seen(ag.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            shown.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    class Mode(ag.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            shown.append(func)
            return func(*args, **(kwargs or {}))

    x = ag.tensor([-1.0, 2.0])
    found = F.relu(x.as_subclass(Seen))
    assert type(found) is Seen and found.tolist() == [0.0, 2.0] and F.relu in shown
    assert ag.relu not in shown
    shown.clear()
    with Mode():
        assert F.relu(x).tolist() == [0.0, 2.0]
        assert F.softmax(x, 0).sum().item() == pytest.approx(1.0)
        assert F.max_pool1d(x[None], 2, return_indices=True)[1].tolist() == [[1]]
    assert [f for f in shown if inspect.isfunction(f)] == [
        F.relu,
        F.softmax,
        F.max_pool1d_with_indices,
    ]
    shown.clear()
    with Mode():
        assert ag.relu(x).tolist() == [0.0, 2.0]
    assert shown == [ag.relu, ag.Tensor.tolist]


def test_operators_that_a_function_uses_on_its_way_are_not_taken_for_it():
    class Counts(ag.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is F.embedding:
                return "embedding"
            return super().__torch_function__(func, types, args, kwargs)

    weight = ag.ones(3, 2).as_subclass(Counts)
    assert F.embedding(ag.tensor([0]), weight, padding_idx=-1) == "embedding"


@pytest.mark.filterwarnings("ignore")
def test_sigmoid_and_tanh_are_methods_to_classes():
    class Own:
        def sigmoid(self):
            return "sigmoid"

        def tanh(self):
            return "tanh"

    assert F.sigmoid(Own()) == "sigmoid" and F.tanh(Own()) == "tanh"


@pytest.mark.filterwarnings("ignore")
def test_functions_show_what_torch_shows():
    torch = pytest.importorskip("torch")
    more = ([], [1], [Shown()], [Shown()] * 2, [Shown(), 1], [Shown()] * 4, [(1, 1)], [2, 2])
    more = (*more, [0.1, 0.1], [Shown()] * 3, [1, 1, 1])

    def name_shown(functional, name):
        """Return the name of the first call that some arguments lead to; `itself` for the
        function."""
        for rest in more:
            Shown.calls.clear()
            with contextlib.suppress(Exception):  # the arguments were none
                getattr(functional, name)(Shown(), *rest)
            if Shown.calls:
                func = Shown.calls[0][0]
                return "itself" if func is getattr(functional, name) else func.__name__
        return "nothing"

    theirs = torch.nn.functional
    names = [n for n in dir(theirs) if n.islower() and not n.startswith("_")]
    names = [n for n in names if hasattr(F, n) and callable(getattr(theirs, n))]
    assert len(names) > 100
    for name in names:
        if inspect.isclass(getattr(theirs, name)) or name == "multi_head_attention_forward":
            continue  # torch reads more of its tensors first
        assert name_shown(F, name) == name_shown(theirs, name), name
