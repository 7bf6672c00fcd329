"""Half precision: calls of the Python layer (`autograd_cy`)."""

import math

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, sines

C = torch.utils.checkpoint

# What else holds in half a type.
def set_autocast_enabled_is_autocast_enabled():
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

def autocast_weight():
    layer, x = nn.Linear(1, 1), torch.ones(1, 1)
    with torch.autocast("cpu"):
        with torch.no_grad():
            a = layer(x)
        b = layer(x)
        c = layer(x)
    return [a.requires_grad, b.requires_grad, (b + c).sum().backward(),
        layer.weight.grad.dtype is torch.float32, layer.weight.grad]

@differs("A changed parameter is converted again; torch keeps the first until the region ends.")
def autocast_fill():
    layer, x = nn.Linear(1, 1, False), torch.ones(1, 1)
    with torch.autocast("cpu"):
        a = layer(x)
        with torch.no_grad():
            layer.weight.fill_(5.0)
        b = layer(x)
    return float(b.detach())

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

[torch.amp.is_autocast_available(x) for x in ("cpu", "cuda:0")][0]

# What passes by says why.
@differs("The words are ours.")
def exception_error():
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

# What nobody needs any more isn't compared.
def checkpoint_use_reentrant():
    x = torch.ones(2, requires_grad=True)
    times = []
    def f(x):
        return (times.append(1), (x.exp(), x.sin()) if len(times) == 1
            else (x[:1].exp(), x.sin()))[1]
    y, z = C.checkpoint(f, x, use_reentrant=False)
    del y
    return [z.sum().backward(), x.grad]

@differs("The words are ours.")
def debug_early_stop():
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

[error_name(torch.set_autocast_enabled, "cpu", x) for x in (3, None, "a")]

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

def set_autocast_enabled_overrides():
    depth = len(torch.overrides._get_current_function_mode_stack())
    torch.set_autocast_enabled("cpu", False)
    return len(torch.overrides._get_current_function_mode_stack()) - depth

def clear_autocast_cache_next_functions():
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

def init_scale_math():
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
