"""Exception classes and wordings that programs and people look for."""

import warnings

import pytest

import autograd_cy as torch
from autograd_cy.autograd import Function, graph


class Window(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)

    @staticmethod
    def backward(ctx, grad):
        return grad


class SavesResult(Function):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        return ctx.saved_tensors[0]


def leaf():
    return torch.ones(4, requires_grad=True)


# --- views ------------------------------------------------------------------------------------

VIEWS = {
    "Unbind": lambda x: x.unbind()[0],
    "Split": lambda x: x.split(2)[0],
    "Window": Window.apply,
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_that_may_not_be_changed_is_named_by_what_made_it(name):
    view = VIEWS[name](leaf() * 1)
    with pytest.raises(
        RuntimeError, match=f"Output 0 of {name} is a view and is being modified inplace. This view"
    ) as caught:
        view.add_(1)
    assert "The operation was add_ on float32" in str(caught.value)


def test_a_view_whose_base_has_changed_is_named_by_what_made_it():
    x = leaf() * 1
    part = x.split(2)[1]
    x.add_(1)
    with pytest.raises(RuntimeError, match="Output 1 of Split is a view and its base or another"):
        part * 2


@pytest.mark.parametrize(
    ("mode", "words", "way_out"),
    [
        (torch.no_grad, "no_grad mode and is being modified inplace with grad mode", "no_grad"),
        (
            torch.inference_mode,
            "inference mode and is being modified inplace in normal",
            "inference_mode",
        ),
    ],
)
def test_views_made_without_grad_mode_and_views_of_them(mode, words, way_out):
    x = torch.ones(2, 2)
    with mode():
        view = x.view(4)
    further = view.view(2, 2)
    x.requires_grad_()
    way_out = f"either both inside the {way_out} block"
    with pytest.raises(RuntimeError, match=f"^A view was created in {words}.*{way_out}"):
        view.mul_(2)
    with pytest.raises(
        RuntimeError,
        match=f"^Output 0 of View is a view of a view which was created in {words}.*{way_out}",
    ):
        further.mul_(2)


# --- saved tensors ----------------------------------------------------------------------------


def changed_input(x):
    y = x + 1
    z = y * y
    y.add_(1)
    return z


def changed_result(x):
    return x.exp().add_(1)


def changed_result_of_a_function(x):
    return SavesResult.apply(x).add_(1)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (changed_input, "Add"),
        (changed_result, "Exp"),
        (changed_result_of_a_function, "SavesResult"),
    ],
)
def test_a_saved_tensor_that_has_changed_is_named_by_what_made_it(make, name):
    with pytest.raises(RuntimeError, match=f"which is output 0 of {name}, is at version 1;"):
        make(leaf()).sum().backward()


# --- nodes and hooks --------------------------------------------------------------------------


def test_a_node_called_with_the_wrong_gradients():
    one, several = (leaf() ** 2).grad_fn, leaf().unbind()[0].grad_fn
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        one(leaf(), leaf())
    with pytest.raises(TypeError, match="expected 4 arguments, got 1 instead"):
        several(leaf())
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        one(3)


def test_names_of_nodes_that_no_operation_made():
    x = leaf() * 1
    x[:2].mul_(2)
    accumulator = graph.get_gradient_edge(leaf()).node
    assert accumulator.name() == "torch::autograd::AccumulateGrad"
    assert x.grad_fn.name() == "torch::autograd::CopySlices"
    assert type(accumulator).__name__ == "AccumulateGrad"
    assert repr(x).endswith("grad_fn=<CopySlices>)")


def test_data_can_neither_be_deleted_nor_be_something_else():
    x = leaf()
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed. Delete tensor"):
        del x.data
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got NoneType"):
        x.data = None
    assert x.tolist() == [1.0] * 4


# --- edges and unused inputs ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grad", "words"),
    [
        (torch.ones(3), r"Mismatch in shape: grad_output\[0\] has a shape of"),
        (torch.ones(1), r"Mismatch in shape: grad_output\[0\] has a shape of"),
        (torch.ones(4, dtype=torch.complex64), "required to have the same dtype"),
    ],
)
def test_gradients_of_edges_are_checked_like_those_of_tensors(grad, words):
    x = leaf()
    y = x * 2
    for output in (y, graph.get_gradient_edge(y)):
        with pytest.raises(RuntimeError, match=words):
            torch.autograd.grad(output, x, grad_outputs=grad)
        with pytest.raises(RuntimeError, match=words):
            torch.autograd.backward(output, grad)
    assert x.grad is None


def test_unused_inputs_are_named_by_their_index():
    x, w = leaf(), leaf()
    with pytest.raises(
        RuntimeError, match="The differentiated Tensor at index 1 appears to not have been used"
    ):
        torch.autograd.grad(x.sum(), (x, w))


def test_zeros_for_unused_inputs_can_be_differentiated_again_if_a_graph_is_made():
    x, w = leaf(), leaf()

    def zeros(create_graph):
        return torch.autograd.grad(
            (x * x).sum(), (x, w), create_graph=create_graph, materialize_grads=True
        )[1]

    assert not zeros(False).requires_grad
    made = zeros(True)
    assert made.requires_grad and made.tolist() == [0.0] * 4
    assert torch.autograd.grad(made.sum(), w, materialize_grads=True)[0].tolist() == [0.0] * 4


# --- others -----------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [False, True])
def test_strict_hessian_of_what_does_not_depend_on_an_input(other):
    w = leaf()

    def func(*inputs):
        return (inputs[1] ** 2).sum() if other else w.sum()

    inputs = (torch.ones(2), torch.ones(2)) if other else torch.ones(2)
    with pytest.raises(
        RuntimeError,
        match="While computing the hessian, found that the jacobian of the user-provided function "
        "with respect to input 0 is independent of the input",
    ):
        torch.autograd.functional.hessian(func, inputs, strict=True)


@pytest.fixture
def warning_always():
    assert not torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.usefixtures("warning_always")
def test_a_number_made_of_a_tensor_that_requires_grad_warns():
    x = torch.ones(1, requires_grad=True)
    for _ in range(2):
        with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a"):
            assert float(x) == 1.0
    assert float(x.detach()) == x.item() == int(x) == complex(x) == 1
    with torch.no_grad():
        assert float(x) == 1.0


def test_warnings_of_numbers_come_once():
    x = torch.ones(1, requires_grad=True)
    torch.set_warn_always(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        float(x)
    assert float(x) == 1.0  # where a warning would be an error
    with pytest.raises(RuntimeError, match="expects a bool, but got int"):
        torch.set_warn_always(1)


def test_volatile_is_gone():
    x = leaf()
    with pytest.warns(UserWarning, match=r"volatile was removed \(Variable.volatile is always"):
        assert x.volatile is False
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        x.volatile = True
