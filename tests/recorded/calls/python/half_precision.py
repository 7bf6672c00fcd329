"""Half precision: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, sines

C = torch.utils.checkpoint

# What else holds in half a type.
def within_bfloat16():
    def within(f, dtype=torch.bfloat16, **options):
        with torch.autocast("cpu", dtype, **options):
            return f()
    return [within(lambda: torch.cat([torch.ones(1),
        torch.ones(1, dtype=torch.bfloat16)])).dtype is torch.float32,
        within(lambda: torch.cat([torch.ones(1, dtype=torch.float64),
        torch.ones(1, dtype=torch.bfloat16)])).dtype is torch.float64,
        within(lambda: torch.cat([torch.ones(1, dtype=torch.bfloat16)]
        * 2)).dtype is torch.bfloat16]

@differs("Several dtypes at once are computed in the widest; torch refuses them.")
def within_gru_cell():
    def within(f, dtype=torch.bfloat16, **options):
        with torch.autocast("cpu", dtype, **options):
            return f()
    x, h, ws = sines(1, 2).to(torch.bfloat16), sines(1, 3).to(torch.bfloat16), [sines(9, 2).float(),
        sines(9, 3).float(), sines(9).float(), sines(9).float()]
    return [within(lambda: torch.gru_cell(x, h.float(), *ws)),
        within(lambda: torch.gru_cell(x.double(), h.double(), *[v.double() for v in ws])),
        within(lambda: torch.gru(x[None], h[None], ws, True, 1, 0.0, False, False, False)[0])]

def within_index_copy():
    def within(f, dtype=torch.bfloat16, **options):
        with torch.autocast("cpu", dtype, **options):
            return f()
    x = torch.zeros(3)
    return within(lambda: x.index_copy(0, torch.tensor([1]), torch.ones(1, dtype=torch.bfloat16)))

@differs("torch does, too, and never leaves the region again.")
def within_cache_enabled():
    def within(f, dtype=torch.bfloat16, **options):
        with torch.autocast("cpu", dtype, **options):
            return f()
    return [error_name(lambda: within(lambda: 1, cache_enabled=x)) for x in (3, "a", True, None)]

def stack_set_autocast_enabled():
    stack = torch.overrides._get_current_function_mode_stack
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_enabled("cpu", True)
    found = (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.bfloat16
    torch.set_autocast_enabled("cpu", False)
    return [found, len(stack()), (torch.ones(1, 1) @ torch.ones(1, 1)).dtype is torch.float32,
        torch.is_autocast_enabled("cpu")]

def device_type_isinstance():
    class One(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
        def forward(ctx, x, *more):
            ctx.seen = [y.dtype for y in more if isinstance(y, torch.Tensor)]
            One.found = [x.dtype, *ctx.seen, *(type(y).__name__
                for y in more if not isinstance(y, torch.Tensor))]
            return x
        @staticmethod
        @torch.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            return (g, *[None] * 6)
    with torch.autocast("cpu"):
        y = One.apply(torch.ones(1, dtype=torch.bfloat16), torch.ones(1, dtype=torch.int64),
            torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.float16), "a", b"b",
            (1, 2))
    return One.found == [torch.float32, torch.int64, torch.float64, torch.float32, "str", "bytes",
        "tuple"]

def seen_autocast():
    seen = []
    with torch.autocast("cpu"):
        seen.append(torch.autocast_increment_nesting())
        seen.append(torch.autocast_decrement_nesting())
    return seen

[x for x in (torch.get_autocast_dtype("cpu"), torch.get_autocast_dtype("cuda"),
    torch.get_autocast_cpu_dtype())] == [torch.bfloat16, torch.float16, torch.bfloat16]

def set_autocast_dtype_float16():
    torch.set_autocast_dtype("cpu", torch.float16)
    with torch.autocast("cpu"):
        found = (torch.ones(1, 1) @ torch.ones(1, 1)).dtype
    torch.set_autocast_dtype("cpu", torch.bfloat16)
    return found is torch.float16

def set_autocast_cache_enabled_is_autocast_cache_enabled():
    torch.set_autocast_cache_enabled(False)
    found = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(True)
    return [found, torch.is_autocast_cache_enabled(),
        error_name(torch.set_autocast_cache_enabled, 3)]

def layer_weight():
    layer, x = nn.Linear(1, 1), torch.ones(1, 1)
    with torch.autocast("cpu"):
        with torch.no_grad():
            a = layer(x)
        b = layer(x)
        c = layer(x)
    return [a.requires_grad, b.requires_grad, (b + c).sum().backward(),
        layer.weight.grad.dtype is torch.float32, layer.weight.grad]

@differs("A changed parameter is converted again; torch keeps the first until the region ends.")
def layer_autocast():
    layer, x = nn.Linear(1, 1, False), torch.ones(1, 1)
    with torch.autocast("cpu"):
        a = layer(x)
        with torch.no_grad():
            layer.weight.fill_(5.0)
        b = layer(x)
    return float(b.detach())

def bfloat16_layer_norm():
    with torch.autocast("cpu"):
        x = torch.ones(2, 2)
        found = [F.layer_norm(x.to(torch.bfloat16), (2,), torch.ones(2),
            torch.ones(2)).dtype is torch.bfloat16, F.layer_norm(x, (2,),
            torch.ones(2)).dtype is torch.float32, F.mse_loss(x.to(torch.bfloat16),
            x.to(torch.bfloat16)).dtype is torch.float32,
            (x.double() @ x.double()).dtype is torch.float64,
            torch.add(x.to(torch.bfloat16), 1).dtype is torch.bfloat16,
            F.pad(x.to(torch.bfloat16)[None], (1, 1), mode="reflect").dtype is torch.float32,
            F.pad(x.to(torch.bfloat16), (1, 1)).dtype is torch.bfloat16,
            F.pad(x.to(torch.bfloat16)[None], (1, 1), "replicate").dtype is torch.float32,]
    return found

def out_autocast():
    x, out = torch.ones(2, 2), torch.zeros(2, 2)
    with torch.autocast("cpu"):
        torch.mm(x, x, out=out)
    return [out, out.dtype is torch.float32]

def einsum_max_pool3d():
    with torch.autocast("cpu"):
        q = sines(1, 1, 2, 4).float()
        found = [F.scaled_dot_product_attention(q, q, q).dtype is torch.bfloat16,
            torch.einsum("ij,jk", torch.ones(2, 2), torch.ones(2, 2)).dtype is torch.bfloat16,
            F.max_pool3d(torch.ones(1, 2, 2, 2, dtype=torch.bfloat16), 2).dtype is torch.float32]
    return found

@differs("Whether or not somebody wants the places; in torch this matters.")
def max_pool3d_return_indices():
    with torch.autocast("cpu"):
        found = F.max_pool3d(torch.ones(1, 2, 2, 2, dtype=torch.bfloat16), 2, return_indices=True)
    return [x.dtype is y for x, y in zip(found, (torch.float32, torch.int64))]

@differs("What a pickle holds is ours.")
def fast_dtype_reduce():
    f = torch.autocast("cpu", torch.float16, cache_enabled=False)
    import pickle
    g = pickle.loads(pickle.dumps(f.clone() if hasattr(f, "clone") else f))
    return [g.fast_dtype is torch.float16, g.device, f.__reduce__()[1][2:]]

[torch.amp.is_autocast_available(x) for x in ("cpu", "cuda:0")][0]

# What passes by says why.
@differs("The words are ours.")
def seen_error():
    seen = []
    def f(x):
        try:
            return x.exp()
        except Exception as error:
            seen.append(str(error))
            raise
    x = torch.ones(1, requires_grad=True)
    C.checkpoint(f, x, use_reentrant=False).backward()
    return seen

def context_enter():
    x, seen = torch.ones(1, requires_grad=True), []
    class Context:
        def __init__(self, name):
            self.name = name
        def __enter__(self):
            seen.append(self.name)
        def __exit__(self, *rest):
            seen.append(self.name)
    y = C.checkpoint(lambda x: (seen.append("run"), x.exp())[1], x, use_reentrant=False,
        context_fn=lambda: (Context("first"), Context("again")))
    y.backward()
    return seen

def context_enter_2():
    x, seen = torch.ones(1, requires_grad=True), []
    class Context:
        def __init__(self, name):
            self.name = name
        def __enter__(self):
            seen.append(self.name)
        def __exit__(self, *rest):
            seen.append(self.name)
    with torch.no_grad():
        y = C.checkpoint(lambda x: x.exp(), x, use_reentrant=False,
            context_fn=lambda: (Context("first"), Context("again")))
    return seen

def times_checkpoint():
    x, times = torch.ones(1, requires_grad=True), []
    def f(x, y, *, k, j=3):
        return (times.append((type(y).__name__, k.requires_grad, j)), (x * y * k * j).exp())[1]
    z = C.checkpoint(f, x, 2.0, use_reentrant=False, k=torch.ones(1, requires_grad=True), j=1)
    return [z.backward(), times, x.grad]

def checkpoint_use_reentrant():
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2
        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] * ctx.saved_tensors[0]
    x = torch.ones(1, requires_grad=True)
    return error_name(C.checkpoint(Two.apply, x, use_reentrant=False).backward)

def saved_self_grad_fn():
    x = torch.ones(1, requires_grad=True)
    y = C.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    return [y.grad_fn._saved_self.requires_grad, y.grad_fn._saved_self, y.grad_fn._saved_self,
        y.backward(), x.grad]

def checkpoint_retain_graph():
    x = torch.ones(1, requires_grad=True)
    y = C.checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    return [y.backward(retain_graph=True), x.grad.clone(), y.backward(), x.grad]

def second_runs():
    x, runs = torch.ones(1, requires_grad=True), []
    def f(x):
        return (runs.append(1), x.exp(), runs.append(2))[1]
    with C.set_checkpoint_early_stop(False):
        y = C.checkpoint(f, x, use_reentrant=False)
    y.backward()
    first = len(runs)
    y = C.checkpoint(f, x, use_reentrant=False)
    y.backward()
    second = len(runs)
    y = C.checkpoint(f, x, use_reentrant=False, early_stop=False)
    y.backward()
    return [first, second, len(runs)]

# What nobody needs any more isn't compared.
def times_checkpoint_2():
    x = torch.ones(2, requires_grad=True)
    times = []
    def f(x):
        return (times.append(1), (x.exp(), x.sin()) if len(times) == 1
            else (x[:1].exp(), x.sin()))[1]
    y, z = C.checkpoint(f, x, use_reentrant=False)
    del y
    return [z.sum().backward(), x.grad]

@differs("The words are ours.")
def words_early_stop():
    def words(*sizes, **options):
        times, x = [], torch.ones(2, requires_grad=True)
        def f(x):
            return (times.append(1), [x[:n].exp() for n in sizes[len(times) - 1]])[1]
        ys = C.checkpoint(f, x, use_reentrant=False, **options)
        try:
            sum(y.sum() for y in ys).backward()
        except RuntimeError as error:
            return str(error).split("\n")[:3]
    return [words([2], [1]), words([2, 2], [2]), words([2], [2, 2], early_stop=False),
        words([2], [2, 2])]

@differs("The words are ours.")
def words_debug():
    def words(enabled, **options):
        times, x = [], torch.ones(2, requires_grad=True)
        def f(x):
            return (times.append(1), [x.exp() for n in range(len(times))])[1]
        with C.set_checkpoint_debug_enabled(enabled):
            ys = C.checkpoint(f, x, use_reentrant=False, early_stop=False, **options)
        try:
            sum(y.sum() for y in ys).backward()
        except RuntimeError as error:
            return [str(error).count(word) for word in ("With debug=True",
                "Where the original saved", "Where the recomputation saved", "0 of 1", "1 of 1",
                "in f")]
    return [words(None), words(None, debug=True), words(True), words(False, debug=True)]

@differs("The words are ours.")
def words_times():
    def words(n):
        times, x = [], torch.ones(2, requires_grad=True)
        def f(x):
            return (times.append(1), [x.exp() for k in range(n) if k < 3 or len(times) < 2])[1]
        ys = C.checkpoint(f, x, use_reentrant=False, debug=True)
        try:
            sum(y.sum() for y in ys).backward()
        except RuntimeError as error:
            return [str(error).count(word) for word in ("Where the original saved",
                "Where the recomputation saved", "0 of 4", "3 of 4", "2 of 3", "in f")]
    return words(4)

[error_name(torch.set_autocast_enabled, "cpu", x) for x in (3, None, "a")]

def set_autocast_enabled_is_autocast_enabled():
    seen = [torch.is_autocast_enabled("cpu")]
    torch.set_autocast_enabled(True)
    seen.append(torch.is_autocast_enabled("cpu"))
    torch.set_autocast_enabled(False)
    return seen

def checkpoint_early_stop():
    x = torch.ones(2, requires_grad=True)
    def f(x):
        y = x.exp()
        return torch.autograd.grad(y.sin().sum(), x, create_graph=True)[0]
    y = C.checkpoint(f, x, use_reentrant=False, early_stop=False)
    return [y, y.sum().backward(), x.grad]

# Operators under autocast.
hasattr(torch.amp, "unheard_of")
hasattr(nn, "Unheard")
hasattr(torch.optim, "unheard_of")
torch.optim.swa_utils.__name__.rpartition(".")[2]
torch.amp.grad_scaler.__name__.rpartition(".")[2]

def thread_extend():
    import threading
    found = []
    def ask():
        found.extend([torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled()])
        found.extend([torch.autocast_increment_nesting(), torch.autocast_decrement_nesting()])
        with torch.autocast("cpu"):
            found.extend([(torch.ones(2, 2) @ torch.ones(2, 2)).dtype,
                torch.is_autocast_enabled("cpu")])
        found.append((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return found

def depth_overrides():
    depth = len(torch.overrides._get_current_function_mode_stack())
    torch.set_autocast_enabled("cpu", False)
    return len(torch.overrides._get_current_function_mode_stack()) - depth

def set_autocast_cpu_dtype_get_autocast_cpu_dtype():
    before = torch.get_autocast_dtype("cpu")
    torch.set_autocast_cpu_dtype(torch.float16)
    found = torch.get_autocast_cpu_dtype(), torch.get_autocast_dtype("cpu")
    torch.set_autocast_cpu_dtype(before)
    return [*found, torch.get_autocast_cpu_dtype()]

def casts_anew():
    p, x = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)
    def casts(y):
        return [n for n, _ in y.grad_fn.next_functions if n is not None
            and "To" in type(n).__name__]
    with torch.autocast("cpu"):
        first, again = casts(x @ p), casts(x @ p)
        torch.clear_autocast_cache()
        anew = casts(x @ p)
    return [len(first), first[0] is again[0], first[0] is anew[0]]

torch.amp.GradScaler("cuda").is_enabled()
torch.amp.GradScaler().is_enabled()
torch.amp.GradScaler("cpu").is_enabled()
torch.amp.GradScaler("cpu", enabled=False).is_enabled()
torch.amp.GradScaler("cuda:0")._device

def stepped_with_scaler():
    def stepped_with(*values):
        ps = [torch.ones(2, requires_grad=True) for _ in values]
        scaler, optimizer = torch.amp.GradScaler("cpu", init_scale=4.0), torch.optim.SGD(ps, lr=1.0)
        for p, value in zip(ps, values):
            p.grad = torch.tensor([value, 4.0])
        scaler.scale(torch.ones(1))
        scaler.step(optimizer)
        scaler.update()
        return [*(p.detach() for p in ps), scaler.get_scale()]
    return [stepped_with(math.inf, 4.0), stepped_with(4.0, math.nan), stepped_with(8.0, 4.0)]
