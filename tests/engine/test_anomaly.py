"""Anomaly mode and the errors that end a search."""

import threading
import warnings

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, detect_anomaly, set_detect_anomaly


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("in backward")


def notes(error):
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


@pytest.fixture(autouse=True)
def _off_afterwards():
    yield
    assert not torch.is_anomaly_enabled()


def test_failing_node_shows_where_it_was_made():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = detect_anomaly()
    with mode:
        y = Fails.apply(leaf(1.0))  # the line to find
        with (
            pytest.warns(UserWarning, match="Error detected in FailsBackward"),
            pytest.raises(ValueError, match="in backward") as caught,
        ):
            y.backward()
    text = notes(caught.value)
    assert "Traceback of forward call that caused the error" in text
    assert "# the line to find" in text


def test_without_forward_information():
    y = Fails.apply(leaf(1.0))
    with (
        set_detect_anomaly(True),
        pytest.warns(UserWarning, match="No forward pass information available"),
        pytest.raises(ValueError),
    ):
        y.backward()


def test_parents_are_shown():
    x = leaf(1.0)
    with set_detect_anomaly(True):
        y = (x * x * 0).sqrt()  # the outer line
        with set_detect_anomaly(True, check_nan=False):
            (g,) = torch.autograd.grad(y, x, create_graph=True)
        with (
            pytest.warns(UserWarning, match="Error detected|Previous calculation") as warned,
            pytest.raises(RuntimeError, match="returned nan values") as caught,
        ):
            g.backward()
    assert "# the outer line" in notes(caught.value)
    failed, induced = (str(w.message) for w in warned)
    assert failed.startswith("Error detected in MulBackward0. Traceback of forward call")
    assert "create_graph=True" in failed and "# the outer line" not in failed
    assert induced.startswith("\n\nPrevious calculation was induced by MulBackward0. Traceback")
    assert "# the outer line" in induced


def test_where_warnings_are_errors_the_error_of_backward_is_raised(capsys):
    x = leaf(0.0)
    with set_detect_anomaly(True):
        y = x * 0 / x
        with pytest.raises(RuntimeError, match="returned nan values"):
            y.backward()
    told = capsys.readouterr().err
    assert told.startswith("UserWarning: Error detected in DivBackward0. Traceback of forward")


def test_nan_check():
    with set_detect_anomaly(True):
        x = leaf(0.0)
        y = x * 0 / x
        with (
            pytest.warns(UserWarning, match="Error detected in DivBackward0"),
            pytest.raises(RuntimeError, match="Function 'DivBackward0' returned nan values in its"),
        ):
            y.backward()
    with set_detect_anomaly(True, check_nan=False):
        x = leaf(0.0)
        (x * 0 / x).backward()
    assert x.grad.isnan().all()
    x = leaf(0.0)
    (x * 0 / x).backward()


def test_switches_nest_and_end():
    assert not torch.is_anomaly_enabled()
    with set_detect_anomaly(True, check_nan=False):
        assert torch.is_anomaly_enabled()
        assert not torch.is_anomaly_check_nan_enabled()
        with set_detect_anomaly(True, check_nan=True):
            assert torch.is_anomaly_check_nan_enabled()
        assert not torch.is_anomaly_check_nan_enabled()
        with set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
    assert torch.is_anomaly_check_nan_enabled()
    mode = set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()
    mode.__exit__(None, None, None)
    with pytest.raises(KeyError), set_detect_anomaly(True):
        raise KeyError


def test_metadata_of_nodes():
    with set_detect_anomaly(True):
        y = leaf(1.0) * 2  # made here
    (*_, last) = y.grad_fn.metadata["traceback_"]
    assert "# made here" in last
    assert (leaf(1.0) * 2).grad_fn.metadata == {}


def test_the_mode_is_that_of_the_process():
    seen = []

    def work():
        seen.append(torch.is_anomaly_enabled())

    with set_detect_anomaly(True):
        t = threading.Thread(target=work)
        t.start()
        t.join()
    assert seen == [True]


def test_inplace_error_names_both_lines():
    with set_detect_anomaly(True):
        x = leaf(1.0, 2.0)
        a = x.exp()  # saved here
        b = a.sum()
        a.add_(1)  # changed here
        with (
            pytest.warns(UserWarning, match="Error detected in ExpBackward0"),
            pytest.raises(RuntimeError, match="modified by an inplace operation") as caught,
        ):
            b.backward()
    text = str(caught.value)
    assert "output 0 of Exp," in text
    assert "[autograd_cy.DoubleTensor [2]]" in text
    saved, _, changed = text.partition("It was last changed here")
    assert "# saved here" in saved
    assert "# changed here" in changed
    assert "(add_)" in changed


def test_inplace_error_without_anomaly_mode_names_the_operations():
    x = leaf(1.0)
    a = x * 1
    b = (a * a).sum()
    with torch.no_grad():
        a[0] = 5
    with pytest.raises(RuntimeError, match="last changed by copy_"):
        b.backward()


def test_backward_twice_names_the_node_and_the_causes():
    x = leaf(1.0)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Specify retain_graph=True") as caught:
        y.backward()
    assert "MulBackward0" in str(caught.value)
    assert "Usual causes" in str(caught.value)
    z = x + x
    z.backward()
    z.backward()


def test_errors_outside_of_nodes_stay_as_they_are():
    with set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="does not require grad"):
            torch.ones(1).backward()


def test_leaves_that_the_collector_watches_can_be_recorded():
    """Attributes make a leaf tracked; so does being a parameter. This crashed."""
    with torch.autograd.set_detect_anomaly(True):
        x = torch.ones(3, requires_grad=True)
        x.note = "mine"
        layer = torch.nn.Linear(3, 1)
        (layer(x).sum() + (x * 2).sum()).backward()
    assert x.grad.tolist() == (layer.weight[0] + 2).tolist()


class WithoutNotes(ValueError):
    """An exception without notes, as in Python 3.10."""

    @property
    def add_note(self):
        raise AttributeError("add_note")


@pytest.mark.parametrize("args", [(), ("in backward",), (3,), ("one", "two")])
def test_an_error_without_notes_has_the_history_in_its_text(args):
    class FailsWithout(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            raise WithoutNotes(*args)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with detect_anomaly(), pytest.raises(WithoutNotes) as caught:
            FailsWithout.apply(leaf(1.0)).backward()
    error = caught.value
    (note,) = error.__notes__
    assert "FailsWithout.apply" in note
    if args == ("in backward",):
        assert error.args == (f"in backward\n{note}",)
    else:
        assert error.args == args
