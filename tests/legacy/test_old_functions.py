"""Functions of the old style: calls, marks, attributes, gradients, in-place and nested ones."""

import numpy as np
import pytest

import autograd_cy as modern
import autograd_cy.legacy as torch
from autograd_cy.legacy.autograd import Function, NestedIOFunction, Variable
from autograd_cy.legacy.autograd.function import InplaceFunction


def ones(*size, **flags):
    return Variable(torch.ones(*size), **flags)


def leaf(*values):
    return Variable(torch.Tensor(list(values)), requires_grad=True)


class Scale(Function):
    def __init__(self, factor):  # without the parent's
        self.factor = factor

    def forward(self, x):
        return x * self.factor

    def backward(self, grad):
        return grad * self.factor


class Custom(Function):
    """A Function with the methods that a test gives."""

    def __init__(self, forward, backward=None):
        self.compute, self.derive = forward, backward

    def forward(self, *tensors):
        return self.compute(self, *tensors)

    def backward(self, *grads):
        return self.derive(self, *grads)


def test_an_instance_is_an_operation_on_tensors():
    seen = []

    def forward(self, x):
        seen.append(x)
        return x * 2

    def backward(self, grad):
        seen.append(grad)
        return grad * 2

    x = leaf(1, 2)
    y = Custom(forward, backward)(x)
    assert seen[0] is x.data and type(y) is Variable and type(y.data) is torch.FloatTensor
    y.backward(torch.ones(2))
    assert type(seen[1]) is torch.FloatTensor and x.grad.data.tolist() == [2, 2]


def test_one_result_or_a_tuple_comes_back_as_it_was_returned():
    x = leaf(1, 2)
    single = Custom(lambda self, x: x + 1)(x)
    assert isinstance(single, Variable)
    alone = Custom(lambda self, x: (x + 1,))(x)
    assert isinstance(alone, tuple) and len(alone) == 1
    a, b = Custom(lambda self, x: (x + 1, x + 2))(x)
    assert (a.output_nr, b.output_nr) == (0, 1) and a.creator is b.creator


@pytest.mark.parametrize("argument", [torch.ones(1), modern.ones(1), 3, None, [1]], ids=str)
def test_arguments_that_are_no_variables_are_refused(argument):
    with pytest.raises(RuntimeError, match="expected a Variable argument"):
        Scale(2)(argument)
    with pytest.raises(RuntimeError, match="Scale"):
        Scale(2)(argument)


@pytest.mark.parametrize("result", [3, None, [torch.ones(1)], ones(1)], ids=str)
def test_results_that_are_no_tensors_are_refused(result):
    with pytest.raises(TypeError, match="expected a tensor or a tuple"):
        Custom(lambda self, x: result)(ones(1))


def test_plain_core_tensors_are_welcome():
    x = Variable(modern.ones(2), requires_grad=True)
    seen = []

    def forward(self, x):
        seen.append(type(x))
        return modern.mul(x, 2)

    y = Custom(forward, lambda self, grad: modern.mul(grad, 2))(x)
    assert seen == [torch.FloatTensor] and type(y.data) is torch.FloatTensor
    y.backward(modern.ones(2))
    assert type(x.grad.data) is torch.FloatTensor and x.grad.data.tolist() == [2, 2]
    with pytest.raises(TypeError, match=r"detach\(\)"):
        Custom(lambda self, x: modern.ones(2, requires_grad=True))(x)


def test_forward_may_have_defaults_and_backward_gives_one_per_input():
    def forward(self, x, y=None, scale=3):
        return x * scale if y is None else x * y

    x = leaf(1, 2)
    y = Custom(forward, lambda self, grad: grad * 3)(x)
    y.sum().backward()
    assert x.grad.data.tolist() == [3, 3]


def test_a_second_call_replaces_the_state():
    f = Custom(lambda self, *xs: (self.save_for_backward(*xs), xs[0] * 1)[1], None)
    f.derive = lambda self, grad: (grad,) * self.num_inputs
    a, b = leaf(1), leaf(2)
    f(a, b)
    out = f(a)
    assert f.num_inputs == 1 and f.previous_functions == ((a, 0),) and len(f.saved_tensors) == 1
    out.backward()
    assert a.grad.data[0] == 1 and b.grad is None
    f(ones(1))
    assert not f.requires_grad and f.saved_tensors == () and f.needs_input_grad == (False,)


def test_attributes():
    x, y = leaf(1), ones(1)
    f = Custom(lambda self, a, b, c: (a + b, a + c))
    assert f.num_inputs == f.num_outputs == 0 and f.previous_functions == ()
    assert not f.requires_grad and f.saved_tensors == () and f.needs_input_grad == ()
    _, b = f(x, y, x * 2)
    assert f.needs_input_grad == (True, False, True)
    assert all(type(n) is bool for n in f.needs_input_grad)
    assert (f.num_inputs, f.num_outputs, f.requires_grad) == (3, 2, True)
    previous = f.previous_functions
    assert type(previous) is tuple and previous[0] == (x, 0) and previous[1][0] is y
    assert isinstance(previous[2][0], Function) and previous[2][1] == 0
    g = Custom(lambda self, b: b * 1)
    g(b)
    assert g.previous_functions == ((f, 1),)
    f.requires_grad = False
    with pytest.raises(TypeError, match="requires_grad must be a bool"):
        f.requires_grad = 1


def test_needs_input_grad_is_there_in_forward():
    seen = []

    def forward(self, a, b):
        seen.append((self.needs_input_grad, self.requires_grad))
        return a + b

    Custom(forward)(leaf(1), ones(1))
    Custom(forward)(ones(1), ones(1))
    Custom(forward)(leaf(1), ones(1, volatile=True))
    assert seen == [((True, False), True), ((False, False), False), ((False, False), False)]


# Saving ---------------------------------------------------------------------------------------


def test_inputs_outputs_and_none_can_be_saved():
    def forward(self, a, b):
        out = a * b
        self.save_for_backward(b, None, out)
        assert self.to_save == (b, None, out)
        return out

    def backward(self, grad):
        b, nothing, out = self.saved_tensors
        assert nothing is None and type(out) is torch.FloatTensor
        return grad * b, None

    x = leaf(2, 3)
    y = Custom(forward, backward)(x, ones(2) + 1)
    y.sum().backward()
    assert x.grad.data.tolist() == [2, 2]


def test_others_cannot_be_saved():
    def forward(self, a):
        self.save_for_backward(a * 2)
        return a + 1

    with pytest.raises(RuntimeError, match="can only save input or output tensors"):
        Custom(forward)(leaf(1))


def test_nothing_is_saved_if_no_input_requires_grad():
    def forward(self, a):
        self.save_for_backward(a)
        return a + 1

    for x in (ones(1), ones(1, volatile=True)):
        f = Custom(forward)
        f(x)
        assert f.saved_tensors == () and f.to_save is None


def test_saved_tensors_go_with_backward_and_functions_without_may_run_again():
    x = leaf(1, 2)
    y = x * x
    y.sum().backward(retain_variables=True)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time.*retain_variables=True"):
        y.sum().backward()
    assert x.grad.data.tolist() == [4, 8]
    z = (x + 1).view(2, 1).sum()
    z.backward()
    z.backward()


# Marks ----------------------------------------------------------------------------------------


def test_marks_set_attributes():
    def forward(self, a, b):
        self.mark_dirty(a)
        out = a.view(-1)
        self.mark_shared_storage((b, out))
        self.mark_non_differentiable(out)
        assert self.dirty_tensors[0] is a and len(self.dirty_tensors) == 1
        assert self.shared_pairs[0][1] is out and self.non_differentiable[0] is out
        return out

    Custom(forward)(ones(1), ones(1))


def test_only_inputs_are_dirty():
    def forward(self, a):
        out = a * 2
        self.mark_dirty(out)
        return out

    with pytest.raises(RuntimeError, match="mark_dirty only accepts input tensors"):
        Custom(forward)(ones(1))


def test_a_dirty_input_is_the_same_variable_and_an_untouched_one_a_new():
    def change(self, a):
        self.mark_dirty(a)
        return a.add_(1)

    x = ones(2)
    assert Custom(change)(x) is x and x.data.tolist() == [2, 2] and x._version == 1
    y = Custom(lambda self, a: a)(x)
    assert y is not x and y.data is x.data and y.creator is not x.creator


def test_outputs_without_derivative():
    def forward(self, a):
        values, places = a * 2, a * 0
        self.mark_non_differentiable(places)
        return values, places

    seen = []

    def backward(self, values, places):
        seen.append(places)
        return values * 2

    x = leaf(1, 2)
    values, places = Custom(forward, backward)(x)
    assert values.requires_grad and not places.requires_grad and places.creator is not None
    (values + places).sum().backward()
    assert seen == [None] and x.grad.data.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="isn't an output"):
        Custom(lambda self, a: (self.mark_non_differentiable(a), a * 2)[1])(x)


def test_outputs_that_were_not_used_get_zeros():
    seen = []

    def backward(self, *grads):
        seen.extend(grads)
        return grads[0]

    x = leaf(1, 2)
    f = Custom(lambda self, x: (x * 1, x.view(2, 1).double()), backward)
    a, _ = f(x)
    a.sum().backward()
    assert seen[1].tolist() == [[0], [0]] and type(seen[1]) is torch.DoubleTensor


# What backward returns ------------------------------------------------------------------------


def test_more_gradients_are_fine_if_they_are_none():
    for extra in ((), (None,), (None, None)):
        x = leaf(1)
        Custom(lambda self, x: x * 1, lambda self, g, e=extra: (g, *e))(x).backward()
        assert x.grad.data[0] == 1
    x = leaf(1)
    y = Custom(lambda self, x: x * 1, lambda self, g: (g, g))(x)
    with pytest.raises(RuntimeError, match="returned an invalid number of gradient tensors"):
        y.backward()
    y = Custom(lambda self, x, y: x * 1, lambda self, g: g)(x, x)
    with pytest.raises(RuntimeError, match="returned an invalid number of gradient tensors"):
        y.backward()


def test_none_for_an_input_that_leads_on_names_the_function():
    x = leaf(1)
    y = Custom(lambda self, x: x * 1, lambda self, g: None)(x)
    with pytest.raises(RuntimeError, match="Custom.*missing gradient"):
        y.backward()
    z = Custom(lambda self, x, y: x + y, lambda self, g: (g, None))(x, ones(1))
    z.backward()
    assert x.grad.data[0] == 1


def test_gradients_must_fit():
    x = leaf(1, 2)
    for wrong, error in (
        (torch.ones(3), RuntimeError),
        (torch.ones(2).double(), TypeError),
        (3, TypeError),
        (ones(2), TypeError),
    ):
        y = Custom(lambda self, x: x * 1, lambda self, g, w=wrong: w)(x)
        with pytest.raises(error, match="Custom.backward: gradient 0"):
            y.backward(torch.ones(2))
    y = Custom(lambda self, x: x * 1, lambda self, g: g.view(2, 1))(x)
    y.backward(torch.ones(2))
    assert x.grad.size() == (2,)


def test_errors_in_forward_and_backward_reach_the_caller_and_the_graph_lives():
    def fail(self, *tensors):
        raise ZeroDivisionError("mine")

    x = leaf(1)
    with pytest.raises(ZeroDivisionError):
        Custom(fail)(x)
    f = Custom(lambda self, x: x * 1, fail)
    y = f(x * x)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    f.derive = lambda self, grad: grad
    y.backward()
    assert x.grad.data[0] == 2


def test_methods_that_are_missing_say_so():
    class Nothing(Function):
        pass

    with pytest.raises(NotImplementedError, match="Nothing has no forward"):
        Nothing()(ones(1))

    class Forward(Function):
        def forward(self, x):
            return x * 2

    y = Forward()(leaf(1))
    with pytest.raises(NotImplementedError, match="Forward has no backward"):
        y.backward()


def test_both_steps_may_be_overridden():
    class Counted(Scale):
        calls = ()

        def _do_forward(self, *variables):
            self.calls += ("forward",)
            return super()._do_forward(*variables)

        def _do_backward(self, grads, retain):
            self.calls += (grads, retain)
            return super()._do_backward(grads, retain)

    f = Counted(3)
    x = leaf(1)
    f(x).backward(torch.ones(1), retain_variables=True)
    name, grads, retain = f.calls
    assert name == "forward" and type(grads) is tuple and retain is True
    assert grads[0][0] == 1 and x.grad.data[0] == 3


def test_numpy_inside():
    class Sort(Function):
        def forward(self, x):
            self.places = np.argsort(x.numpy())
            return torch.from_numpy(x.numpy()[self.places])

        def backward(self, grad):
            made = np.empty_like(grad.numpy())
            made[self.places] = grad.numpy()
            return torch.from_numpy(made)

    x = Variable(torch.DoubleTensor([3, 1, 2]), requires_grad=True)
    assert torch.gradcheck(lambda x: Sort()(x) * Variable(torch.DoubleTensor([1, 2, 3])), (x,))


# In place, nested -----------------------------------------------------------------------------


def test_an_inplace_function_keeps_its_flag():
    assert InplaceFunction().inplace is False and InplaceFunction(True).inplace is True
    assert InplaceFunction(inplace=True).inplace is True


class Swap(NestedIOFunction):
    seen = ()

    def forward_extended(self, pair, rest):
        a, (b, nothing) = pair
        assert nothing is None
        self.save_for_backward(a, (b, None))
        return [b * 2, (a * 3, None)]

    def backward_extended(self, of_b, of_rest):
        _, (_, nothing) = self.saved_tensors
        assert nothing is None and of_rest[1] is None
        self.seen = (*self.seen, self.retain_variables)
        return (of_rest[0] * 3, (of_b * 2, None)), None


def test_nested_arguments_and_results():
    a, b = leaf(1, 2), leaf(3)
    f = Swap()
    first, (second, nothing) = f([a, (b, None)], None)
    assert nothing is None and first.data.tolist() == [6] and second.data.tolist() == [3, 6]
    assert f.num_inputs == 2 and f.num_outputs == 2
    first.backward(retain_variables=True)
    assert b.grad.data.tolist() == [2] and a.grad.data.tolist() == [0, 0]
    second.sum().backward()
    assert a.grad.data.tolist() == [3, 3] and f.seen == (True, False)
    with pytest.raises(RuntimeError, match="second time"):
        _ = f.saved_tensors


def test_a_single_result_is_not_nested():
    class Sum(NestedIOFunction):
        def forward_extended(self, parts):
            return parts[0] + parts[1]

        def backward_extended(self, grad):
            return grad, grad * 5

    a, b = leaf(1), leaf(2)
    out = Sum()((a, b))
    assert isinstance(out, Variable)
    out.backward()
    assert a.grad.data[0] == 1 and b.grad.data[0] == 5


def test_nested_marks():
    class Change(NestedIOFunction):
        def forward_extended(self, pair):
            self.mark_dirty((pair[0],), None)
            out = pair[0].add_(1)
            places = pair[1] * 0
            self.mark_non_differentiable([places])
            return out, places

        def backward_extended(self, grad, of_places):
            assert of_places is None
            return grad, grad * 0

    x, y = ones(1), leaf(2)
    out, places = Change()((x, y))
    assert out is x and x._version == 1 and not places.requires_grad and x.requires_grad
    x.backward()
    assert y.grad.data[0] == 0


@pytest.mark.parametrize("wrong", [3, "a", {}, torch.ones(1)], ids=str)
def test_other_objects_in_a_nest_are_refused(wrong):
    with pytest.raises(ValueError, match="nested"):
        Swap()([leaf(1), (wrong, None)], None)

    class Wrong(NestedIOFunction):
        def forward_extended(self, x):
            return x, [3]

    with pytest.raises(ValueError, match="nested"):
        Wrong()(leaf(1))
