"""Names, edges and saved attributes of nodes against torch, for every sample of every operator.

What torch shows must be shown; that nodes of this library save something else, or more, is none of
its business, but where they do not have what torch shows, a line of `HIDDEN` says why.
"""

import warnings

import pytest
from calls import (
    CLASS_OF,
    RECORDS,
    Case,
    make,
    method_name,
    outputs,
    public_function,
)
from grouping import each

import autograd_cy as ag
from autograd_cy.ops._schema import composite

torch = pytest.importorskip("torch")

# --- where they differ, and why -------------------------------------------------------------------

PARTS = "made of other operators, whose nodes are recorded"
ONE_NODE = "one node does what torch records as several"
WHOLE = "the conversion, cut or padding before the transform is part of its node"
IN_PLACE = "in place torch has a node of another name"
COMPLEX = "torch makes complex convolutions of real ones"
CONVOLUTIONS = [f"conv{part}{dims}d" for part in ("", "_transpose") for dims in (1, 2, 3)]
# (operator, name here, name in torch); None for any.
NAMES = {
    **{(name, None, None): PARTS for name in (
        "addr", "channel_shuffle", "pixel_shuffle", "pixel_unshuffle",
        "cross", "cumprod", "deg2rad", "diag", "diag_embed", "diagflat",
        "diagonal_scatter", "index_copy", "index_fill", "kron", "linalg.solve", "masked_select",
        "nan_to_num", "narrow_copy", "norm", "rad2deg", "repeat", "roll", "rot90", "select_scatter",
        "slice_scatter", "sum_to_size", "take", "tile", "trace")},
    **{(name, None, None): ONE_NODE for name in (
        "gru", "gru_cell", "lstm", "lstm_cell", "rnn_relu", "rnn_relu_cell", "rnn_tanh",
        "rnn_tanh_cell")},
    ("linear", "LinearBackward0", None): ONE_NODE,
    ("nn.functional.scaled_dot_product_attention", None, None): "one node for all shapes and masks",
    ("rms_norm", "FusedRmsNormBackward0", None): ONE_NODE,
    **{(name, None, None): PARTS for name in (
        "cumulative_trapezoid", "dist", "inner", "nanquantile", "nansum", "pdist", "quantile",
        "trapezoid", "trapz")},
    ("fill", "FillBackward0", "FillBackward1"): "one node for numbers and tensors",
    ("kl_div", "KlDivBackward0", None): ONE_NODE,
    ("pairwise_distance", None, "NormBackward1"): PARTS,
    **{(name, "ConvolutionBackward0", "AddBackward0"): COMPLEX
       for name in ("convolution", *CONVOLUTIONS)},
    ("matmul", "UnsafeViewBackward0", "SqueezeBackward4"): IN_PLACE,
    ("fft.fft", "FftC2CBackward0", "FftR2CBackward0"): WHOLE,
    ("fft.ifft", "FftC2CBackward0", "ConjBackward0"): WHOLE,
    **{(f"a{name}h", None, f"A{name}hBackward1"): IN_PLACE for name in ("cos", "sin", "tan")},
    ("conj_physical", None, None): IN_PLACE,
    **{(f"{name}_pool1d{more}", None, "SqueezeBackward1"): ONE_NODE
       for name, more in (("max", ""), ("max", "_with_indices"), ("avg", ""), ("adaptive_max", ""),
                          ("adaptive_avg", ""))},
    ("nn.functional.pad", "CircularPadBackward0", None): ONE_NODE,
    ("rsub", "SubBackward0", None): "with a factor, the difference is that of sub",
    ("squeeze", "SqueezeBackward1", "SqueezeBackward2"): "one node for one dimension or several",
}  # fmt: skip
EDGES = {
    "nn.functional.scaled_dot_product_attention": "no node of its own for a safe softmax",
    **{f"fft.{name}": WHOLE for name in ("fft", "ifft", "rfft", "irfft")},
    **dict.fromkeys(CONVOLUTIONS, COMPLEX),
    "matmul": "a vector times matrices is a batch of products; torch copies and folds them",
    "outer": "unsqueeze in place of view",
    "nanmean": PARTS,
    **dict.fromkeys(("corrcoef", "cov", "cumulative_trapezoid", "trapezoid", "trapz"), PARTS),
    "cdist": "sets are expanded to common batches",
    "fill": "a number has an edge that leads nowhere",
    **dict.fromkeys(("bilinear", "margin_ranking_loss", "triplet_margin_loss"), PARTS),
    "poisson_nll_loss": PARTS,
    **dict.fromkeys(("gru", "lstm", "rnn_relu", "rnn_tanh"), ONE_NODE),
    **{
        f"{name}_pool1d{more}": ONE_NODE
        for name, more in (
            ("max", ""),
            ("max", "_with_indices"),
            ("avg", ""),
            ("adaptive_max", ""),
            ("adaptive_avg", ""),
        )
    },
}
UNNEEDED = "no gradient needs it: keeping it would cost memory"
# (node, attribute), None for all attributes.
HIDDEN = {
    ("ComplexBackward0", "real"): UNNEEDED,
    ("ComplexBackward0", "imag"): UNNEEDED,
    ("PolarBackward0", "result"): "its derivatives are made of modulus and angle",
    ("FftR2CBackward0", "self"): UNNEEDED,
    ("IndexAddBackward0", "source"): UNNEEDED,
    ("GatherBackward0", "self"): UNNEEDED,
    ("NllLossBackward0", "self"): UNNEEDED,
    ("ProdBackward0", "result"): "the products of the others are computed without it",
    ("ProdBackward1", "result"): "the products of the others are computed without it",
    ("LinalgSolveExBackward0", None): "SciPy solves; there is no decomposition to keep",
    ("NativeBatchNormBackward0", None): "statistics of the batch are kept where it has some",
    ("NativeLayerNormBackward0", "bias"): UNNEEDED,
    ("NativeGroupNormBackward0", "HxW"): "the edge knows the shape",
    ("SqueezeBackward1", "dim"): UNNEEDED,
    ("CummaxBackward0", "self"): UNNEEDED,
    ("CumminBackward0", "self"): UNNEEDED,
    **{("CdistBackward0", name): "expanded to common batches" for name in ("x1", "x2")},
    ("LogSigmoidBackward0", "buffer"): UNNEEDED,
    ("RreluWithNoiseBackward0", "noise"): "without training there is none",
    ("DivBackward2", "other"): UNNEEDED,
    ("UnsafeViewBackward0", "self_sym_sizes"): "a vector times matrices is a batch of products",
    ("ViewBackward0", "self_sym_sizes"): "bilinear reshapes another product",
    **{(f"{name}Backward0", "correction"): "1 where nothing is given"
       for name in ("Var", "Std", "VarMean", "StdMean")},
    ("Im2ColBackward0", "self_sym_argsize_minus_1"): "the edge knows the shape",
    ("Im2ColBackward0", "self_sym_argsize_minus_2"): "the edge knows the shape",
    ("ConvolutionBackward0", "bias_sym_sizes_opt"): "None where there is no bias",
    **{(f"{name}{rank}D{more}Backward0", "self"): UNNEEDED
       for rank in (2, 3)
       for name, more in (("MaxPool", "WithIndices"), ("AvgPool", ""), ("AdaptiveMaxPool", ""),
                          ("AdaptiveAvgPool", ""))},
    **{(f"{name}{rank}D{more}Backward0", "stride"): "the size of a window where none is given"
       for rank in (2, 3) for name, more in (("MaxPool", "WithIndices"), ("AvgPool", ""))},
    ("EmbeddingBagBackward0", None): "it keeps what its own gradient needs",
    **{(f"{name}Pad{rank}DBackward0", "self"): UNNEEDED
       for name in ("Reflection", "Replication") for rank in (1, 2, 3)},
    ("SplitBackward0", "split_size"): "a size beyond the end is cut",
}  # fmt: skip


def name_of(record):
    return ".".join(filter(None, (record.namespace, record.name)))


def named_alike(record, ours, theirs):
    if ours == theirs:
        return True
    return any((name_of(record), a, b) in NAMES for a in (ours, None) for b in (theirs, None))


# --- calls in both ------------------------------------------------------------------------------


def as_torch(x):
    if isinstance(x, ag.Tensor):
        return torch.tensor(x.detach().numpy(), requires_grad=x.requires_grad)
    if isinstance(x, (tuple, list)):
        return type(x)(as_torch(y) for y in x)
    return x


def functions(record, in_place):
    """Return the function or method of both libraries; None where one hasn't got it."""
    if in_place:
        name = method_name(record) + "_"
        return getattr(ag.Tensor, name, None), getattr(torch.Tensor, name, None)
    if record.call.method and not record.call.function:
        return getattr(ag.Tensor, method_name(record)), getattr(torch.Tensor, record.name, None)
    theirs = torch
    for word in (*filter(None, record.namespace.split(".")), record.name):
        theirs = getattr(theirs, word, None)
    return public_function(record), theirs or getattr(torch.nn.functional, record.name, None)


def results(record, case, dtype, in_place):
    """Outputs of both that have a history, in pairs."""
    call = make(case, dtype)
    ours, theirs = functions(record, in_place)
    if ours is None or theirs is None or not call.moving:
        return
    args, kwargs = call.arguments(call.tensors(True))
    their_args, their_kwargs = as_torch(args), {k: as_torch(v) for k, v in kwargs.items()}
    if in_place:
        args, their_args = (args[0].clone(), *args[1:]), (their_args[0].clone(), *their_args[1:])
    try:
        found = outputs(theirs(*their_args, **their_kwargs))
    except RuntimeError:
        return  # not for this dtype, or the result doesn't fit in place
    if in_place and found[0].shape != make(case, dtype).arrays[0].shape:
        return  # torch's addbmm_ enlarges its tensor, see test_differences_from_torch.py
    yield from zip(outputs(ours(*args, **kwargs)), found)


def pairs(record):
    """(label, node of this library, node of torch)."""
    for number in range(len(record.tests.samples)):
        for dtype in ("float64", "complex128"):
            if CLASS_OF[dtype] not in record.call.dtypes:
                continue
            case = Case(record, number)
            # Composites of the interpreted tier write their result over the tensor: another node.
            copies = record.tier == "interpreted" and isinstance(record.kernel, composite)
            for in_place in (False, True) if record.call.inplace and not copies else (False,):
                label = f"{case.id}{'_' * in_place} {dtype}"
                for ours, theirs in results(record, case, dtype, in_place):
                    yield label, ours, theirs


# --- what nodes show ----------------------------------------------------------------------------


def plain(value, theirs):
    """A saved value to compare: of a tensor its shape, of torch's unsigned numbers signed ones."""
    if isinstance(value, (ag.Tensor, torch.Tensor)):
        return "tensor", tuple(value.shape)
    if isinstance(value, (tuple, list)):
        return tuple(plain(x, theirs) for x in value)
    if isinstance(value, (ag.dtype, torch.dtype)):
        return str(value).rpartition(".")[2]
    if theirs and type(value) is int and value >= 2**63:
        return value - 2**64
    return value


def alike(ours, theirs, name, ndim):
    """Return whether two saved values are the same; no dimension is negative here."""
    if ours == theirs:
        return type(ours) is type(theirs) or isinstance(theirs, complex | float)
    if isinstance(ours, tuple) and isinstance(theirs, tuple) and len(ours) == len(theirs):
        return all(alike(a, b, name, ndim) for a, b in zip(ours, theirs))
    counts = "dim" in name and type(ours) is type(theirs) is int
    return counts and theirs < 0 and ours - theirs in (ndim - 1, ndim, ndim + 1)


def hidden(node, name):
    return (node, name) in HIDDEN or (node, None) in HIDDEN


def differences(node, theirs, ndim):
    """List the attributes that torch's node shows and this one doesn't."""
    for name in dir(theirs):
        if not name.startswith("_saved_") or hidden(theirs.name(), name[7:]):
            continue
        wanted = plain(getattr(theirs, name), True)
        if wanted is None:
            continue  # nothing to show
        found = plain(getattr(node, name, "absent"), False)
        if not alike(found, wanted, name, ndim):
            yield f"{theirs.name()}.{name}: {found!r}, torch: {wanted!r}"


def edges(node):
    return [None if n is None else n.name() for n, _ in node.next_functions]


def recorded(node):
    """Count the nodes between a result and the leaves."""
    seen, todo = set(), [node]
    while todo:
        node = todo.pop()
        if node is not None and not node.name().endswith("AccumulateGrad") and node not in seen:
            seen.add(node)
            todo += [n for n, _ in node.next_functions]
    return len(seen)


def stands_for_several(record, ours, theirs):
    """Return whether an operator's own node is one where torch, which makes it of others, has
    several."""
    return (
        ours is not None
        and theirs is not None
        and ours.name() == record.derivatives.node
        and not isinstance(record.kernel, composite)
        and recorded(ours) < recorded(theirs)
    )


def wrong(record):
    found = set()
    for label, ours, theirs in pairs(record):
        a, b = ours.grad_fn, theirs.grad_fn
        names = (a and a.name()), (b and b.name())
        if names[0] != names[1]:
            if not (named_alike(record, *names) or stands_for_several(record, a, b)):
                found.add(f"{label}: {names[0]}, torch: {names[1]}")
            continue
        if a is None:
            continue
        if edges(a) != edges(b) and name_of(record) not in EDGES:
            found.add(f"{label}: edges {edges(a)}, torch: {edges(b)}")
        if ours.output_nr != theirs.output_nr:
            found.add(f"{label}: output {ours.output_nr}, torch: {theirs.output_nr}")
        found |= {f"{label}: {text}" for text in differences(a, b, ours.ndim)}
    return sorted(found)


@each("record", [pytest.param(r, id=r.key) for r in RECORDS if r.public and r.tests.samples])
def test_nodes_show_what_those_of_torch_show(record):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not wrong(record), "\n".join(wrong(record))


# --- calls that samples do not make --------------------------------------------------------------

PROGRAMS = {
    "div, trunc": lambda m, x: m.div(x, m.ones(2), rounding_mode="trunc"),
    "div, floor by a number": lambda m, x: m.div(x, 2, rounding_mode="floor"),
    "true division": lambda m, x: x / 2,
    "one over it": lambda m, x: 1 / x,
    "remainder by a tensor": lambda m, x: x % m.ones(2),
    "rsub": lambda m, x: 5 - x,
    "masked_fill by a tensor": lambda m, x: x.masked_fill(m.tensor([True, False]), m.tensor(2.0)),
    "scatter of a number": lambda m, x: x.scatter(0, m.tensor([0]), 3.0),
    "scatter of a tensor": lambda m, x: x.scatter(0, m.tensor([0]), m.ones(1)),
    "square": lambda m, x: x.square(),
    "add with a factor": lambda m, x: m.add(x, x, alpha=3),
    "sub with a factor": lambda m, x: m.sub(x, x, alpha=3),
    "gelu, tanh": lambda m, x: m.nn.functional.gelu(x, approximate="tanh"),
    "norm": lambda m, x: x.sum(dim=0, keepdim=True),
    "amax": lambda m, x: x.amax(),
    "clamp with tensors": lambda m, x: m.clamp(x, m.zeros(2), m.ones(2)),
    "clamp_ by numbers": lambda m, x: x.clone().clamp_(0, 1),
    "clamp_ by one": lambda m, x: x.clone().clamp_(max=1),
    "masked_fill_": lambda m, x: x.clone().masked_fill_(m.tensor([True, False]), 1.0),
    "logit": lambda m, x: m.logit(x, 0.1),
    "narrow": lambda m, x: x.narrow(0, -1, 1),
    "expand": lambda m, x: x.expand(3, 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nodes_of_other_calls_are_those_of_torch(name):
    def run(m):
        return PROGRAMS[name](m, m.tensor([0.25, 0.5], requires_grad=True)).grad_fn

    ours, theirs = run(ag), run(torch)
    assert ours.name() == theirs.name() and edges(ours) == edges(theirs)
    assert not list(differences(ours, theirs, 1))


def test_every_exception_is_still_needed():
    """An operator that no longer differs from torch loses its line."""
    different = set()
    for record in RECORDS:
        if not record.public or (name_of(record), None, None) not in NAMES:
            continue
        for _, ours, theirs in pairs(record):
            names = [x.grad_fn and x.grad_fn.name() for x in (ours, theirs)]
            if names[0] != names[1]:
                different.add(name_of(record))
    listed = {name for name, ours, theirs in NAMES if ours is theirs is None}
    assert listed - {"cross", "matmul"} <= different | {"conj_physical"}
