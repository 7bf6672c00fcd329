"""Out: calls of tensors and arguments (`ext/core`)."""

import autograd_cy as torch
from autograd_cy import nn
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import differs, error_name, iota, with_warnings

# what may be written into, and how
torch.add(iota(2), 1, out=torch.zeros(2, dtype=torch.bool))
with differs("Torch makes a tensor of it."):
    torch.add(iota(2), 1, out=3)
torch.add(iota(2).requires_grad_(), 1, out=torch.zeros(2))

def add_inference_mode():
    with torch.inference_mode():
        o = torch.zeros(2)
    return torch.add(iota(2), 1, out=o)

def out_inference_mode():
    with torch.inference_mode():
        o = torch.zeros(2)
    return torch.sum(iota(2, 2), 0, out=o)

torch.sum(iota(2, 3), 0, out=torch.zeros(3, requires_grad=True))
torch.mm(iota(2, 2), iota(2, 2), out=torch.zeros(2, 2, dtype=torch.float64))
torch.max(iota(2, 3), 0, out=(torch.zeros(1), torch.zeros(1, dtype=torch.int64)))
torch.max(iota(2, 3), 0, out=(torch.zeros(3),))
torch.max(iota(2, 3), 0, out=(torch.zeros(3), 3))
torch.max(iota(2, 3), 0, out=(torch.zeros(3, dtype=torch.float64),
    torch.zeros(3, dtype=torch.int64)))
torch.max(iota(2, 3), 0, out=(torch.zeros(3), torch.zeros(3)))
torch.max(iota(2, 3), 0, out=(torch.zeros(3, requires_grad=True),
    torch.zeros(3, dtype=torch.int64)))
torch.topk(iota(3), 2, out=(torch.zeros(2), torch.zeros(2, dtype=torch.int64)))
torch.eq(iota(2), 1, out=torch.zeros(2))
torch.logical_not(iota(2), out=torch.zeros(2))
torch.all(iota(2, 2), 0, out=torch.zeros(2))
torch.isin(iota(3), iota(2))
torch.bmm(iota(1, 2, 2), iota(1, 2, 2), out=torch.zeros(1, 2, 2))
torch.index_select(iota(3), 0, torch.tensor([2, 0]), out=torch.zeros(2, dtype=torch.float64))
torch.gather(iota(3), 0, torch.tensor([2, 0]), out=torch.zeros(2))
torch.clamp(iota(3), 1, out=torch.zeros(3))
torch.pow(iota(3), 2, out=torch.zeros(3))
torch.mean(iota(2, 3), 0, out=torch.zeros(3))
torch.argmax(iota(2, 3), 0, out=torch.zeros(3))
torch.nonzero(iota(3), out=torch.zeros(2, 1))
torch.tril(iota(2, 2), out=torch.zeros(2, 2))
torch.dot(iota(2), iota(2), out=torch.zeros((), dtype=torch.float64))
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
iota(2).sqrt(1)
iota(2).sqrt(x=1)
torch.sqrt(iota(2), out=torch.zeros(2))
torch.transpose(iota(2, 3), 0, 1, 2)
"".join(["d", "im"]) and torch.sum(iota(2, 3),
    **{"".join(["d", "im"]): 1, "".join(["keep", "dim"]): True})
torch.sum(iota(2, 3), 1, True, False, 3, 4)
iota(3).expand((2, 3), implicit=2)
torch.max(iota(2, 3), dim="x")
torch.max(iota(2, 3), 1, True, True)
torch.normal(iota(2), torch.zeros(2))
torch.Tensor.sqrt(3)
torch.add.__name__
[torch.add is torch.add, iota(2).add.__name__, callable(iota(2).add)]

@differs("Signatures and words of help are ours.")
def loads_pickle():
    import copy
    import pickle
    return [pickle.loads(pickle.dumps(torch.add)) is torch.add,
        copy.deepcopy(torch.add) is torch.add, torch.add.__module__, torch.add.__qualname__]

with differs("Signatures and words of help are ours."):
    str(torch.Tensor.permute.__signature__)
    str(torch.Tensor.repeat.__signature__)

# the names that errors begin with
"x" + iota(2)
-iota(2, dtype=torch.bool)
~iota(2)
iota(2) & iota(2)
iota(2) << iota(2)
with differs("The word is looked at before the shapes."):
    F.mse_loss(iota(2), iota(3), reduction="x")
nn.Linear(3, 2)(iota(2, 2))

def exception_matmul():
    class Odd(Exception):
        pass
    def hook(g):
        raise RuntimeError("mm: mine")
    x = iota(2, 2).requires_grad_()
    y = x.matmul(x)
    y.register_hook(hook)
    return y.sum().backward()

# kinds of arguments that few operators have
F.unfold(iota(1, 1, 3, 3), (2, 1))
F.fold(iota(1, 4, 4), 3, 2)
F.interpolate(iota(1, 1, 2, 2), size="x")
torch.rot90(iota(2, 2), 1, (0, 1))
torch.rot90(iota(2, 2), 1, "x")
iota(3, dtype=torch.int64) // torch.tensor([1, 0])[:1]
iota(3, dtype=torch.int64) // torch.tensor([2, 0, 1])[1:2]

# what is written and read through storages that count by themselves
@differs("Methods take out=, too.")
def unsafe_split_cumsum():
    x = iota(3, 3)
    (y,) = torch.unsafe_split(x, 3)
    return x.t().cumsum(0, out=y)

# out= of wider dtypes, and of other devices
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
[x := torch.zeros(1, 2), with_warnings(lambda: torch.add(iota(2), 1, out=x).shape)]
torch.add(iota(2), 1, out=torch.zeros(1).expand(2))
torch.any(iota(2, 2), 1, out=torch.zeros(2, dtype=torch.int64))
torch.sort(iota(3), out=(torch.zeros(3), torch.zeros(3)))
torch.topk(iota(3), 2, out=[torch.zeros(2), 3])
torch.topk(iota(3), 2, out=3)
iota(2, 3).tril_(), iota(3, 2).t().tril_(), iota(2, 3)[:, 1:].triu_()
with differs("what lies in one place can't be written element by element"):
    iota(3).expand(2, 3).tril_()
iota(3).expand(2, 3).cumsum_(0)
