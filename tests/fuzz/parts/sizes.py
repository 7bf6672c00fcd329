"""Absurd sizes, strides, offsets and counts: an error, or a tensor whose memory is its own."""

from dataclasses import dataclass

from ..case import PRELUDE, REFUSALS, Result, Wrong, chance, choice

# Each hole is filled with a number of its own.
CALLS = (
    "x.as_strided(({n}, {n}), ({n}, {n}), {n})",
    "x.as_strided(({n},), ({n},))",
    "x.as_strided(({n},), ({n},), {n})",
    "x[2:].as_strided(({n},), ({n},))",
    "x.as_strided_scatter(torch.ones(2), ({n},), ({n},), {n})",
    "torch.empty_strided(({n}, {n}), ({n}, {n}))",
    "torch.empty_strided(({n},), ({n},))",
    "x.new_empty_strided(({n}, 2), ({n}, {n}))",
    "torch.zeros({n}, {n})",
    "torch.empty(({n}, {n}, {n}))",
    "torch.full(({n}, {n}), 1.0)",
    "torch.ones({n}, 0, {n})",
    "x.new_zeros({n}, {n})",
    "torch.zeros(2).expand({n}, 2)",
    "torch.zeros(1).expand({n}).expand({n}, {n})",
    "torch.zeros(1).expand({n}, {n})[{n}]",
    "torch.zeros(1, 1).expand({n}, {n}).reshape({n}, {n})",
    "torch.zeros(1, 1).expand({n}, {n}).view({n})",
    "torch.zeros(0).view({n}, {n})",
    "torch.zeros(0, 3).reshape({n}, {n}, 0)",
    "torch.cat([torch.zeros(1).expand({n})] * 3 + [x])",
    "torch.cat([torch.zeros(1).expand({n})] * 4 + [x])",
    "torch.stack([torch.zeros(1).expand({n})] * 2)",
    "x.narrow(0, {n}, {n})",
    "torch.narrow(x, {n}, 0, 1)",
    "x.narrow_copy(0, {n}, {n})",
    "x[{n}:{n}]",
    "x[{n}:{n}:{n}]",
    "x[::{n}]",
    "x.select(0, {n})",
    "x.select({n}, 0)",
    "x.unfold(0, {n}, {n})",
    "x.unfold({n}, 1, 1)",
    "x.repeat({n}, {n})",
    "x.tile({n}, {n})",
    "x.repeat_interleave({n})",
    "x.repeat_interleave(torch.tensor([{i}, {i}, 0, 0, 1]))",
    "torch.repeat_interleave(x, torch.tensor([1, 1, 1, 1, 1]), output_size={n})",
    "x.split({n})",
    "x.split([{n}, {n}])",
    "torch.tensor_split(x, {n})",
    "torch.tensor_split(x, [{n}, {n}])",
    "x.chunk({n})",
    "torch.arange({n})",
    "torch.arange({n}, {n}, {n})",
    "torch.arange(0, {n}, 0.5)",
    "torch.linspace(0, 1, {n})",
    "torch.logspace(0, 1, {n})",
    "torch.eye({n}, {n})",
    "torch.randperm({n})",
    "torch.randint({n}, {n}, (3,))",
    "torch.randint(0, 9, ({n}, {n}))",
    "torch.rand({n}, {n})",
    "torch.diag_embed(x, {n})",
    "torch.diagflat(x, {n})",
    "torch.diagonal(y, {n})",
    "torch.tril(y, {n})",
    "torch.triu(y, {n})",
    "torch.roll(x, {n})",
    "torch.roll(y, ({n}, {n}), (0, 1))",
    "torch.rot90(y, {n})",
    "torch.diff(x, {n})",
    "x.topk({n})",
    "x.unsqueeze({n})",
    "x.transpose({n}, 0)",
    "y.permute({n}, {n})",
    "y.flatten({n}, {n})",
    "x.unflatten(0, ({n}, {n}))",
    "x.take(torch.tensor([{i}, {i}]))",
    "x[torch.tensor([{i}, {i}])]",
    "x.index_select(0, torch.tensor([{i}]))",
    "x.gather(0, torch.tensor([{i}]))",
    "x.scatter(0, torch.tensor([{i}]), 1.0)",
    "x.scatter_add(0, torch.tensor([{i}]), torch.ones(1))",
    "x.index_add(0, torch.tensor([{i}]), torch.ones(1))",
    "x.index_copy(0, torch.tensor([{i}]), torch.ones(1))",
    "x.index_fill(0, torch.tensor([{i}]), 1.0)",
    "x.index_put((torch.tensor([{i}]),), torch.ones(1))",
    "x.clone().index_put_((torch.tensor([{i}]),), torch.ones(1), accumulate=True)",
    "torch.nn.functional.nll_loss(y, torch.tensor([{i}, {i}, 0]))",
    "torch.nn.functional.cross_entropy(y, torch.tensor([{i}, 0, 0]), ignore_index={n})",
    "x.clone().resize_({n}, {n})",
    "x.clone().resize_({n}).fill_(1.0)",
    "x.sum_to_size({n}, {n})",
    "x.broadcast_to({n}, {n})",
    "torch.UntypedStorage({n})",
    "torch.frombuffer(bytearray(40), dtype=torch.float32, count={n}, offset={n})",
    "torch.scalar_tensor({n})",
    "torch.tensor([{n}])",
    "torch.tensor({n}, dtype=torch.int8)",
    "x.sum({n})",
    "x.cumsum({n})",
    "y.softmax({n})",
    "x.var(correction={n})",
    "torch.movedim(y, {n}, {n})",
    "torch.flip(y, ({n}, {n}))",
    "torch.select_scatter(y, torch.zeros(4), 0, {n})",
    "torch.slice_scatter(y, torch.zeros(3, 4), 0, {n}, {n}, {n})",
    "torch.diagonal_scatter(y, torch.zeros(3), {n})",
    "torch.bitwise_left_shift(torch.tensor([1]), {i})",
    "torch.kron(torch.zeros(1).expand({n}), torch.zeros(1).expand({n}))",
    "torch.outer(torch.zeros(1).expand({n}), torch.zeros(1).expand({n}))",
    "torch.zeros(1).expand({n}) + 1",
    "torch.zeros(1, 1).expand({n}, 1) + torch.zeros(1, 1).expand(1, {n})",
    "torch.zeros(1, 1).expand({n}, 1) @ torch.zeros(1, 1).expand(1, {n})",
    "torch.nn.Linear({n}, {n})",
    "torch.meshgrid(torch.zeros(1).expand({n}), torch.zeros(1).expand({n}), indexing='ij')",
    "torch.Tensor({n}, {n})",
    "torch.vmap(lambda a: a + 1)(torch.zeros(1, 1).expand({n}, 3))",
    "torch.manual_seed({n})",
)
POWERS = (1, 5, 8, 15, 16, 20, 30, 31, 32, 33, 40, 60, 61, 62, 63, 64, 65)
INDEX_LIMIT = 2**63
MOST = 100_000  # elements that are worth looking at


@dataclass(frozen=True)
class Sizes:
    title: str
    call: str
    grad: bool

    def source(self):
        grad = ", requires_grad=True" if self.grad else ""
        return (
            f"{PRELUDE}x = torch.ones(5{grad})\ny = torch.ones(3, 4{grad})\n"
            f"result = {self.call}\nprint(result)\n"
        )


def number(rng):
    """Small ones, and those around powers of two, of both signs."""
    if chance(rng, 0.4):
        return int(rng.integers(-3, 8))
    n = 2 ** choice(rng, POWERS) + int(rng.integers(-2, 3))
    if chance(rng, 0.2):
        n += 2 ** choice(rng, POWERS)
    return -n if chance(rng, 0.25) else n


def make(rng):
    template = choice(rng, CALLS)
    call = template
    while "{n}" in call:
        call = call.replace("{n}", str(number(rng)), 1)
    while "{i}" in call:
        n = number(rng)
        call = call.replace("{i}", str(n if abs(n) < INDEX_LIMIT else n % 11), 1)
    return Sizes(template, call, chance(rng, 0.3))


def run(case, lib):
    names = {"torch": lib}
    names["x"] = lib.ones(5, requires_grad=case.grad)
    names["y"] = lib.ones(3, 4, requires_grad=case.grad)
    try:
        result = eval(case.call, names)
        # A million pieces would take minutes.
        for t in result[:1000] if isinstance(result, (tuple, list)) else [result]:
            touch(t, lib)
    except (*REFUSALS, OverflowError, MemoryError) as error:
        return Result("refused", f"{type(error).__name__}: {error}")
    finally:
        for name in "xy":
            if names[name].sum().item() != names[name].numel():
                raise Wrong(f"{name} has changed")
    return Result()


def touch(t, lib):
    """Read and write all memory of a tensor, if it is little; check first that it is there."""
    if not isinstance(t, lib.Tensor):
        return
    if any(size < 0 for size in t.shape):
        raise Wrong(f"a tensor of shape {tuple(t.shape)}")
    elements = 1
    for size in t.shape:
        elements *= size
    if elements == 0:
        repr(t)
        return
    last = t.storage_offset() + sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
    held = t.untyped_storage().nbytes() // t.element_size()
    if t.storage_offset() < 0 or last >= held:
        raise Wrong(f"a window that ends at {last} of {held} elements")
    if elements <= MOST:
        t.detach().sum().item()
        repr(t)
        if t.requires_grad and t.dtype.is_floating_point:
            t.sum().backward()
