"""explain_grad: the words name the cause."""

import pytest

import autograd_cy as torch


def explain(*args):
    """The text on one line, however it was wrapped."""
    return " ".join(torch.explain_grad(*args).split())


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


# --- no gradient, seen from the tensor alone ------------------------------------------------------


def test_a_tensor_that_does_not_require_grad():
    text = explain(torch.ones(2))
    assert "(shape (2,), float32) doesn't require grad." in text
    assert all(word in text for word in ("no_grad()", "detach()", ".data", "requires_grad_()"))


def test_an_integer_tensor_can_not():
    text = explain(torch.ones(2, dtype=torch.int64))
    assert "int64) doesn't require grad, and can't" in text and "floating and complex" in text


def test_a_result_under_no_grad():
    x = leaf(2)
    with torch.no_grad():
        text = explain(x * 2)
    assert "no_grad()" in text and "Grad mode is off in this thread now" in text


def test_a_tensor_of_inference_mode():
    with torch.inference_mode():
        t = torch.ones(2)
    assert "made in inference mode" in explain(t) and "clone() it outside" in explain(t)


def test_a_non_leaf_needs_retain_grad():
    x = leaf(3)
    y = x * 2
    text = explain(y)
    assert "isn't a leaf, it was computed by MulBackward0." in text
    assert "retain_grad()" in text and "autograd.grad(output, tensor)" in text
    assert "made directly of a leaf (shape (3,), float32)" in text
    assert "made directly" not in explain(y.exp())


def test_which_output_of_an_operation():
    assert "computed by UnbindBackward0, output 1." in explain(leaf(2, 2).unbind(0)[1])


def test_a_non_leaf_with_retain_grad_waits_for_backward():
    y = leaf(3) * 2
    y.retain_grad()
    assert "backward() from what is computed of it hasn't run yet" in explain(y)
    y.sum().backward()
    text = explain(y)
    assert text.startswith("grad is a tensor") and "because of retain_grad()" in text


def test_views_name_their_base():
    x = leaf(3)
    assert "view of a leaf (shape (3,), float32), whose grad covers this part" in explain(x[:2])
    y = x * 2
    assert "view of a tensor (shape (3,), float32) that isn't a leaf either" in explain(y[:2])
    assert "view of a tensor (shape (4,), float32) that doesn't require" in explain(
        torch.zeros(4)[:1]
    )
    with torch.no_grad():
        part = x[:1]
    assert "is a view of another (shape (3,), float32), made under no_grad()" in explain(part)


def test_a_leaf_that_was_not_used():
    text = explain(leaf(2))
    assert "is a leaf that requires grad" in text
    assert "No recorded operation that took it as input exists now" in text


def test_a_leaf_whose_results_live_waits_for_backward():
    x = leaf(2)
    one = x * 2
    assert "1 recorded operation still exists that took it as input" in explain(x)
    two = x + one
    assert "2 recorded operations still exist" in explain(x)
    with torch.no_grad():
        assert "2 recorded operations still exist" in explain(x)
    del one, two
    assert "No recorded operation" in explain(x)


def test_asking_changes_nothing():
    x = leaf(2)
    loss = (x * x).sum()
    torch.explain_grad(x, loss)
    assert x.grad is None and x.is_leaf and x._version == 0
    loss.backward()
    assert x.grad.tolist() == [2.0, 2.0]


# --- no gradient, seen from an output -------------------------------------------------------------


def test_the_way_from_the_output_is_named():
    x = leaf(2)
    loss = x.exp().sum()
    text = explain(x, loss)
    assert "the shortest way is SumBackward0 -> ExpBackward0 -> AccumulateGrad." in text
    assert "saved on the way is there still" in text


def test_a_long_way_is_shortened():
    x = leaf(2)
    y = x
    for _ in range(50_000):
        y = y * 2
    text = explain(x, y)
    assert "(49991 more)" in text and len(text) < 1500


def test_backward_has_run_and_the_grad_was_zeroed():
    x = leaf(2)
    loss = x.exp().sum()
    loss.backward()
    x.grad = None
    text = explain(x, loss)
    assert "Backward has run through this graph" in text and "set_to_none=True" in text


def test_backward_with_inputs_left_it_out():
    x, y = leaf(2), leaf(2)
    loss = (x * y).sum()
    loss.backward(inputs=[y])
    text = explain(x, loss)
    assert "Backward has run through this graph" in text and "inputs=[...] that left it" in text


def test_the_output_does_not_depend_on_it():
    x, y = leaf(2), leaf(3)
    text = explain(x, y.sum())
    assert "Backward from output doesn't reach the tensor." in text
    assert "The leaves that output reaches: (shape (3,), float32)." in text


def test_the_output_was_detached():
    x = leaf(2)
    text = explain(x, (x * 2).sum().detach())
    assert "The output (shape (), float32) doesn't require grad, so it has no graph." in text


def test_the_output_has_an_integer_dtype():
    x = leaf(2)
    assert "Only floating and complex dtypes have gradients" in explain(x, x.argmax())


def test_the_way_was_cut_by_detach():
    x, w = leaf(2), leaf(2)
    text = explain(x, (x.detach() * w).sum())
    assert "MulBackward0 took a tensor that shares memory with it" in text
    assert "input 0 of MulBackward0" in text


def test_requires_grad_was_set_after_use():
    x, w = torch.ones(2), leaf(2)
    loss = (x * w).sum()
    x.requires_grad_()
    assert "MulBackward0 took it as input without recording that: it didn't require" in explain(
        x, loss
    )


def test_an_input_that_never_required_grad():
    x, w = torch.ones(2), leaf(2)
    text = explain(x, (x * w).sum())
    assert "doesn't require grad." in text
    assert "MulBackward0 took it as input, without recording that" in text


def test_the_leaf_itself_is_a_detached_copy_of_the_memory():
    x = leaf(2)
    other = x.detach().requires_grad_()
    assert "AccumulateGrad took a tensor that shares memory" in explain(x, (other * 2).sum())


def test_an_in_place_operation_gave_it_another_history():
    x = leaf(2)
    y = x * 2
    loss = y.sum()
    y.mul_(3)
    assert "its value before an in-place operation changed it" in explain(y, loss)


def test_the_tensor_was_computed_of_the_output():
    x = leaf(2)
    y = x * 2
    assert "the tensor was computed of output" in explain(y * 3, y)
    assert "Both were computed of the same leaf" in explain(x * 5, y)


def test_several_outputs_are_told_apart():
    x, y = leaf(2), leaf(2)
    text = explain(x, [x.sum(), {"other": y.sum()}])
    assert "Backward from output 0 reaches the tensor" in text
    assert "Backward from output 1 doesn't reach the tensor" in text


def test_outputs_that_are_leaves():
    x = leaf(2)
    assert "The output is the tensor itself." in explain(x, x)
    assert "is a leaf: its graph is that leaf alone" in explain(x, leaf(3))


def test_something_saved_was_modified():
    x = leaf(2)
    y = x.exp()
    loss = y.sum()
    y.add_(1)
    assert "modified in place since, backward will fail" in explain(x, loss)


# --- a gradient is there --------------------------------------------------------------------------


def test_a_gradient_is_described():
    x = leaf(2)
    (x * torch.tensor([3.0, 4.0])).sum().backward()
    text = explain(x)
    assert text.startswith("grad is a tensor of shape (2,), float32, its norm is 5.")
    assert "It comes from one backward, or was assigned" in text


def test_accumulations_are_counted():
    x = leaf(2)
    for _ in range(3):
        x.sum().backward()
    assert "changed in place 2 times since it was made" in explain(x)


def test_zero_and_infinite_gradients_are_pointed_out():
    x = leaf(2)
    (x * 0).sum().backward()
    assert "All its elements are zero" in explain(x)
    x.grad = None
    (x * float("inf")).sum().backward()
    assert "infinite or NaN elements" in explain(x)


def test_the_norm_of_a_half_gradient_does_not_overflow():
    x = torch.ones(2, dtype=torch.float16, requires_grad=True)
    (x * 1000).sum().backward()
    assert "its norm is 1414.21." in explain(x)


def test_a_complex_gradient():
    x = torch.ones(1, dtype=torch.complex64, requires_grad=True)
    (x * (3 + 4j)).backward(torch.ones(1, dtype=torch.complex64))
    assert "complex64, its norm is 5." in explain(x)


def test_a_gradient_with_a_graph():
    x = leaf(2)
    with pytest.warns(UserWarning, match="create_graph=True"):
        (x**3).sum().backward(create_graph=True)
    assert "has a graph of its own" in explain(x)
    x.grad = None


def test_a_gradient_that_nothing_adds_to():
    x = torch.ones(2)
    x.grad = torch.ones(2)
    assert "doesn't require grad now, so backward won't add to it" in explain(x)
    y = leaf(2) * 2
    y.grad = torch.ones(2)
    assert "it has a grad which was assigned" in explain(y)


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="expected a Tensor, not float"):
        torch.explain_grad(1.0)
    with pytest.raises(TypeError, match="output must be a Tensor, not int"):
        torch.explain_grad(torch.ones(1), 3)
