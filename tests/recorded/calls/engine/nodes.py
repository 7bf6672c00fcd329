"""Nodes: calls of the graph and its engine (`ext/engine`)."""

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import (
    differs,
    error_name,
    first_event,
    forward_over_reverse,
    gradients,
    metadata,
    next_nodes,
    operator,
    sines,
    tangents,
)

F1 = torch.autograd.graph.disable_saved_tensors_hooks
H = torch.autograd.graph.saved_tensors_hooks

# names, numbers, what nodes show
def grad_fn_tuple():
    x = sines(2, 3, 1, 1, 2, 1).requires_grad_()
    n = (x * 2).grad_fn
    return [tuple(n._input_metadata[0].shape), tuple(torch.autograd.grad((x.exp() * 2).sum(),
        x)[0].shape)]

def grad_fn_requires_grad():
    x = sines(3).requires_grad_()
    n = (2 * x).grad_fn
    return [next_nodes(n), n(sines(3)), error_name(n), error_name(n, sines(3), sines(3)),
        error_name(n, 3), n(None)]

def grad_fn_requires_grad_2():
    x = sines(3).requires_grad_()
    n = (x * 2).grad_fn
    return n(sines(3), sines(3))

def grad_fn_requires_grad_3():
    x = sines(3).requires_grad_()
    n = (x * 2).grad_fn
    return n(3)

def grad_fn_other():
    x = sines(3).requires_grad_()
    n = (x * 2).grad_fn
    return n.other

def grad_fn_requires_grad_4():
    x = sines(3).requires_grad_()
    n = (x * 2).grad_fn
    return n._saved_nothing

def grad_fn_requires_grad_5():
    x = sines(3).requires_grad_()
    n = (x * 2).grad_fn
    return n._raw_saved_nothing

# what is saved, and what is left of it
def grad_fn_sum():
    x = sines(2, 3).requires_grad_()
    n = x.sum(1).grad_fn
    return [n._saved_dim, n._saved_keepdim, n._saved_self_sym_sizes]

def grad_fn_mean():
    x = sines(2, 3).requires_grad_()
    n = x.mean(1, True).grad_fn
    return [n._saved_dim, n._saved_keepdim, n._saved_self_sym_numel]

def grad_fn_unpack():
    x = sines(2, 3).requires_grad_()
    n = (x * 2).grad_fn
    k = (2.5 * x).grad_fn
    return [n._saved_self, n._saved_other, k._saved_other, n._raw_saved_self.unpack(),
        error_name(lambda: n._raw_saved_other)]

def grad_fn_pow():
    x = sines(2, 3).requires_grad_()
    n = (x**2).grad_fn
    k = (x**2.5).grad_fn
    j = x.pow(x.detach()).grad_fn
    i = (2**x).grad_fn
    return [n._saved_exponent, k._saved_exponent, j._saved_exponent, i._saved_self, i._saved_result]

def grad_fn_clamp():
    x = sines(2, 3).requires_grad_()
    n = x.clamp(-1, 0.5).grad_fn
    k = x.clamp(min=0).grad_fn
    return [n._saved_min, n._saved_max, k._saved_min, k._saved_max, n._saved_self is x]

def grad_fn_unpack_2():
    x = sines(3, 4).requires_grad_()
    n = x[torch.tensor([0, 2])].grad_fn
    k = x[:, torch.tensor([1, 3])].grad_fn
    return [n._saved_indices, k._saved_indices, n._raw_saved_indices[0].unpack(),
        len(k._raw_saved_indices), k._raw_saved_indices[0].unpack() if k._raw_saved_indices[0]
        else None]

def alpha_beta():
    x = sines(2, 3).requires_grad_()
    n = torch.add(x, x, alpha=3).grad_fn
    k = torch.addmm(sines(2, 2), x, sines(3, 2), beta=2, alpha=0.5).grad_fn
    return [n._saved_alpha, k._saved_alpha]

def conv2d_padding():
    x = sines(2, 3, 4, 4).requires_grad_()
    n = F.conv2d(x, sines(2, 3, 2, 2), stride=(2, 1), padding=1).grad_fn
    return [n._saved_stride, n._saved_padding, n._saved_dilation, n._saved_groups]

# saved tensors that were changed, detached, given another history
def sin_mul():
    x = sines(3).requires_grad_()
    a = x * 1
    z = a.sin()
    r = a.mul_(2)
    return z.sum().backward()

def no_grad_mul():
    x = sines(3).requires_grad_()
    z = x.sin()
    with torch.no_grad():
        r = x.mul_(2)
    return z.sum().backward()

def exp_mul():
    x = sines(3).requires_grad_()
    z = x.exp()
    r = z.mul_(2)
    return z.sum().backward()

def mul_backward():
    x = sines(3).requires_grad_()
    u = sines(3)
    z = x * u
    r = u.mul_(2)
    return z.sum().backward()

def detach_exp():
    x = sines(3).requires_grad_()
    y = x * 1
    z = y.exp() * y
    r = y.detach_()
    return z.sum().backward()

# inference tensors
def inference_mode_requires_grad():
    with torch.inference_mode():
        u = sines(3) + 0
    return sines(3).requires_grad_() * u

def is_inference_mul():
    with torch.inference_mode():
        u = sines(3) + 0
    return [sines(3).requires_grad_() + u, error_name(lambda: u.mul_(2)),
        error_name(lambda: u[1:].mul_(2)), error_name(lambda: u.requires_grad_()), u._is_view(),
        u[1:]._is_view(), u[1:].is_inference(), (u * 2).is_inference(),
        error_name(lambda: u._version)]

def mul_inference_mode():
    with torch.inference_mode():
        u = sines(3) + 0
    return u.mul_(2)

def inference_mode_mul():
    with torch.inference_mode():
        u = sines(3) + 0
        r = u.mul_(2)
        v = u[1:]
        s = v.mul_(2)
        y = sines(3).requires_grad_() * 2
    return metadata(u)[:4]

def is_leaf_is_inference():
    with torch.inference_mode():
        u = sines(3) + 0
        r = u.mul_(2)
        v = u[1:]
        s = v.mul_(2)
        y = sines(3).requires_grad_() * 2
    return [u, v, error_name(lambda: metadata(u)[:4]), y.requires_grad, y.is_inference(), y.is_leaf]

# leaves and edges
@differs("Only backward runs it.")
def next_functions_grad_fn():
    x = sines(3).requires_grad_()
    n = (x * 1).grad_fn.next_functions[0][0]
    return n(sines(3))

@differs("Only backward runs it.")
def next_functions_variable():
    x = sines(3).requires_grad_()
    n = (x * 1).grad_fn.next_functions[0][0]
    return [n is (x * 2).grad_fn.next_functions[0][0], n.name(), next_nodes(n), n.variable is x,
        error_name(lambda: n(sines(3))), x.grad]

# retain_grad
def retain_grad_backward():
    x = sines(3).requires_grad_()
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    r = (y * sines(3)).sum().backward()
    return (y * sines(3)).sum().backward()

sines(3).retain_grad()

def aminmax_retain_grad():
    x = sines(3).requires_grad_()
    a, b = x.aminmax()
    b.retain_grad()
    r = b.mul_(3)
    return (a + b).backward()

@differs("Torch fails where one of several outputs is changed.")
def aminmax_retains_grad():
    x = sines(3).requires_grad_()
    a, b = x.aminmax()
    b.retain_grad()
    r = b.mul_(3)
    return [error_name(lambda: (a + b).backward()), b.grad, a.retains_grad, x.grad]

def aminmax_retain_grad_2():
    x = sines(3).requires_grad_()
    a, b = x.aminmax()
    a.retain_grad()
    b.retain_grad()
    r = b.mul_(3)
    return (a * 2 + b).backward()

# hooks: what they see, how they fail, what is left
def register_hook_remove():
    x = sines(3).requires_grad_()
    seen = []
    h = x.register_hook(lambda g: g * 2)
    p = x.register_post_accumulate_grad_hook(lambda x: seen.append(x.grad.clone()))
    return [x.sum().backward(), x.grad, (x * 3).sum().backward(), x.grad, seen, p.remove(),
        h.remove(), x.sum().backward(), x.grad, len(seen)]

def register_hook_register_prehook():
    def hooked(made, place):
        x = sines(2).requires_grad_()
        y = x.exp()
        {"t": lambda f: y.register_hook(lambda g: f),
            "b": lambda f: y.grad_fn.register_prehook(lambda g: f),
            "a": lambda f: y.grad_fn.register_hook(lambda g, o: f),
            "p": lambda f: x.register_post_accumulate_grad_hook(lambda t: f)}[place](made)
        return error_name(y.sum().backward)
    return [[hooked(made, place) for made in (sines(2), (sines(2),), [sines(2)], (sines(3),),
        sines(3), (sines(2, dtype=torch.float32),), sines(2, dtype=torch.float32), (None,), (),
        (sines(2), sines(2)), 3, (3,))] for place in "tbap"]

def register_hook_backward():
    def f(g):
        return 3
    x = sines(2).requires_grad_()
    h = x.register_hook(f)
    return x.sum().backward()

def register_hook_backward_2():
    class Call:
        def __call__(self, g):
            return sines(3)
    x = sines(2).requires_grad_()
    h = x.register_hook(Call())
    return x.sum().backward()

def register_hook_float():
    def f(g):
        return g.float()
    x = sines(2).requires_grad_()
    h = x.register_hook(f)
    return x.sum().backward()

def register_prehook_grad_fn():
    def f(g):
        return (g[0], g[0])
    y = sines(2).requires_grad_() * 2
    h = y.grad_fn.register_prehook(f)
    return y.sum().backward()

def register_prehook_grad_fn_2():
    def f(g):
        return [g[0]]
    y = sines(2).requires_grad_() * 2
    h = y.grad_fn.register_prehook(f)
    return y.sum().backward()

def register_post_accumulate_grad_hook_backward():
    def f(x):
        return x
    x = sines(2).requires_grad_()
    h = x.register_post_accumulate_grad_hook(f)
    return x.sum().backward()

def register_post_accumulate_grad_hook_backward_2():
    def f(x):
        return 3
    x = sines(2).requires_grad_()
    h = x.register_post_accumulate_grad_hook(f)
    return x.sum().backward()

def register_hook_grad_fn():
    x = sines(2).requires_grad_()
    y = x * 2
    h = y.grad_fn.register_hook(lambda i, o: (None,) * len(i))
    z = y + x * 0
    return [z.sum().backward(), x.grad]

(sines(2).requires_grad_() * 2).register_post_accumulate_grad_hook(lambda g: g)

def register_prehook_next_functions():
    x = sines(2).requires_grad_()
    seen = []
    n = (x * 1).grad_fn.next_functions[0][0]
    h = n.register_prehook(lambda g: (g[0] * 2,))
    k = n.register_hook(lambda i, o: seen.append((i, o, x.grad.clone())))
    return [x.sum().backward(), x.grad, seen, x.sum().backward(), x.grad, seen[1:],
        torch.autograd.grad((x * 1).sum(), x), len(seen)]

# saved-tensor hooks
def is_grad_enabled_is_leaf():
    seen = []
    def pack(a):
        seen.append((type(a.grad_fn).__name__, a.requires_grad, a.is_leaf, torch.is_grad_enabled(),
            (a * 1).requires_grad))
        return a.detach() * 1
    x = sines(3).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda a: a * 2):
        y = x.exp()
        z = y * y
        u = x.sin() * 2
    return [torch.autograd.grad(z.sum(), x), torch.autograd.grad(u.sum(), x), seen,
        torch.is_grad_enabled()]

def saved_tensors_hooks_graph():
    x = sines(3).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda a: 1, lambda a: a):
        y = x.exp()
    return y.sum().backward()

def register_hooks_hasattr():
    x = sines(3).requires_grad_()
    y = x.exp()
    s = y.grad_fn._raw_saved_result
    s.register_hooks(lambda a: a * 2, lambda a: a / 2)
    return [s.data, y.grad_fn._saved_result, error_name(lambda: s.register_hooks(lambda a: a,
        lambda a: a)), torch.autograd.grad(y.sum(), x),
        error_name(lambda: s.register_hooks(lambda a: a, lambda a: a))] if hasattr(s,
        "data") else [0]

def grad_fn_register_hooks():
    x = sines(3).requires_grad_()
    s = x.exp().grad_fn._raw_saved_result
    return [error_name(lambda: s.register_hooks(1, lambda a: a)),
        error_name(lambda: s.register_hooks(lambda a: a, 1)),
        error_name(lambda: s.register_hooks(lambda a: a))]

def grad_fn_register_hooks_2():
    x = sines(3).requires_grad_()
    y = x.exp()
    s = y.grad_fn._raw_saved_result
    r = y.sum().backward()
    return s.register_hooks(lambda a: a, lambda a: a)

def grad_fn_register_hooks_3():
    x = sines(3).requires_grad_()
    s = (x * sines(3)).grad_fn._raw_saved_self
    return s.register_hooks(lambda a: a, lambda a: a)

def grad_fn_register_hooks_4():
    x = sines(3).requires_grad_()
    s = (x * x).grad_fn._raw_saved_self
    s.register_hooks(lambda a: a, lambda a: a)
    return s.register_hooks(lambda a: a, lambda a: a)

def register_hooks_grad_fn():
    x = sines(3).requires_grad_()
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda a: a.mul_(2), lambda a: a)
    return y

def program():
    def f():
        with F1("not here"):
            with H(lambda a: a, lambda a: a):
                return 1
    return f()

def error_name_2():
    def f():
        with H(lambda a: a, lambda a: a):
            with F1("not here"):
                return 1
    return error_name(f)

def allow_mutation_on_saved_tensors_graph():
    A = torch.autograd.graph.allow_mutation_on_saved_tensors
    def f():
        with A():
            with A():
                return 1
    return f()

def exp_graph():
    x = sines(3).requires_grad_()
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        a = x * 1
        b = a.sin()
        r = a.mul_(2)
        c = b * b
        s = b.exp_()
        g = torch.autograd.grad((b + c).sum(), x)
    return g

@differs("torch has no hooks inside of transformations.")
def saved_tensors_hooks_vmap():
    def f(x):
        with torch.autograd.graph.saved_tensors_hooks(lambda a: a, lambda a: a * 1):
            return x.exp() * x
    return [tangents(f, sines(3)), gradients(f, sines(3)), forward_over_reverse(f, sines(3)),
        vmap(torch.func.grad(lambda x: f(x).sum()))(sines(2, 3))]

# running statistics: changed beside the result
def batch_norm_training():
    a, b = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    return vmap(lambda x: F.batch_norm(x, a, b, training=True))(sines(2, 4, 3))

def contiguous_batch_norm():
    a, b = torch.zeros(2, 3, dtype=torch.float64), torch.ones(2, 3, dtype=torch.float64)
    y = vmap(lambda x, a, b: F.batch_norm(x, a, b, training=True))(sines(2, 4, 3), a, b)
    return [y.contiguous() + 1, a, b]

# numbers that events have in common with nodes
def profiler_sequence_nr():
    x = sines(3).requires_grad_()
    class Double(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: g * 2)
    with torch.autograd.profiler.profile() as p:
        y = x.exp()
        z = Double.apply(y)
        z.sum().backward()
    def number(name):
        return [e.sequence_nr for e in p.function_events if e.name.endswith(name)][0]
    return [number("aten::exp") == number("ExpBackward0"),
        number("aten::sum") == number("SumBackward0"),
        number("evaluate_function: ExpBackward0") == number("ExpBackward0"),
        number("ExpBackward0") < number("SumBackward0")]

# what the collector of cycles sees
def extend_is_tracked():
    import gc
    seen = []
    C = torch._C
    x = sines(3).requires_grad_()
    y = x.exp()
    z = y * 2
    h = z.register_hook(lambda g: seen.extend(map(gc.is_tracked,
        C._current_graph_task_execution_order())))
    with torch.autograd.set_multithreading_enabled(False):
        z.backward(sines(3))
    return seen

@differs("torch keeps these cycles.")
def collect_weakref():
    import gc
    import weakref
    x = sines(3).requires_grad_()
    y = x * 2
    n = y.grad_fn
    h = x.register_hook(lambda g, y=y: None)
    kept = weakref.ref(x)
    del x, y, n, h
    r = gc.collect()
    return kept() is None

@differs("torch keeps these cycles.")
def collect_weakref_2():
    import gc
    import weakref
    x = sines(3).requires_grad_()
    y = x * 2
    n = y.grad_fn
    n.metadata["y"] = y
    z = y.exp()
    kept = weakref.ref(x)
    del x, y, n, z
    r = gc.collect()
    return kept() is None

@differs("torch keeps these cycles.")
def collect_weakref_3():
    import gc
    import weakref
    x = sines(3).requires_grad_()
    h = x.register_post_accumulate_grad_hook(lambda t, x=x: None)
    kept = weakref.ref(x)
    del x, h
    r = gc.collect()
    return kept() is None

@differs("torch keeps these cycles.")
def collect_next_functions():
    import gc
    import weakref
    x = sines(3).requires_grad_()
    y = x * 2
    n = y.grad_fn.next_functions[0][0]
    n.metadata["y"] = y
    kept = weakref.ref(x)
    del x, y, n
    r = gc.collect()
    return kept() is None

@differs("torch keeps these cycles.")
def collect_weakref_4():
    import gc
    import weakref
    x = sines(3).requires_grad_()
    y = (x * 1)[1:]
    r = y.mul_(2)
    y.grad_fn.metadata["y"] = y
    kept = weakref.ref(x)
    del x, y, r
    r = gc.collect()
    return kept() is None

def aminmax_unbind():
    import weakref
    def freed(f):
        x = sines(3).requires_grad_()
        kept = weakref.ref(f(x))
        refs = weakref.ref(x)
        del x
        return kept() is None, refs() is None
    def cut(x):
        y = x * 1
        v = y[1:]
        y.detach_()
        y.mul_(2)
        v.grad_fn
        return y
    def twice(x):
        y = x.exp()
        h = y.grad_fn
        torch.autograd.grad(y.sum(), x, retain_graph=True)
        torch.autograd.grad(y.sum(), x)
        return y
    def failed(x):
        y = x.exp()
        error_name(lambda: torch.autograd.grad(y, x, sines(2)))
        error_name(lambda: y.sum().backward(inputs=[sines(2)]))
        return y
    def viewed(x):
        y = x * 1
        v = y[1:]
        v.mul_(2)
        v.grad_fn
        y.mul_(3)
        v.grad_fn
        return v
    def kept_grad(x):
        y = x * 2
        y.retain_grad()
        y.sum().backward()
        return y.grad
    def meeting(x):
        y = x * 1
        (y + y.exp() + y.sin()).sum().backward()
        return x.grad
    return [freed(f) for f in (cut, twice, failed, viewed, kept_grad, meeting, lambda x: x.exp(),
        lambda x: x.aminmax()[1], lambda x: x.unbind()[1].mul(2))]

def record_shapes_function_events():
    x = sines(3).requires_grad_()
    a = x.exp().sum()
    with torch.autograd.profiler.profile(record_shapes=True) as p:
        a.backward()
    return [sorted(e.name for e in p.function_events if "Backward" in e.name
        or "Accumulate" in e.name)]

def sequence_nr_function_events():
    x = sines(3).requires_grad_()
    a = x.exp().sum()
    with torch.autograd.profiler.profile() as p:
        a.backward()
    return [e.sequence_nr for e in p.function_events if "Accumulate" in e.name][0] < [e.sequence_nr
        for e in p.function_events if "ExpBackward0" in e.name][0]

# the sizes of operands
def grad_fn_requires_grad_6():
    x = sines(3, 2).requires_grad_()
    n = torch.mm(sines(2, 3), x).grad_fn
    k = torch.mm(x, sines(2, 2)).grad_fn
    return [n._saved_mat2_sym_sizes, k._saved_self_sym_sizes, n._saved_self, k._saved_mat2]

def grad_fn_embedding():
    n = F.embedding(torch.tensor([0, 2]), sines(4, 2).requires_grad_()).grad_fn
    return [n._saved_weight_sym_argsize_0, n._saved_indices]

torch.mm(sines(2, 3), sines(3, 2).requires_grad_()).grad_fn._saved_self_sym_sizes
[g := torch.addmm(sines(2, 2), sines(2, 3).requires_grad_(), sines(3, 2)).grad_fn,
    g._saved_mat1_sym_sizes, g._saved_mat2_sym_sizes][1:]
with differs("This package alone has it."):
    (lambda e: (e._is_selective(), e._keeps_graph(), e._current_node(), e._is_running(0),
        e.current_task_id()))(__import__("importlib").import_module("autograd_cy._C.engine"))

# strides of operands whose gradients are asked for, and numbers, whoever uses them
def beta_items():
    a, b, c = sines(2, 3), sines(3, 2), sines(2, 2).t()
    def kept(*names, **gradients):
        y = torch.addmm(*[x.detach().requires_grad_(k in gradients)
            for k, x in dict(c=c, a=a, b=b).items()], beta=2, alpha=0.5)
        return [getattr(y.grad_fn, f"_saved_{k}") for k in names]
    return [kept("alpha", "beta", "mat1_sym_sizes", "mat2_sym_sizes", "mat1_sym_strides",
        "mat2_sym_strides", a=1, b=1), kept("alpha", "beta", "mat1_sym_sizes", "mat2_sym_sizes",
        c=1), len(kept("mat1_sym_strides", c=1)[0]), kept("beta", "mat1_sym_strides", a=1),
        kept("mat2_sym_strides", "mat1_sym_sizes", b=1), len(kept("mat1_sym_strides", b=1)[0])]

def grad_fn_len():
    n = torch.mm(sines(3, 2).t().requires_grad_(), sines(2, 3).t().requires_grad_()).grad_fn
    k = torch.mm(sines(2, 3), sines(3, 2).requires_grad_()).grad_fn
    return [n._saved_self_sym_strides, n._saved_mat2_sym_strides, len(k._saved_self_sym_strides),
        k._saved_mat2_sym_strides]

def addbmm_addcmul():
    n = torch.addbmm(sines(2, 2).requires_grad_(), sines(4, 2, 3), sines(4, 3, 2)).grad_fn
    k = torch.addcmul(sines(2).requires_grad_(), sines(2), sines(2), value=3).grad_fn
    j = torch.sub(sines(2).requires_grad_(), sines(2), alpha=3).grad_fn
    x = torch.baddbmm(sines(1, 2, 2), sines(1, 2, 3).requires_grad_(), sines(1, 3, 2),
        beta=3).grad_fn
    return [n._saved_batch1_sym_argsize_0, n._saved_batch1_sym_argsize_1,
        n._saved_batch2_sym_argsize_2, n._saved_alpha, k._saved_value, j._saved_alpha,
        x._saved_beta]

# tangents of what hooks keep without them
def primal_tangent():
    fw = torch.autograd.forward_ad
    x = sines(3).requires_grad_()
    with fw.dual_level():
        d = fw.make_dual(x, sines(3, phase=1))
        with torch.autograd.graph.saved_tensors_hooks(lambda a: a.detach().tolist(),
            lambda k: torch.tensor(k, dtype=torch.float64)):
            y = d.exp()
        (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        found = fw.unpack_dual(g)
    return [found.primal, found.tangent]

def batch_norm_training_2():
    a = (torch.zeros(3, dtype=torch.float64) + 1).requires_grad_() * 1
    b = torch.ones(3, dtype=torch.float64)
    return [error_name(lambda: F.batch_norm(sines(4, 3), a, b, training=k))
        for k in (True, False)] + [error_name(lambda: F.batch_norm(sines(4, 3), b, a, training=k))
        for k in (True, False)] + [metadata(a)[:3], metadata(b)[:3]]

@differs("This package alone has it.")
def dtype_float64():
    a = (torch.zeros(3, dtype=torch.float64) + 1).requires_grad_() * 1
    b = torch.ones(3, dtype=torch.float64)
    y = operator("_batch_norm")(sines(4, 3), None, None, a, b, 0.1, 1e-5)
    return [metadata(a)[:3], error_name(lambda: a.sum().backward()), metadata(b)[:3]]

def output_nr_is_leaf():
    x = sines(3).requires_grad_()
    a, b = x.aminmax()
    r = b.detach_()
    return [b.output_nr, b.requires_grad_().output_nr, b.is_leaf]

def retain_grad_retain_graph():
    x = sines(4).requires_grad_()
    b = x * 1
    v = b[1:]
    v.retain_grad()
    u = v * 5
    r = v.mul_(2)
    return [u.sum().backward(retain_graph=True), v.grad, x.grad, (v * 3).sum().backward(), v.grad]

def retain_grad_retains_grad():
    x = sines(3).requires_grad_()
    y = x * 2
    y.retain_grad()
    y.data = sines(2, 2)
    r = y.mul_(3)
    return [(y * 2).sum().requires_grad, y.retains_grad, metadata(y)]

with differs("Torch makes none."):
    (lambda n: error_name(lambda: type(n).__new__(type(n))(sines(3))))(
        sines(3).requires_grad_().exp().grad_fn)
    error_name(__import__("importlib").import_module("autograd_cy._C.saved")._pop_hooks)

@differs("Torch keeps the base.")
def set_program():
    b = sines(4) + 0
    v = b[1:]
    r = v.set_(sines(2) + 0)
    return [v._base is None, b]

def resize_as_as_strided():
    x = sines(3) + 0
    y = sines(1)
    return [first_event(lambda: x.resize_as_(y)), first_event(lambda: x.as_strided_((1,), (1,)))]
