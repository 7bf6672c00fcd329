"""Autograd: calls of the Python layer (`autograd_cy`)."""

import autograd_cy as torch
from tests.recorded.inputs import complex_sines, differs, error_name, sines, with_warnings

G = torch.autograd.graph
A = torch.autograd

# backward and grad: what is given
def grad_tensor():
    x = sines(2).requires_grad_()
    return [A.grad(x.sum(), x, **{k: v}) for k in ("retain_graph", "create_graph", "allow_unused",
        "materialize_grads") for v in (1, torch.tensor(True), torch.tensor([0]))]

torch.autograd.grad(sines(2).requires_grad_().sum(), sines(2), create_graph=torch.tensor(1.0))
torch.autograd.grad(sines(2).requires_grad_().sum(), sines(2), create_graph=None)
torch.autograd.grad(3, sines(2))
with differs("the argument's type is wrong"):
    torch.autograd.grad([3], sines(2).requires_grad_())
torch.autograd.grad(sines(2).requires_grad_().sum(), 3)
torch.autograd.grad(sines(2).requires_grad_().sum(), [3])
torch.autograd.grad(sines(2).requires_grad_().sum(), [])
torch.autograd.grad(sines(2).requires_grad_().sum(), sines(2).requires_grad_())
torch.autograd.grad(sines(2).requires_grad_().sum(), sines(2))
torch.autograd.grad(sines(2).requires_grad_() * 2, sines(2).requires_grad_())
torch.autograd.grad(complex_sines(1).requires_grad_().sum(), complex_sines(1).requires_grad_())

def grad_torch():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x * 2, x, sines(3))

def grad_torch_2():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x * 2, x, complex_sines(2))

def grad_torch_3():
    x = complex_sines(2).requires_grad_()
    return torch.autograd.grad(x * 2, x, sines(2))

def grad_torch_4():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x * 2, x, 3)

def grad_torch_5():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x * 2, x, ["a"])

@differs("gradients that belong to nothing")
def grad_torch_6():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x * 2, x, [sines(2), sines(2)])

def grad_sum():
    x = sines(2).requires_grad_()
    return torch.autograd.grad([x.sum(), sines()], x, [None, None])

def materialize_grads_allow_unused():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x.sum(), x, materialize_grads=True, allow_unused=False)

def materialize_grads_allow_unused_2():
    x, y = sines(2).requires_grad_(), sines(2).requires_grad_()
    return torch.autograd.grad(x.sum(), (x, y), materialize_grads=True, allow_unused=True)

def sum_grad():
    x = sines(2).requires_grad_()
    y = (x * x).sum()
    r = torch.autograd.grad(y, x)
    return torch.autograd.grad(y, x)

def is_grads_batched_autograd():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x * 2, x, sines(3, 3), is_grads_batched=True)

@differs("as of other outputs without gradients")
def is_grads_batched_sum():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(x.sum(), x, is_grads_batched=True)

torch.autograd.backward(3)
torch.autograd.backward(sines(2).requires_grad_().sum(), inputs=[])
torch.autograd.backward(sines(2).requires_grad_().sum(), inputs=[3])
with differs("as of grad"):
    torch.autograd.backward([sines(2).requires_grad_().sum()], [sines(), sines()])

def backward_grad_variables():
    x = sines(2).requires_grad_()
    return torch.autograd.backward(x * 2, sines(2), grad_variables=sines(2))

# edges of a graph
def get_gradient_edge_output_nr():
    x = sines(2).requires_grad_()
    y = x * 2
    e = G.get_gradient_edge(y)
    return torch.autograd.grad(e, x, sines(2)), torch.autograd.grad((y * 3).sum(),
        e), e.output_nr, type(e.node).__name__, G.get_gradient_edge(x).output_nr

def autograd_get_gradient_edge():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(G.get_gradient_edge(x * 2), x)

def get_gradient_edge_sum():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(G.get_gradient_edge(x.sum()), x)

def get_gradient_edge_sum_2():
    x = complex_sines(1).requires_grad_()
    return torch.autograd.grad(G.get_gradient_edge(x.sum()), x)

def autograd_get_gradient_edge_2():
    x = sines(2).requires_grad_()
    return torch.autograd.grad(G.get_gradient_edge(x * 2), x, sines(3))

torch.autograd.graph.get_gradient_edge(sines(2))

def output_nr_get_gradient_edge():
    x = sines(2).requires_grad_()
    a, b = (x * 1).unbind()
    return torch.autograd.grad([G.get_gradient_edge(b)], x,
        [sines()]), G.get_gradient_edge(b).output_nr

def grad_save_on_cpu():
    x = sines(2).requires_grad_()
    with G.save_on_cpu():
        y = (x * x).sum()
    y.backward()
    return x.grad

def saved_tensors_hooks_append():
    x = sines(2).requires_grad_()
    seen = []
    with G.saved_tensors_hooks(lambda t: seen.append("pack") or t * 2,
        lambda t: seen.append("unpack") or t):
        y = (x * x).sum()
    z = (x * x).sum()
    y.backward()
    return x.grad, seen

def requires_grad_saved_tensors_hooks():
    x = sines(2).requires_grad_()
    with G.disable_saved_tensors_hooks("no hooks here"):
        with G.saved_tensors_hooks(lambda t: t, lambda t: t):
            y = x * x
    return y

def register_multi_grad_hook_remove():
    x, y = sines(2).requires_grad_(), sines(2).requires_grad_()
    a, b = x * 2, y * 2
    seen = []
    h = G.register_multi_grad_hook((a, b), lambda g: seen.append([x is not None for x in g]))
    (a + b).sum().backward()
    (x * 2).sum().backward()
    (a + 0).sum().backward()
    h.remove()
    return seen

def register_multi_grad_hook_remove_2():
    x, y = sines(2).requires_grad_(), sines(2).requires_grad_()
    seen = []
    h = G.register_multi_grad_hook((x, y), lambda g: seen.append(g), mode="any")
    (x + y).sum().backward()
    h.remove()
    (x + y).sum().backward()
    return len(seen), seen[0]

def register_multi_grad_hook_print():
    x, y = sines(2).requires_grad_(), sines(2).requires_grad_()
    return G.register_multi_grad_hook((x, y), print, mode="some")

torch.autograd.graph.register_multi_grad_hook((sines(2),), print)

def backward_allow_mutation_on_saved_tensors():
    x = sines(2).requires_grad_()
    with G.allow_mutation_on_saved_tensors() as c:
        y = x * 2
        z = (y * y).sum()
    return z.backward()

def allow_mutation_on_saved_tensors():
    with G.allow_mutation_on_saved_tensors():
        with G.allow_mutation_on_saved_tensors():
            pass
    return 0

def exp_grad_fn():
    x = sines(2).requires_grad_()
    y = x.exp()
    y.sum().backward()
    return y.grad_fn._saved_result

# anomaly mode
def requires_grad_detect_anomaly():
    x = torch.zeros(2, requires_grad=True)
    def f():
        with A.detect_anomaly():
            (x / x).sum().backward()
    return f()

def is_anomaly_enabled_check_nan():
    x = torch.zeros(2, requires_grad=True)
    def f():
        with A.detect_anomaly(check_nan=False):
            (x / x).sum().backward()
            return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    return f(), x.grad, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()

def detect_anomaly_is_anomaly_enabled():
    def f():
        with A.detect_anomaly():
            return torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    return with_warnings(f)

def value_error_set_detect_anomaly():
    class Bad(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2
        @staticmethod
        def backward(ctx, g):
            raise ValueError("bad")
    x = sines(2).requires_grad_()
    def f():
        with A.set_detect_anomaly(True):
            Bad.apply(x).sum().backward()
    return with_warnings(lambda: error_name(f))

def set_detect_anomaly_grad_fn():
    x = sines(2).requires_grad_()
    with A.set_detect_anomaly(True):
        y = (x * x).sum()
        (g,) = A.grad(y, x, create_graph=True)
    return "traceback_" in y.grad_fn.metadata, "parent_" in g.grad_fn.metadata, "traceback_" in (x
        * 2).grad_fn.metadata
