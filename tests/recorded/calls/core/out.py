"""Out: calls of tensors and arguments (`ext/core`)."""

import numpy as np

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, differs, error_name, iota, metadata, with_warnings

# what may be written into, and how
torch.add(iota(2), 1, out=torch.zeros(2))
torch.add(iota(2), 1, out=torch.zeros(5))
torch.add(iota(2), 1, out=torch.zeros(2, dtype=torch.float64))
torch.add(iota(2), 1, out=torch.zeros(2, dtype=torch.int64))
torch.add(iota(2, dtype=torch.int64), 1, out=torch.zeros(2))
torch.add(complex_sines(2), 1, out=torch.zeros(2))
torch.add(iota(2), 1, out=torch.zeros(2, dtype=torch.bool))
with differs("Torch makes a tensor of it."):
    torch.add(iota(2), 1, out=3)
torch.add(iota(2), 1, out=None)
torch.add(iota(2), 1, out=torch.zeros(2, requires_grad=True))
torch.add(iota(2).requires_grad_(), 1, out=torch.zeros(2))

def no_grad_requires_grad():
    with torch.no_grad():
        x = torch.add(iota(2).requires_grad_(), 1, out=torch.zeros(2, requires_grad=True))
    return metadata(x)

def add_inference_mode():
    with torch.inference_mode():
        o = torch.zeros(2)
    return torch.add(iota(2), 1, out=o)

def inference_mode_add():
    with torch.inference_mode():
        o = torch.zeros(2)
        torch.add(iota(2), 1, out=o)
    return o

def out_inference_mode():
    with torch.inference_mode():
        o = torch.zeros(2)
    return torch.sum(iota(2, 2), 0, out=o)

torch.sum(iota(2, 3), 0, out=torch.zeros(3))
torch.sum(iota(2, 3), 0, out=torch.zeros(3, dtype=torch.float64))
torch.sum(iota(2, 3), 0, out=torch.zeros(1))
torch.sum(iota(2, 3), 0, out=torch.zeros(3, requires_grad=True))
torch.sum(iota(2, 3, dtype=torch.float16), 0, out=torch.zeros(3))
torch.mm(iota(2, 2), iota(2, 2), out=torch.zeros(2, 2))
torch.mm(iota(2, 2), iota(2, 2), out=torch.zeros(2, 2, dtype=torch.float64))
torch.mm(iota(2, 2), iota(2, 2), out=torch.zeros(1))
torch.mm(iota(2, 2), iota(2, 2), out=torch.zeros(2, 2).t()).stride()
[x := torch.zeros(2, 2), torch.mm(iota(2, 2), iota(2, 2), out=x) is x, x._version, x]
torch.max(iota(2, 3), 0, out=(torch.zeros(3), torch.zeros(3, dtype=torch.int64)))
torch.max(iota(2, 3), 0, out=[torch.zeros(3), torch.zeros(3, dtype=torch.int64)])
torch.max(iota(2, 3), 0, out=(torch.zeros(1), torch.zeros(1, dtype=torch.int64)))
torch.max(iota(2, 3), 0, out=torch.zeros(3))
torch.max(iota(2, 3), 0, out=(torch.zeros(3),))
torch.max(iota(2, 3), 0, out=(torch.zeros(3), torch.zeros(3, dtype=torch.int64), torch.zeros(3)))
torch.max(iota(2, 3), 0, out=(torch.zeros(3), 3))
torch.max(iota(2, 3), 0, out=(torch.zeros(3, dtype=torch.float64),
    torch.zeros(3, dtype=torch.int64)))
torch.max(iota(2, 3), 0, out=(torch.zeros(3), torch.zeros(3)))
torch.max(iota(2, 3), 0, out=(torch.zeros(3, requires_grad=True),
    torch.zeros(3, dtype=torch.int64)))
[x := (torch.zeros(3), torch.zeros(3, dtype=torch.int64)),
    torch.max(iota(2, 3), 0, out=x)[0] is x[0], [k._version > 0 for k in x], x]
torch.sort(iota(3), out=(torch.zeros(3), torch.zeros(3, dtype=torch.int64)))
torch.topk(iota(3), 2, out=(torch.zeros(2), torch.zeros(2, dtype=torch.int64)))
torch.eq(iota(2), 1, out=torch.zeros(2, dtype=torch.bool))
torch.eq(iota(2), 1, out=torch.zeros(2, dtype=torch.uint8))
torch.eq(iota(2), 1, out=torch.zeros(2))
torch.isfinite(iota(2))
torch.logical_not(iota(2), out=torch.zeros(2, dtype=torch.bool))
torch.logical_not(iota(2), out=torch.zeros(2))
torch.all(iota(2, 2), 0, out=torch.zeros(2, dtype=torch.bool))
torch.all(iota(2, 2), 0, out=torch.zeros(2, dtype=torch.uint8))
torch.all(iota(2, 2), 0, out=torch.zeros(2))
torch.isin(iota(3), iota(2))
torch.cat((iota(2), iota(2)), out=torch.zeros(4))
with differs("a RuntimeError, as of all that does not fit"):
    torch.cat((iota(2), iota(2)), out=torch.zeros(4, dtype=torch.int64))
torch.cat((iota(2), iota(2)), out=torch.zeros(1))
torch.stack((iota(2), iota(2)), out=torch.zeros(2, 2))
torch.bmm(iota(1, 2, 2), iota(1, 2, 2), out=torch.zeros(1, 2, 2))
torch.index_select(iota(3), 0, torch.tensor([2, 0]), out=torch.zeros(2))
torch.index_select(iota(3), 0, torch.tensor([2, 0]), out=torch.zeros(2, dtype=torch.float64))
torch.gather(iota(3), 0, torch.tensor([2, 0]), out=torch.zeros(2))
torch.cumsum(iota(3), 0, out=torch.zeros(3))
torch.cumsum(iota(3), 0, out=torch.zeros(3, dtype=torch.float64))
torch.cumsum(iota(3, dtype=torch.int64), 0, out=torch.zeros(3))
torch.clamp(iota(3), 1, out=torch.zeros(3))
with differs("Torch's has no result to write to where a number is chosen."):
    torch.where(iota(2) > 0, 1.0, iota(2), out=torch.zeros(2))
torch.pow(iota(3), 2, out=torch.zeros(3))
torch.mean(iota(2, 3), 0, out=torch.zeros(3))
torch.var(iota(2, 3), 0, out=torch.zeros(3))
torch.norm(iota(2, 3), 2, 0, out=torch.zeros(3))
torch.argmax(iota(2, 3), 0, out=torch.zeros(3, dtype=torch.int64))
torch.argmax(iota(2, 3), 0, out=torch.zeros(3))
torch.nonzero(iota(3), out=torch.zeros(2, 1, dtype=torch.int64))
torch.nonzero(iota(3), out=torch.zeros(2, 1))
torch.tril(iota(2, 2), out=torch.zeros(2, 2))
torch.dot(iota(2), iota(2), out=torch.zeros(()))
torch.dot(iota(2), iota(2), out=torch.zeros((), dtype=torch.float64))
torch.addmm(iota(2, 2), iota(2, 2), iota(2, 2), alpha=2, out=torch.zeros(2, 2))
torch.add(iota(2), iota(2), alpha=2, out=torch.zeros(2))
torch.add(iota(2), iota(2), out=torch.zeros(2), alpha=2)
torch.sub(iota(2), iota(2), alpha=2, out=torch.zeros(2))
torch.div(iota(2), 2, rounding_mode="floor", out=torch.zeros(2))
torch.add(torch.zeros(2, device="meta"), 1, out=torch.zeros(2))
torch.add(iota(2), 1, out=torch.zeros(2, device="meta"))
torch.mm(iota(2, 2), iota(2, 2), out=torch.zeros(2, 2, device="meta"))
torch.max(iota(2, 3), 0, out=(torch.zeros(3, device="meta"),
    torch.zeros(3, dtype=torch.int64, device="meta")))
error_name(lambda: vmap(lambda x: torch.add(x, 1, out=x))(iota(2, 3)))
vmap(lambda x: torch.add(x, 1, out=torch.zeros(3)))(iota(2, 3))
vmap(lambda x: torch.sum(x, 0, out=torch.zeros(())))(iota(2, 3))
error_name(lambda: torch.func.jvp(lambda x: torch.add(x, 1, out=torch.zeros(2)), (iota(2),),
    (iota(2),)))
error_name(lambda: torch.func.jvp(lambda x: torch.mm(x, x, out=torch.zeros(2, 2)), (iota(2, 2),),
    (iota(2, 2),)))

# arguments by place and by name
torch.add(input=iota(2), other=iota(2))
torch.add(iota(2), other=iota(2))
torch.add(iota(2), iota(2), other=iota(2))
torch.add(iota(2), input=iota(2))
torch.add(iota(2), iota(2), 3, 4, 5)
torch.add(iota(2), iota(2), beta=3)
torch.add(iota(2))
torch.add()
torch.add(other=iota(2))
iota(2).add()
iota(2).add(1, 2, 3, 4)
iota(2).add(other=1)
iota(2).add(1, other=1)
iota(2).sqrt(1)
iota(2).sqrt(x=1)
torch.sqrt()
torch.sqrt(iota(2), iota(2))
torch.sqrt(input=iota(2))
torch.sqrt(iota(2), out=torch.zeros(2))
torch.sqrt(out=torch.zeros(2), input=iota(2))
torch.softmax(iota(2), dim=0)
torch.softmax(input=iota(2), dim=0, dtype=torch.float64)
torch.softmax(iota(2))
torch.softmax(iota(2), 0, dim=0)
torch.transpose(iota(2, 3), dim1=1, dim0=0)
torch.transpose(iota(2, 3), 0)
torch.transpose(iota(2, 3), 0, 1, 2)
iota(2, 3).transpose(dim0=0, dim1=1)
"".join(["d", "im"]) and torch.sum(iota(2, 3),
    **{"".join(["d", "im"]): 1, "".join(["keep", "dim"]): True})
torch.sum(iota(2, 3), **{"dim": 1, "kim": True})
torch.sum(iota(2, 3), 1, True)
torch.sum(iota(2, 3), axis=1)
torch.sum(iota(2, 3), 1, True, False, 3, 4)
iota(6).view(2, size=3)
iota(6).reshape(2, 3, shape=(2, 3))
iota(2, 3).permute(1, dims=(1, 0))
iota(2, 3).permute()
iota(2, 3).permute(1, 0, 0)
iota(3).expand(2, 3, implicit=True)
iota(3).expand((2, 3), implicit=2)
iota(3).repeat(2, repeats=(2,))
torch.add(iota(2), 2, iota(2))
with differs("What torch had in its early years; today's takes keywords only."):
    torch.addmm(iota(2, 2), 2, iota(2, 2), iota(2, 2))
torch.clamp(iota(3), min=1, max=2)
torch.clamp(iota(3), 1, max=2)
torch.clamp(min=1, input=iota(3))
torch.max(iota(2, 3), dim=1)
torch.max(iota(2, 3), 1, True)
torch.max(iota(2, 3), iota(2, 3) * 2 - 1)
torch.max(iota(2, 3), other=iota(3))
torch.max(iota(2, 3), keepdim=True)
torch.max(iota(2, 3), dim="x")
torch.max(iota(2, 3), 1, True, True)
torch.min(iota(2, 3), 0)
torch.std(iota(2, 3), 0, False)
torch.std(iota(2, 3), 0, True, True)
torch.var(iota(2, 3), unbiased=False)
torch.normal(iota(2), 0.0)
torch.normal(2.0, torch.zeros(2))
torch.normal(iota(2), torch.zeros(2))
torch.normal(2.0, 0.0, (2,))
iota(2, 3).sum(dim=1).numel()
torch.Tensor.add(iota(2), 1)
with differs("Operators on numbers alone are tensors here, of all operators."):
    torch.Tensor.add(3, 1)
torch.Tensor.sqrt(3)
torch.Tensor.sum(iota(2, 3), 1)
torch.add.__name__
torch.Tensor.add.__name__
[torch.add is torch.add, iota(2).add.__name__, callable(iota(2).add)]

@differs("Signatures and words of help are ours.")
def module_qualname():
    import copy
    import pickle
    return [pickle.loads(pickle.dumps(torch.add)) is torch.add,
        copy.deepcopy(torch.add) is torch.add, torch.add.__module__, torch.add.__qualname__]

with differs("Signatures and words of help are ours."):
    str(torch.add.__signature__)
    str(torch.sum.__signature__)
    str(torch.Tensor.permute.__signature__)
    str(torch.Tensor.repeat.__signature__)
    str(torch.sqrt.__signature__)
    str(torch.Tensor.add_.__signature__)
    torch.Tensor.add_.__doc__.split("\n\n")[:2]
    torch.sqrt.__doc__.split("\n")[0]
    repr(torch.add)[:16]
error_name(type(torch.add))

# the names that errors begin with
torch.matmul(iota(2, 3), iota(2, 3))
iota(2, 3) @ iota(2, 3)
iota(2, 3).matmul(iota(2, 3))
F.linear(iota(2, 3), iota(2, 2))
torch.einsum("ij,jk", iota(2, 3), iota(2, 3))
iota(2) + iota(3)
iota(2).add(iota(3))
iota(2).add_(iota(3))
iota(2) + "x"
"x" + iota(2)
iota(2) + None
iota(2) - [1]
-iota(2, dtype=torch.bool)
~iota(2)
iota(2) & iota(2)
iota(2) << iota(2)
iota(2).float().exp_().add_(iota(3))
torch.nn.functional.softmax(iota(2), 3)
F.cross_entropy(iota(2, 3), torch.tensor([0, 5]))
F.embedding(torch.tensor([5]), iota(3, 2))
with differs("The word is looked at before the shapes."):
    F.mse_loss(iota(2), iota(3), reduction="x")
torch.linalg.norm(iota(2, 3), dim=5)
torch.pairwise_distance(iota(2, 3), iota(2, 4))
F.cosine_similarity(iota(2, 3), iota(2, 4))
F.conv2d(iota(1, 1, 3, 3), iota(1, 2, 2, 2))
torch.tensordot(iota(2, 3), iota(2, 3), 1)
torch.stack((iota(2), iota(3)))
torch.hstack((iota(2, 2), iota(3, 3)))
torch.cdist(iota(2, 3), iota(2, 4))
nn.Linear(3, 2)(iota(2, 2))

def hook_matmul():
    class Odd(Exception):
        pass
    def hook(g):
        raise RuntimeError("mm: mine")
    x = iota(2, 2).requires_grad_()
    y = x.matmul(x)
    y.register_hook(hook)
    return y.sum().backward()

def back_runtime_error():
    def back(x):
        raise RuntimeError("add: mine", 3)
    return error_name(lambda: vmap(back)(iota(2)))

# kinds of arguments that few operators have
torch.empty_like(iota(2), device="cpu").shape
iota(2).to(device=torch.device("cpu")).shape
F.unfold(iota(1, 1, 3, 3), 2)
F.unfold(iota(1, 1, 3, 3), (2, 1))
F.unfold(iota(1, 1, 3, 3), (2, 1, 1))
F.fold(iota(1, 4, 4), 3, 2)
F.fold(iota(1, 4, 4), (3, 3), (2, 2))
F.pixel_shuffle(iota(1, 4, 1, 1), 2)
F.max_pool1d(iota(1, 1, 4), 2)
F.max_pool1d(iota(1, 1, 4), (2, 2))
F.max_pool3d(iota(1, 1, 2, 2, 2), 2)
F.avg_pool1d(iota(1, 1, 4), (2,))
F.adaptive_avg_pool2d(iota(1, 1, 4, 4), 2)
F.interpolate(iota(1, 1, 2, 2), scale_factor=2)
F.interpolate(iota(1, 1, 2, 2), size=(3, 3))
F.interpolate(iota(1, 1, 2, 2), size="x")
torch.rot90(iota(2, 2), 1, (0, 1))
torch.rot90(iota(2, 2), 1, "x")
iota(3, dtype=torch.bool).add(iota(3, dtype=torch.bool), alpha=0)
iota(3, dtype=torch.bool).add(iota(3, dtype=torch.bool), alpha=1)
torch.sub(iota(3, dtype=torch.int64), iota(3, dtype=torch.int64), alpha=True)
iota(2, 3).sum(0, keepdim=bool(1))
iota(2, 3).amax(0, bool(0))
torch.clamp(1e40 * iota(2, dtype=torch.float64), max=torch.tensor(1e39, dtype=torch.float64))
torch.clamp(iota(2), max=1e40)
torch.clamp(iota(2), max=-1e40)
torch.clamp(iota(2, dtype=torch.int64), max=1 << 62)
iota(3, dtype=torch.int64) // torch.tensor([1, 0])[:1]
iota(3, dtype=torch.int64) // torch.tensor([2, 0, 1])[1:2]
iota(2, dtype=torch.int64) // torch.tensor([0, 1])
iota(2, dtype=torch.int64) // torch.tensor([1, 2])

# memory that must not be written
@differs("memory that must not be written")
def full_linspace():
    a = np.zeros(4, dtype=np.float32)
    a.flags.writeable = False
    x = torch.from_numpy(a)
    return [error_name(lambda: torch.zeros(4, out=x)), error_name(lambda: torch.ones(4, out=x)),
        error_name(lambda: torch.full((4,), 1.0, out=x)),
        error_name(lambda: torch.arange(4, out=x)), error_name(lambda: torch.eye(2, out=x)),
        error_name(lambda: torch.linspace(0, 1, 4, out=x)),
        error_name(lambda: torch.empty(4, out=x)), x,]

with differs("memory that must not be written"):
    error_name(lambda: torch.eye(2, out=torch.zeros(1).expand(2, 2)))
    error_name(lambda: torch.empty(2, 2, out=torch.zeros(1).expand(2, 2)))

# what is written and read through storages that count by themselves
@differs("Torch writes over what it has yet to read.")
def unsafe_split_out():
    x = iota(2, 2)
    (y,) = torch.unsafe_split(x, 2)
    return torch.mm(x, x, out=y)

@differs("Torch writes over what it has yet to read.")
def unsafe_split_out_2():
    x = iota(2, 3)
    (y,) = torch.unsafe_split(x, 2)
    return torch.sum(x, 1, out=y[0, :2])

def unsafe_split_version():
    x = iota(4)
    (y,) = torch.unsafe_split(x, 4)
    return [torch.add(x, 1, out=y), x, x._version, y._version]

@differs("Methods take out=, too.")
def unsafe_split_cumsum():
    x = iota(3, 3)
    (y,) = torch.unsafe_split(x, 3)
    return x.t().cumsum(0, out=y)

# out= of wider dtypes, and of other devices
torch.add(iota(2).to(torch.float16), iota(2).to(torch.bfloat16), out=torch.zeros(2))
torch.sum(iota(3).to(torch.float16), 0, out=torch.zeros(()))
torch.mean(iota(3).to(torch.bfloat16), 0, out=torch.zeros((), dtype=torch.float64))
torch.sum(iota(3, dtype=torch.int64), 0, out=torch.zeros(()))
torch.cumsum(iota(3).to(torch.float16) * 0.1, 0, out=torch.zeros(3))
torch.prod(iota(3, dtype=torch.int64) + 1, 0, out=torch.zeros(()))
torch.cat([iota(2), iota(2)], out=torch.zeros(4, device="meta"))
torch.stack([iota(2), iota(2)], out=torch.zeros(2, 2, device="meta"))
with differs("torch has none for what comes out of meta"):
    torch.sum(iota(2), 0, out=torch.zeros((), device="meta"))
torch.cat([iota(2), torch.zeros(2, device="meta")])
torch.cat([torch.tensor([1.0]), torch.zeros(2, device="meta"), torch.zeros(2, device="meta")])
torch.stack([torch.zeros(2, device="meta"), iota(2)])
torch.where(torch.zeros(2, device="meta") > 0, iota(2), 1.0)
torch.index_select(torch.zeros(2, device="meta"), 0, torch.tensor([0]))
torch.addmm(iota(2), torch.zeros(2, 2, device="meta"), torch.zeros(2, 2, device="meta"))

# out=
[x := torch.zeros(3), torch.linalg.norm(iota(2, 3), dim=0, out=x) is x, x._version > 0, x]
[x := torch.zeros(2, dtype=torch.float64), with_warnings(lambda: torch.add(iota(3), 1,
    out=x))[0][:1], x]
[x := torch.zeros(0, dtype=torch.float64), with_warnings(lambda: torch.add(iota(3), 1,
    out=x))[0][:1], x]
[x := torch.zeros(1, 2), with_warnings(lambda: torch.add(iota(2), 1, out=x).shape)]
[x := torch.zeros(2, 3).t(), torch.add(iota(3, 2), 1, out=x), x.stride()]
[x := torch.zeros(2, 3).t(), torch.mul(iota(3, 2), iota(3, 2), out=x), x.stride()]
torch.add(iota(2), 1, out=torch.zeros(1).expand(2))
torch.add(iota(3).to(torch.float16), 1, out=torch.zeros(3))
torch.add(iota(3), 1, out=torch.zeros(3, dtype=torch.float16))
torch.sum(iota(3), 0, out=torch.zeros((), dtype=torch.int64))
torch.sum(iota(3, dtype=torch.bool), 0, out=torch.zeros((), dtype=torch.int64))
torch.any(iota(2, 2), 1, out=torch.zeros(2, dtype=torch.uint8))
torch.any(iota(2, 2), 1, out=torch.zeros(2, dtype=torch.bool))
torch.any(iota(2, 2), 1, out=torch.zeros(2, dtype=torch.int64))
torch.sort(iota(3), out=(torch.zeros(3), torch.zeros(3)))
torch.min(iota(2, 3), 1, out=(torch.zeros(2), torch.zeros(2, dtype=torch.int64)))
torch.topk(iota(3), 2, out=[torch.zeros(2), 3])
torch.topk(iota(3), 2, out=3)
[x := iota(4), torch.sort(x, descending=True, out=(x, torch.zeros(4, dtype=torch.int64)))[1], x]
with differs("of what is read a copy is made"):
    [x := iota(2, 3), torch.max(x, 0, out=(x[0], torch.zeros(3, dtype=torch.int64))), x]
torch.cat([iota(2), iota(2, dtype=torch.int64)], out=torch.zeros(4, dtype=torch.int64).double())
[x := iota(4), torch.flip(x, (0,)), x.cumsum_(0), x]
iota(2, 3).t().cumsum_(0), iota(6)[::2].cumsum_(0), iota(3, dtype=torch.int64).cumsum_(0)
iota(3, dtype=torch.int64).cumsum_(0, dtype=torch.float32)
iota(2, 3).cumsum_(2)
iota(2, 3).tril_(), iota(3, 2).t().tril_(), iota(2, 3)[:, 1:].triu_()
with differs("what lies in one place can't be written element by element"):
    iota(3).expand(2, 3).tril_()
iota(3).expand(2, 3).cumsum_(0)
