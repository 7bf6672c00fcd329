"""Sums, products, extremes and norms, also along dimensions; running sums and products."""

from autograd_cy.ops._schema import (
    EACH,
    INDEX,
    TRUTH,
    arg,
    call,
    composite,
    error,
    integers,
    loop,
    nondiff,
    one,
    op,
    real,
    sample,
    shapes,
)

ALL = shapes(((3, 4),), ((),), ((5,),), ((2, 3, 2),))
DIMS = [
    sample((arg((3, 4)), 0)),
    sample((arg((3, 4)), -1), {"keepdim": True}),
    sample((arg((2, 3, 4)), (0, 2))),
    sample((arg((5,)), 0)),
    sample((arg(()), 0)),
    sample((arg((2, 3, 4)), 1), {"keepdim": True}),
]
BY_DIM = "len(args) > 1 or 'dim' in kwargs"

# --- sums and means ----------------------------------------------------------------------------

op(
    "sum(self, *, dtype: dtype? = None)",
    wide_out=True,
    kernel=call(
        "reduce.sum_into",
        ("self", "None", "False", "dtype"),
        shape="rules_reduction.summed(self, None, False, dtype)",
    ),
    vjp={"self": "grad.expand(self.shape)"},
    jvp="linear",
    vmap=f"sum({EACH}, 1, False, dtype)",
    dtypes="biuhfc",
    samples=ALL,
    reference="np.sum(self, dtype=np.int64 if self.dtype.kind in 'bui' else None)",
    tolerance=1e-4,
    doc="Sum of all elements; integers give int64.",
    example=">>> ag.sum(ag.tensor([[1, 2], [3, 4]]), dim=0)\ntensor([4, 6])",
)

op(
    "sum.dim(self, dim: dims?, keepdim: bool = False, *, dtype: dtype? = None)",
    node="SumBackward1",
    when=BY_DIM,
    wide_out=True,
    kernel=call("reduce.sum_into", shape="rules_reduction.summed(self, dim, keepdim, dtype)"),
    vjp={"self": "_expand_reduced(grad, self.shape, dim, keepdim)"},
    jvp="linear",
    vmap="dims",
    dtypes="biuhfc",
    samples=DIMS,
    reference=(
        "np.sum(self, axis=dim if self.ndim else None, keepdims=keepdim, dtype=np.int64 "
        "if self.dtype.kind in 'bui' else None)"
    ),
    tolerance=1e-4,
    doc="Sum over one or several dimensions.",
)

op(
    "_expand_reduced(self, shape: object, dim: object, keepdim: bool)",
    kernel=composite("reduction.expand_reduced"),
    doc="A reduced tensor expanded back to `shape`.",
)

op(
    "_sum_of_squares(self, dim: dims?, keepdim: bool = False)",
    kernel=call("reduce.squares_into", shape="rules_reduction.summed(self, dim, keepdim, -1)"),
    vjp={"self": "_expand_reduced(grad * 2, self.shape, dim, keepdim) * self"},
    jvp={"self": "sum(self_t * self, dim, keepdim) * 2"},
    vmap="dims",
    samples=DIMS,
    dtypes="f",
    reference="np.sum(np.square(self), axis=dim if self.ndim else None, keepdims=keepdim)",
    tolerance=1e-4,
    doc="Sum of the squares, in one pass.",
)

op(
    "sum_to_size(self, size: sizes)",
    function=False,
    kernel=composite("reduction.sum_to_size"),
    samples=[one((3, 4), (1, 4)), one((2, 3), (3,)), one((3,), (3,))],
    reference=(
        "self.sum(tuple(range(self.ndim - len(size))) + tuple(i for i in range(self.ndim "
        "- len(size), self.ndim) if size[i - self.ndim + len(size)] != self.shape[i]), "
        "keepdims=True).reshape(size)"
    ),
    doc="Summed to a shape that broadcasts to the own one.",
    example=">>> ag.tensor([[1, 2], [3, 4]]).sum_to_size(1, 2)\ntensor([[4, 6]])",
)

op(
    "mean(self, *, dtype: dtype? = None)",
    wide_out=True,
    kernel=call(
        "reduce.mean_into",
        ("self", "None", "False", "dtype"),
        shape="rules_reduction.averaged(self, None, False, dtype)",
    ),
    vjp={"self": "(grad / self.numel() if self.numel() > 0 else grad).expand(self.shape)"},
    shows={"self_sym_numel": "self.numel()"},
    jvp="linear",
    vmap=f"mean({EACH}, 1, False, dtype)",
    samples=ALL,
    dtypes="hfc",
    refusal="elements must be floating point or complex",
    reference="np.mean(self)",
    tolerance=1e-4,
    doc="Mean of all elements.",
    example=">>> ag.mean(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), dim=0)\ntensor([2., 3.])",
)

op(
    "mean.dim(self, dim: dims?, keepdim: bool = False, *, dtype: dtype? = None)",
    node="MeanBackward1",
    when=BY_DIM,
    wide_out=True,
    kernel=call("reduce.mean_into", shape="rules_reduction.averaged(self, dim, keepdim, dtype)"),
    vjp={
        "self": (
            "_expand_reduced(grad / count_reduced(self.shape, dim) if self.numel() > 0 else grad, "
            "self.shape, dim, keepdim)"
        )
    },
    shows={"self_sym_numel": "self.numel()"},
    jvp="linear",
    vmap="dims",
    samples=DIMS,
    dtypes="hfc",
    refusal="elements must be floating point or complex",
    reference="np.mean(self, axis=dim if self.ndim else None, keepdims=keepdim)",
    tolerance=1e-4,
    doc="Mean over one or several dimensions.",
)

op(
    "logsumexp(self, dim: dims, keepdim: bool = False)",
    widen=("bi", "float"),
    wide_out=True,
    kernel=call("reduce.logsumexp_into", shape="rules_reduction.logsumexp(self, dim, keepdim)"),
    vjp={
        "self": (
            "_expand_reduced(grad, self.shape, dim, keepdim) * exp(self - _expand_reduced(result, "
            "self.shape, dim, keepdim)).conj()"
        )
    },
    jvp={
        "self": (
            "sum(self_t * exp(self - _expand_reduced(result, self.shape, dim, keepdim)), dim, "
            "keepdim)"
        )
    },
    vmap="dims",
    samples=DIMS,
    dtypes="bihfc",
    tolerance=1e-4,
    reference=(
        "scipy.special.logsumexp(self.astype(np.result_type(self.dtype, np.float32)), axis=dim "
        "if self.ndim else None, keepdims=keepdim)"
    ),
    doc="Logarithm of the sum of exponentials, without overflow.",
    example=">>> ag.logsumexp(ag.tensor([0.0, 1.0]), 0)\ntensor(1.3133)",
)

op(
    "count_nonzero(self, dim: dims? = None)",
    kernel=composite("sum(ne(self, 0), dim, False)"),
    samples=[sample((arg((3, 4), integers(0, 2)),)), sample((arg((3, 4), integers(0, 2)), 0))],
    reference="np.count_nonzero(self, dim)",
    doc="Count the elements that aren't zero.",
    example=">>> ag.count_nonzero(ag.tensor([0, 3, 4]))\ntensor(2)",
)

op(
    "trace(self)",
    kernel=composite("reduction.trace"),
    samples=[one((3, 4)), one((2, 2))],
    reference="np.trace(self)",
    tolerance=1e-4,
    autocast="float32",
    doc="Sum of the diagonal of a matrix.",
    example=">>> ag.trace(ag.tensor([[1, 2], [3, 4]]))\ntensor(5)",
)

# --- truth -------------------------------------------------------------------------------------

for _name in ("all", "any"):
    op(
        f"{_name}(self, dim: dims? = None, keepdim: bool = False)",
        kernel=call(f"reduce.{_name}_into", shape="rules_reduction.truth(self, dim, keepdim)"),
        out="truth",
        dtypes="biuhfc",
        vjp=nondiff(TRUTH),
        vmap="dims",
        samples=[*ALL, *DIMS],
        reference=f"np.{_name}(self, axis=dim if self.ndim else None, keepdims=keepdim)",
        doc=f"Tell whether {_name} elements are true.",
        example={
            "all": ">>> ag.all(ag.tensor([[1, 0], [1, 1]]), 1)\ntensor([False,  True])",
            "any": ">>> ag.any(ag.tensor([[1, 0], [0, 0]]), 1)\ntensor([ True, False])",
        }[_name],
    )

# --- without NaN -------------------------------------------------------------------------------

WITH_DIM = [one((3, 4)), one(()), one((3, 4), 0), one((3, 4), -1, True), one((2, 3, 4), (0, 2))]

op(
    "nansum(self, dim: dims? = None, keepdim: bool = False, *, dtype: dtype? = None)",
    tier="interpreted",
    kernel=composite("reduction.nansum", into=True),
    out=True,
    wide_out=True,
    samples=WITH_DIM,
    dtypes="bihf",
    tolerance=1e-4,
    reference=(
        "np.nansum(self, dim if self.ndim else None, keepdims=keepdim, dtype=np.int64 if "
        "self.dtype.kind in 'bui' else None)"
    ),
    doc="Sum of the elements that aren't NaN.",
    example='>>> ag.nansum(ag.tensor([1.0, float("nan"), 2.0]))\ntensor(3.)',
)

op(
    "nanmean(self, dim: dims? = None, keepdim: bool = False, *, dtype: dtype? = None)",
    tier="interpreted",
    kernel=composite("reduction.nanmean", into=True),
    out=True,
    samples=WITH_DIM,
    dtypes="hf",
    tolerance=1e-4,
    reference="np.nanmean(self, dim if self.ndim else None, keepdims=keepdim)",
    doc="Mean of the elements that aren't NaN.",
    example='>>> ag.nanmean(ag.tensor([1.0, float("nan"), 2.0]))\ntensor(1.5000)',
)

# --- extremes ----------------------------------------------------------------------------------

for _name, _np, _doc in (
    ("amax", "max", "Largest element over dimensions; ties share the gradient."),
    ("amin", "min", "Smallest element over dimensions; ties share the gradient."),
):
    op(
        f"{_name}(self, dim: dims? = None, keepdim: bool = False)",
        out="exact",
        kernel=call(f"reduce.{_name}_into", shape="rules_reduction.extreme(self, dim, keepdim)"),
        vjp={"self": "_share_among_ties(grad, self, result, dim, keepdim)"},
        shows={"dim": "() if dim is None else dim"},
        jvp={
            "self": (
                "sum(where(eq(self, _expand_reduced(result, self.shape, dim, keepdim)), self_t, "
                "0), dim, keepdim) / sum(eq(self, _expand_reduced(result, self.shape, dim, "
                "keepdim)), dim, keepdim)"
            )
        },
        vmap="dims",
        samples=[*ALL, *DIMS],
        dtypes="bihf",
        reference=f"np.{_np}(self, axis=dim if self.ndim else None, keepdims=keepdim)",
        doc=_doc,
        example={
            "amax": ">>> ag.amax(ag.tensor([[1, 5], [3, 4]]), 0)\ntensor([3, 5])",
            "amin": ">>> ag.amin(ag.tensor([[1, 5], [3, 4]]), 0)\ntensor([1, 4])",
        }[_name],
    )

op(
    "_reaches(self, extreme)",
    kernel=composite("logical_or(eq(self, extreme), ne(self, self))"),
    doc="Which elements are the extreme one: if there is any NaN, all of them.",
)

op(
    "_share_among_ties(grad_output, self, extreme, dim: dims?, keepdim: bool)",
    kernel=composite(
        "eq(self, _expand_reduced(extreme, self.shape, dim, keepdim)) "
        "* _expand_reduced(grad_output / sum(eq(self, _expand_reduced(extreme, self.shape, dim, "
        "keepdim)), dim, keepdim), self.shape, dim, keepdim)"
    ),
    doc=(
        "The gradient of an extreme, shared equally among the elements that reach it; NaN beside "
        "NaN, which none does."
    ),
)

for _name, _which, _order in (("max", "Largest", "maximum"), ("min", "Smallest", "minimum")):
    op(
        f"{_name}(self)",
        kernel=call(f"reduce.{_name}_into", shape="rules_reduction.extreme(self, None, False)"),
        node=f"{_name.capitalize()}Backward1",
        vjp={"self": "where(_reaches(self, result), grad / sum(_reaches(self, result)), 0)"},
        jvp={"self": "sum(where(_reaches(self, result), self_t, 0)) / sum(_reaches(self, result))"},
        vmap=f"a{_name}({EACH}, 1, False)",
        samples=ALL,
        dtypes="bihf",
        reference=f"np.{_name}(self)",
        doc=(
            f"{_which} element; with `dim` its index too, with `other` element by element. Ties "
            "share the gradient."
        ),
        example={
            "max": (
                ">>> ag.max(ag.tensor([[1, 5], [3, 4]]), 0)\n"
                "autograd_cy.return_types.max(\n"
                "values=tensor([3, 5]),\n"
                "indices=tensor([1, 0]))"
            ),
            "min": (
                ">>> ag.min(ag.tensor([[1, 5], [3, 4]]), 0)\n"
                "autograd_cy.return_types.min(\n"
                "values=tensor([1, 4]),\n"
                "indices=tensor([0, 1]))"
            ),
        }[_name],
    )
    op(
        f"{_name}.dim(self, dim: dim, keepdim: bool = False) -> (values, indices)",
        kernel=call(
            f"reduce.{_name}_dim_into", shape="rules_reduction.extreme_dim(self, dim, keepdim)"
        ),
        node=f"{_name.capitalize()}Backward0",
        nondiff_outputs=("indices",),
        when="'dim' in kwargs or (len(args) > 1 and not isinstance(args[1], Tensor))",
        vjp={"self": "_put_reduced(grad_values, self.shape, dim, indices, keepdim)"},
        jvp={"values": {"self": "_take_reduced(self_t, dim, indices, keepdim)"}},
        vmap="dims",
        samples=[
            sample((arg((3, 4)), 0)),
            sample((arg((3, 4)), -1), {"keepdim": True}),
            sample((arg((5,)), 0)),
        ],
        dtypes="bihf",
        refusal={"c": "does not support complex input"},
        reference=(
            f"(np.{_name}(self, axis=dim, keepdims=keepdim), np.arg{_name}(self, axis=dim, "
            "keepdims=keepdim))"
        ),
        doc=f"{_which} element along a dimension and its index; the first of equal ones.",
    )
    op(
        f"{_name}.other(self, other)",
        kernel=composite(f"{_order}(self, other)"),
        out=True,
        when="'other' in kwargs or (len(args) > 1 and isinstance(args[1], Tensor))",
        samples=shapes(((3, 4), (3, 4))),
        dtypes="bihf",
        reference=f"np.{_order}(self, other)",
        doc=f"The same as {_order}(self, other).",
    )
    op(
        f"arg{_name}(self, dim: dim? = None, keepdim: bool = False)",
        kernel=call(
            f"reduce.arg{_name}_into", shape="rules_reduction.extreme_place(self, dim, keepdim)"
        ),
        out="exact",
        vjp=nondiff(INDEX),
        vmap={
            "self": f"arg{_name}({EACH}, 1 if dim is None else normal_dim(dim, 0) + 1, False) "
            f"if dim is None or self.ndim == 1 else arg{_name}(self, "
            "normal_dim(dim, self.ndim - 1) + 1, keepdim)"
        },
        samples=[
            sample((arg((3, 4)),)),
            sample((arg((3, 4)), 0)),
            sample((arg((3, 4)), -1), {"keepdim": True}),
        ],
        dtypes="ihf",
        refusal={"b": "does not support bool input", "c": "does not support complex input"},
        reference=f"np.arg{_name}(self, axis=dim, keepdims=keepdim)",
        doc=(
            f"Index of the {_which.lower()} element, of the whole tensor or along a dimension; "
            "the first of equal ones."
        ),
        example={
            "max": ">>> ag.argmax(ag.tensor([[1, 5], [3, 4]]), 0)\ntensor([1, 0])",
            "min": ">>> ag.argmin(ag.tensor([[1, 5], [3, 4]]), 0)\ntensor([0, 1])",
        }[_name],
        raises={
            "max": {"IndexError": "There is no element to choose."},
            "min": {"IndexError": "There is no element to choose."},
        }[_name],
    )

op(
    "_put_reduced(self, size: sizes, dim: dim, indices, keepdim: bool)",
    kernel=composite(
        "scatter_add(new_zeros(self, size), dim, indices, self) if keepdim or len(size) == 0 else "
        "scatter_add(new_zeros(self, size), dim, unsqueeze(indices, dim), unsqueeze(self, dim))"
    ),
    doc="Zeros of `size` with values at the indices of a reduction.",
)

op(
    "_take_reduced(self, dim: dim, indices, keepdim: bool)",
    kernel=composite(
        "gather(self, dim, indices) if keepdim or self.ndim == 0 else "
        "squeeze(gather(self, dim, unsqueeze(indices, dim)), dim)"
    ),
    doc="The elements at the indices of a reduction.",
)

op(
    "aminmax(self, *, dim: dim? = None, keepdim: bool = False) -> (min, max)",
    kernel=call("reduce.aminmax_into", shape="rules_reduction.both_extremes(self, dim, keepdim)"),
    vjp={"self": "_aminmax_backward(given_min, given_max, self, min, max, dim, keepdim)"},
    jvp={
        _name: {
            "self": (
                f"sum(where(eq(self, _expand_reduced({_name}, self.shape, dim, keepdim)), self_t, "
                f"0), dim, keepdim) / sum(eq(self, _expand_reduced({_name}, self.shape, dim, "
                "keepdim)), dim, keepdim)"
            )
        }
        for _name in ("min", "max")
    },
    vmap=loop("without `dim` each example has its own pair"),
    samples=[
        one((3, 4)),
        one(()),
        one((3, 4), dim=0),
        one((3, 4), dim=-1, keepdim=True),
        one((3, 4), keepdim=True),
    ],
    dtypes="bihf",
    reference=(
        "(np.min(self, axis=dim if self.ndim else None, keepdims=keepdim), np.max(self, axis=dim "
        "if self.ndim else None, keepdims=keepdim))"
    ),
    errors=(
        error(sample((arg((0, 2)),)), RuntimeError, "no identity"),
        error(sample((arg((0, 2)),), {"dim": 0}), IndexError, "non-zero size"),
    ),
    doc=(
        "The smallest and the largest element, along a dimension if `dim` is given; equal ones "
        "share the gradient."
    ),
    example=(
        ">>> ag.aminmax(ag.tensor([3.0, 1.0, 2.0]))\n"
        "autograd_cy.return_types.aminmax(\n"
        "min=tensor(1.),\n"
        "max=tensor(3.))"
    ),
)

op(
    "_aminmax_backward(gmin: Tensor?, gmax: Tensor?, self, low, high, dim: object, keepdim: bool)",
    kernel=composite("reduction.aminmax_backward"),
    doc="Gradient of aminmax from those of both outputs, None where there is none.",
)

# --- products and norms ------------------------------------------------------------------------

op(
    "prod(self, *, dtype: dtype? = None)",
    widen=("b", "int64"),
    wide_out=True,
    kernel=call(
        "reduce.prod_into",
        ("self", "None", "False", "dtype"),
        shape="rules_reduction.summed(self, None, False, dtype)",
    ),
    autocast="float32",
    vjp={"self": "grad * _product_of_others(self, None).conj()"},
    jvp={"self": "sum(self_t * _product_of_others(self, None))"},
    vmap="prod(reshape(self, (B, self.numel() // B if B > 0 else 0)), 1, False, dtype)",
    samples=[one((2, 3)), one(()), one((5,))],
    dtypes="biuhfc",
    reference="np.prod(self, dtype=np.int64 if self.dtype.kind in 'iu' else None)",
    tolerance=1e-4,
    doc="Product of all elements, or along a dimension; integers give int64.",
    example=">>> ag.prod(ag.tensor([[1, 5], [3, 4]]), 0)\ntensor([ 3, 20])",
)

op(
    "prod.dim(self, dim: dim, keepdim: bool = False, *, dtype: dtype? = None)",
    node="ProdBackward1",
    autocast="float32",
    when="(len(args) > 1 or 'dim' in kwargs)",
    widen=("b", "int64"),
    wide_out=True,
    kernel=call("reduce.prod_dim_into", shape="rules_reduction.summed(self, dim, keepdim, dtype)"),
    vjp={
        "self": (
            "_expand_reduced(grad, self.shape, dim, keepdim) * _product_of_others(self, dim).conj()"
        )
    },
    jvp={"self": "sum(self_t * _product_of_others(self, dim), dim, keepdim)"},
    vmap="dims",
    samples=[one((3, 4), 0), one((3, 4), -1, keepdim=True), one((5,), 0)],
    dtypes="biuhfc",
    reference=(
        "np.prod(self, axis=dim, keepdims=keepdim, dtype=np.int64 if self.dtype.kind in 'iu' "
        "else None)"
    ),
    tolerance=1e-4,
    doc="Product along a dimension.",
)

op(
    "_product_of_others(self, dim: object)",
    kernel=composite("reduction.product_of_others"),
    doc="For each element the product of all others, which is the derivative of the product.",
)

op(
    "_over_nonzero(self, below)",
    kernel=composite("where(eq(below, 0), 0, self / where(eq(below, 0), 1, below))"),
    doc="``self / below``, and 0 where `below` is 0, in every derivative.",
)

op(
    "norm(self, p: order = 'fro', dim: dims? = None, keepdim: bool = False, dtype: dtype? = None)",
    kernel=composite("reduction.norm", into=True),
    out="exact",
    samples=[
        one((3, 4)),
        one((3, 4), 1, 0),
        one((3, 4), 3.0, -1, True),
        one((3, 4), float("inf"), 1),
    ],
    dtypes="hfc",
    tolerance=1e-4,
    domain=real(-2, 2, avoid=(0.0,)),
    reference=(
        "np.linalg.norm(self.ravel() if dim is None else self, 2 if p == 'fro' else p, dim, "
        "keepdim)"
    ),
    doc=(
        "The p-norm of all elements or along dimensions; the gradient is 0 where the norm is 0.\n"
        "With 'nuc', the sum of the singular values of matrices."
    ),
    example=">>> ag.norm(ag.tensor([3.0, 4.0]))\ntensor(5.)",
)

# --- along a dimension -------------------------------------------------------------------------

op(
    "cumsum(self, dim: dim, *, dtype: dtype? = None)",
    wide_out=True,
    kernel=call(
        "reduce.cumsum_into",
        ("self", "dim"),
        shape="rules_reduction.scanned(self, dim, dtype)",
        over="self",
    ),
    widen=("b", "int64"),
    inplace=True,
    vjp={"self": "flip(cumsum(flip(grad, (dim,)), dim), (dim,))"},
    jvp="linear",
    vmap="dims",
    samples=[one((3, 4), 0), one((5,), -1), one((0, 3), 1)],
    dtypes="biuhfc",
    reference="np.cumsum(self, dim, dtype=np.int64 if self.dtype.kind in 'iu' else None)",
    tolerance=1e-4,
    doc="Running sum over a dimension; integers give int64.",
    example=">>> ag.cumsum(ag.tensor([1, 2, 3]), 0)\ntensor([1, 3, 6])",
)

op(
    "cumprod(self, dim: dim, *, dtype: dtype? = None)",
    wide_out=True,
    kernel=composite("reduction.cumprod", into=True),
    out=True,
    inplace=True,
    samples=[one((3, 4), 0), one((5,), -1)],
    reference="np.cumprod(self, dim, dtype=np.int64 if self.dtype.kind in 'biu' else None)",
    tolerance=1e-4,
    doc="Running product over a dimension; integers give int64.",
    example=">>> ag.cumprod(ag.tensor([1, 2, 3]), 0)\ntensor([1, 2, 6])",
)

op(
    "_cumprod(self, dim: dim, *, dtype: dtype? = None)",
    shown_as="cumprod",
    kernel=call(
        "reduce.cumprod_into",
        ("self", "dim"),
        shape="rules_reduction.scanned(self, dim, dtype)",
        over="self",
    ),
    inplace=True,
    vjp=nondiff(
        "the composite around it makes running products of a recurrence where they are "
        "differentiated"
    ),
    vmap="dims",
    samples=[one((3, 4), 0), one((5,), -1), one((0, 3), 1)],
    dtypes="bihfc",
    reference="np.cumprod(self, dim, dtype=np.int64 if self.dtype.kind in 'biu' else None)",
    tolerance=1e-4,
    doc="Running product over a dimension, of numbers alone.",
)

# Running products where they are recorded.
op(
    "_linear_scan(terms, factors, dim: dim, reverse: bool)",
    kernel=call("reduce.linear_scan", shape="rules_reduction.recurrence(terms, factors, dim)"),
    vjp={
        "terms": "_linear_scan_terms(grad, factors, dim, reverse)",
        "factors": "_linear_scan_factors(grad, factors, result, dim, reverse)",
    },
    jvp={
        "terms": "_linear_scan(terms_t, factors, dim, reverse)",
        "factors": "_linear_scan_jvp(factors_t, factors, result, dim, reverse)",
    },
    vmap=(
        "_linear_scan(terms, factors, dim + 1, reverse) if terms.ndim > 1 "
        "else squeeze(_linear_scan(unsqueeze(terms, 1), unsqueeze(factors, 1), 1, reverse), 1)"
    ),
    samples=[
        sample((arg(shape), arg(shape), dim, reverse))
        for shape, dim in (
            ((3, 4), 1),
            ((3, 4), 0),
            ((5, 3), -1),
            ((4, 2, 3), 0),
            ((5,), 0),
            ((), 0),
            ((0, 3), 1),
        )
        for reverse in (False, True)
    ],
    dtypes="fc",
    tolerance=1e-4,
    reference=(
        "terms if terms.ndim == 0 else (lambda t, f: np.moveaxis(np.stack([sum(t[..., j] * "
        "np.prod(f[..., min(j, k) + 1:max(j, k) + 1], -1) for j in (range(k, t.shape[-1]) if "
        "reverse else range(k + 1))) for k in range(t.shape[-1])], -1), -1, "
        "dim))(np.moveaxis(terms, dim, -1), np.moveaxis(factors, dim, -1))"
    ),
    doc=(
        "Linear recurrence along a dimension: ``r[k] = terms[k] + factors[k] * r[k - 1]``; in "
        "reverse its transpose, ``r[k] = terms[k] + factors[k + 1] * r[k + 1]``."
    ),
    params={"reverse": "Whether it is the transpose."},
)

op(
    "_linear_scan_terms(grad, factors, dim: dim, reverse: bool)",
    kernel=composite("reduction.linear_scan_terms"),
    doc="Gradient of the terms of a recurrence.",
)

op(
    "_linear_scan_factors(grad, factors, result, dim: dim, reverse: bool)",
    kernel=composite("reduction.linear_scan_factors"),
    doc="Gradient of the factors of a recurrence.",
)

op(
    "_linear_scan_jvp(tangent, factors, result, dim: dim, reverse: bool)",
    kernel=composite("reduction.linear_scan_jvp"),
    doc="Tangent of a recurrence by that of its factors.",
)

op(
    "diff(self, n: int = 1, dim: dim = -1, prepend: Tensor? = None, append: Tensor? = None)",
    kernel=composite("reduction.diff", into=True),
    out=True,
    samples=[
        one((3, 4)),
        one((5,), 2),
        one((3, 4), 1, 0),
        sample((arg((4,)), 1, -1, arg((1,)), arg((2,)))),
    ],
    reference=(
        "np.diff(self, n, dim, *[x for x in (prepend,) if x is not None], **({} if append is None "
        "else {'append': append}))"
    ),
    doc="Differences of neighbours along a dimension, `n` times.",
    example=">>> ag.diff(ag.tensor([1, 4, 9]))\ntensor([3, 5])",
    params={"n": "How often."},
)
