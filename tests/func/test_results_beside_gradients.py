"""The results of transforms beside gradients, states of models with buffers, and rare options."""

import pytest

import autograd_cy as torch
from autograd_cy import func, nn


def test_gradients_values_and_auxiliary_results():
    def f(x):
        return (x * x).sum(), {"twice": x * 2, "one": torch.ones(1)}

    x = torch.tensor([1.0, 2.0])
    grads, (value, aux) = func.grad_and_value(f, has_aux=True)(x)
    assert grads.tolist() == [2.0, 4.0] and value.item() == 5.0
    assert aux["twice"].tolist() == [2.0, 4.0] and aux["one"].item() == 1
    assert not aux["twice"].requires_grad
    grads, aux = func.grad(f, has_aux=True)(x)
    assert grads.tolist() == [2.0, 4.0] and aux["one"].item() == 1
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    _, aux = func.grad(f, has_aux=True)(leaf)
    assert aux["twice"].requires_grad
    (g,) = torch.autograd.grad(aux["twice"].sum(), leaf)
    assert g.tolist() == [2.0, 2.0]
    nested = func.grad(lambda x: func.grad(f, has_aux=True)(x)[1]["twice"].sum())
    assert nested(x).tolist() == [2.0, 2.0]
    nested = func.grad(lambda x: func.vjp(f, x, has_aux=True)[2]["twice"].sum())
    assert nested(x).tolist() == [2.0, 2.0]
    tangent = func.jvp(lambda x: func.grad(f, has_aux=True)(x)[1]["twice"], (x,), (x,))[1]
    assert tangent.tolist() == [2.0, 4.0]
    value, pull, aux = func.vjp(f, x, has_aux=True)
    assert pull(torch.tensor(3.0))[0].tolist() == [6.0, 12.0] and aux["one"].item() == 1
    rows, aux = func.jacrev(f, has_aux=True)(x)
    assert rows.tolist() == [2.0, 4.0] and aux["twice"].tolist() == [2.0, 4.0]
    columns, aux = func.jacfwd(f, has_aux=True)(x)
    assert columns.tolist() == [2.0, 4.0] and aux["twice"].tolist() == [2.0, 4.0]


def test_several_arguments_by_number():
    def f(x, y, z):
        return (x * y * y).sum() + 5 * z.sum()

    args = torch.tensor([2.0]), torch.tensor([3.0]), torch.tensor([4.0])
    assert func.grad(f, argnums=-1)(*args).tolist() == [5.0]
    found = func.grad(f, argnums=(0, 1))(*args)
    assert [g.tolist() for g in found] == [[9.0], [12.0]]
    found = func.grad(f, argnums=(-1, 0))(*args)
    assert [g.tolist() for g in found] == [[5.0], [9.0]]
    for function in (func.grad, func.jacrev, func.jacfwd):
        for bad in (3, -4, (0, 3)):
            with pytest.raises(RuntimeError, match="argnum"):
                function(f, argnums=bad)(*args)
    with pytest.raises(RuntimeError, match="unsupported type|Tensors"):
        func.jvp(f, (5, *args[1:]), args)
    with pytest.raises(RuntimeError, match="to return only tensors"):
        func.vjp(lambda x: 5, args[0])
    with pytest.raises(TypeError, match="expected a dict or a sequence of dicts"):
        func.functional_call(nn.Linear(1, 1), [5], args[0])


class Counting(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.register_buffer("start", torch.tensor([start]))

    def forward(self, x):
        return self.layer(x) + self.start


def test_states_of_models_are_stacked_with_their_buffers():
    models = [Counting(float(i)) for i in range(3)]
    params, buffers = func.stack_module_state(models)
    assert buffers["start"].tolist() == [[0.0], [1.0], [2.0]] and list(buffers) == ["start"]
    assert params["layer.weight"].shape == (3, 1, 2)
    assert params["layer.weight"].requires_grad and params["layer.weight"].is_leaf
    assert not buffers["start"].requires_grad
    x = torch.tensor([1.0, 2.0])

    def call(p, b):
        return func.functional_call(models[0], (p, b), (x,))

    found = func.vmap(call)(params, buffers)
    assert torch.allclose(found, torch.stack([m(x) for m in models]))


def test_names_of_states_are_checked_when_asked():
    model = Counting(1.0)
    state = dict(model.state_dict())
    x = torch.ones(2)
    plain = model(x)
    assert torch.equal(func.functional_call(model, state, x, strict=True), plain)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'a', 'b'\.$"):
        func.functional_call(model, {**state, "a": x, "b": x}, x, strict=True)
    del state["start"]
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): 'start'\.$"):
        func.functional_call(model, state, x, strict=True)
    with pytest.raises(RuntimeError, match=r"Unexpected.*'a'\.\n\tMissing.*'start'\."):
        func.functional_call(model, {**state, "a": x}, x, strict=True)
    assert torch.equal(func.functional_call(model, {**state, "a": x}, x), plain)


def test_random_numbers_under_vmap():
    x = torch.zeros(3, 2)
    for randomness in ("same", "different"):
        for draw in (
            lambda t: torch.rand(2),
            lambda t: torch.randn((2,)),
            lambda t: torch.rand_like(t),
            lambda t: torch.randint(0, 1000, (2,)).float(),
            lambda t: torch.zeros_like(t).uniform_(),
        ):
            rows = func.vmap(draw, randomness=randomness)(x)
            assert rows.shape == (3, 2)
            assert (rows[0] == rows[1]).all().item() is (randomness == "same")
    p = torch.full((3, 2), 0.5)
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        func.vmap(lambda q: torch.zeros_like(q).bernoulli_(q), randomness="same")(p)
    with pytest.raises(RuntimeError, match="out= is not possible under vmap"):
        func.vmap(lambda t: torch.rand(2, out=torch.empty(2)), randomness="different")(x)
    with pytest.raises(RuntimeError, match="different inplace randomness on an unbatched tensor"):
        func.vmap(lambda t: torch.empty(2).uniform_(), randomness="different")(x)
    for name in ("rand", "uniform_"):
        with pytest.raises(RuntimeError, match=f"randomness.*{name}"):
            func.vmap(lambda t, n=name: torch.rand(2) if n == "rand" else t.clone().uniform_())(x)


def test_a_batching_rule_must_fit_its_result():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return (x * 2, x * 3), (0, 0, 0)

    with pytest.raises(RuntimeError, match="out_dims"):
        func.vmap(Wrong.apply)(torch.ones(3, 2))

    class Dirty(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.add_(1)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_dirty(inputs[0])

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(RuntimeError, match="doesn't support mark_dirty"):
        func.vmap(lambda x: Dirty.apply(x.clone()))(torch.ones(3, 2))


def test_dimensions_of_results_by_every_form():
    def f(x):
        return x, {"a": x * 2, "b": (x * 3,)}

    x = torch.arange(6.0).view(3, 2)
    for out_dims in (0, (0, 0), (0, {"a": 0, "b": (0,)})):
        first, rest = func.vmap(f, out_dims=out_dims)(x)
        assert first.tolist() == x.tolist() and rest["b"][0].tolist() == (x * 3).tolist()
    first, rest = func.vmap(f, out_dims=(1, 0))(x)
    assert first.shape == (2, 3) and rest["a"].shape == (3, 2)
    assert func.vmap(lambda x: x, out_dims=(1,))(x).shape == (2, 3)
    assert func.vmap(lambda x: x, in_dims=[1])(x).shape == (2, 3)
    assert func.vmap(lambda d: d["k"], in_dims=({"k": 1},))({"k": x}).shape == (2, 3)
    assert func.vmap(lambda d: d[0] + d[1], in_dims=([0, None],))([x, x[0]]).shape == (3, 2)
    with pytest.raises(ValueError, match="out_dims"):
        func.vmap(f, out_dims=(0, 0, 0))(x)
    with pytest.raises(ValueError, match="in_dims"):
        func.vmap(f, in_dims=(0, 0))(x)


def test_outputs_without_derivative_stay_so_in_a_generated_rule():
    class Parts(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * 2, x * 3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx, grad, none):
            return grad * 2

    x = torch.ones(3, 2, requires_grad=True)
    first, second = func.vmap(Parts.apply)(x)
    assert first.requires_grad and not second.requires_grad
    (g,) = torch.autograd.grad(first.sum() + second.sum(), x)
    assert g.tolist() == [[2.0, 2.0]] * 3


def test_jacobians_of_what_is_no_tensor_are_refused():
    for transform in (func.jacfwd, func.jacrev, func.grad):
        for bad in (5, [torch.ones(1), 5]):
            with pytest.raises(ValueError, match="must be Tensor, got"):
                transform(lambda x: x)(bad)


def test_what_is_saved_may_have_a_tangent_with_a_history():
    v = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x, a = torch.tensor([4.0, 5.0, 6.0]), torch.ones(3)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, v)
        gradient = torch.func.grad(lambda a: (a * dual).sum())(a)
        tangent = torch.autograd.forward_ad.unpack_dual(gradient).tangent
        assert tangent.tolist() == [1.0, 2.0, 3.0]
        (found,) = torch.autograd.grad((tangent * tangent).sum(), v)
    assert found.tolist() == [2.0, 4.0, 6.0]
