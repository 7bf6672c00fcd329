"""Variances, covariances, medians, quantiles, modes, histograms."""

from autograd_cy.ops._schema import (
    EACH,
    arg,
    by_test,
    call,
    composite,
    error,
    fixed,
    host,
    integers,
    loop,
    nondiff,
    one,
    op,
    real,
    sample,
    shapes,
)

LOADED = "at first use"

# What torch says of other dtypes.
REFUSED = "{} only support floating point and complex dtypes"
ALL = shapes(((3, 4),), ((),), ((5,),), ((2, 3, 2),))
HERE = "tests/ops/test_interpreted.py::"

# --- variance and standard deviation -----------------------------------------------------------

op(
    "var(self, dim: dims? = None, *, correction: correction = 1.0, keepdim: bool = False)",
    wide_out=True,
    kernel=call("reduce.var_into", shape="rules_reduction.variance(self, dim, keepdim)"),
    vjp={
        "self": (
            "_expand_reduced(grad * (2.0 / (count_reduced(self.shape, dim) - correction)), "
            "self.shape, dim, keepdim) * (self - mean(self, dim, True))"
        )
    },
    jvp={
        "self": (
            "sum(real(self_t * (self - mean(self, dim, True)).conj()), dim, keepdim) "
            "* (2.0 / (count_reduced(self.shape, dim) - correction))"
        )
    },
    vmap="dims",
    samples=[
        sample((arg((3, 4)),)),
        sample((arg((3, 4)), 0)),
        sample((arg((3, 4)), -1), {"keepdim": True}),
        sample((arg((5,)), 0), {"correction": 0.0}),
    ],
    dtypes="hfc",
    refusal=REFUSED.format("std and var"),
    tolerance=1e-4,
    reference="np.var(self, axis=dim, ddof=correction, keepdims=keepdim)",
    doc="Variance over dimensions; `correction` is subtracted from the count.",
    example=">>> ag.var(ag.tensor([1.0, 2.0, 4.0]), 0)\ntensor(2.3333)",
)

op(
    "std(self, dim: dims? = None, *, correction: correction = 1.0, keepdim: bool = False)",
    wide_out=True,
    kernel=call("reduce.std_into", shape="rules_reduction.variance(self, dim, keepdim)"),
    vjp={
        "self": (
            "_expand_reduced(_over_nonzero(grad, result) / (count_reduced(self.shape, dim) "
            "- correction), self.shape, dim, keepdim) * (self - mean(self, dim, True))"
        )
    },
    jvp={
        "self": (
            "_over_nonzero(sum(real(self_t * (self - mean(self, dim, True)).conj()), dim, "
            "keepdim), result) / (count_reduced(self.shape, dim) - correction)"
        )
    },
    vmap="dims",
    samples=[
        sample((arg((3, 4)),)),
        sample((arg((3, 4)), 0)),
        sample((arg((3, 4)), -1), {"keepdim": True}),
    ],
    dtypes="hfc",
    refusal=REFUSED.format("std and var"),
    tolerance=1e-4,
    reference="np.std(self, axis=dim, ddof=correction, keepdims=keepdim)",
    doc="Square root of the variance; its gradient is 0 where it is 0.",
    example=">>> ag.std(ag.tensor([1.0, 2.0, 4.0]), 0)\ntensor(1.5275)",
)

# The older ways to say `correction`: a bool instead of a dimension, or after it.
for _name in ("var", "std"):
    op(
        f"{_name}.all(self, unbiased: bool)",
        kernel=composite(f"{_name}(self, None, 1.0 if unbiased else 0.0, False)"),
        when=(
            "(len(args) == 2 and not kwargs and type(args[1]) is _bool) or (len(args) + "
            "len(kwargs) == 2 and 'unbiased' in kwargs)"
        ),
        samples=[sample((arg((3, 4)), True)), sample((arg((5,)), False))],
        dtypes="hfc",
        refusal=REFUSED.format("std and var"),
        tolerance=1e-4,
        reference=f"np.{_name}(self, ddof=int(unbiased))",
        doc="Of all elements, with the older name of ``correction=1``.",
    )
    op(
        f"{_name}.unbiased(self, dim: dims?, unbiased: bool = True, keepdim: bool = False)",
        when="len(args) > 2 or 'unbiased' in kwargs",
        out=True,
        wide_out=True,
        kernel=composite(f"{_name}(self, dim, 1.0 if unbiased else 0.0, keepdim)"),
        samples=[
            sample((arg((3, 4)), 0, False)),
            sample((arg((3, 4)), None, False)),
            sample((arg((3, 4)), -1, True, True)),
        ],
        dtypes="hfc",
        refusal=REFUSED.format("std and var"),
        tolerance=1e-4,
        reference=f"np.{_name}(self, axis=dim, ddof=int(unbiased), keepdims=keepdim)",
        doc="With the older name of ``correction=1``.",
    )

for _name, _saved in (("var", ""), ("std", "std, ")):
    _what = "Variance" if _name == "var" else "Standard deviation"
    op(
        f"{_name}_mean(self, dim: dims? = None, *, correction: correction = 1.0, "
        f"keepdim: bool = False) -> ({_name}, mean)",
        kernel=call(
            f"reduce.{_name}_mean_into", shape="rules_reduction.variance_mean(self, dim, keepdim)"
        ),
        method=False,
        named=False,
        shows={"result0": "std"} if _name == "std" else {},
        dtypes="hfc",
        refusal=REFUSED.format(f"{_name}_mean"),
        tolerance=1e-4,
        vjp={
            "self": (
                f"_{_name}_mean_backward(given_{_name}, given_mean, {_saved}self, dim, "
                "correction, keepdim)"
            )
        },
        jvp={
            _name: {
                "self": "_var_jvp(self_t, self, dim, correction, keepdim)"
                if _name == "var"
                else "_of_root(_var_jvp(self_t, self, dim, correction, keepdim), std)"
            },
            "mean": {"self": "mean(self_t, dim, keepdim)"},
        },
        vmap="dims",
        samples=[
            *ALL[:1],
            sample((arg((3, 4)), 0)),
            sample((arg((2, 3, 4)), (0, 2)), {"keepdim": True}),
            sample((arg((5,)), 0), {"correction": 0}),
        ],
        reference=f"(np.{_name}(self, axis=dim, ddof=correction, keepdims=keepdim), "
        "np.mean(self, axis=dim, keepdims=keepdim))",
        doc=(
            f"{_what} and mean over dimensions, as a pair; `correction` is subtracted from the "
            "count."
        ),
        example=f">>> ag.{_name}_mean(ag.tensor([1.0, 2.0, 3.0]))\n(tensor(1.), tensor(2.))",
    )
    op(
        f"{_name}_mean.all(self, unbiased: bool) -> ({_name}, mean)",
        kernel=composite(f"{_name}_mean(self, None, 1.0 if unbiased else 0.0, False)"),
        method=False,
        named=False,
        dtypes="hfc",
        refusal=REFUSED.format(f"{_name}_mean"),
        tolerance=1e-4,
        when=(
            "(len(args) == 2 and not kwargs and type(args[1]) is _bool) or (len(args) + "
            "len(kwargs) == 2 and 'unbiased' in kwargs)"
        ),
        samples=[sample((arg((3, 4)), False))],
        reference=f"(np.{_name}(self, ddof=int(unbiased)), np.mean(self))",
        doc=f"{_what} and mean of all elements.",
    )
    op(
        f"{_name}_mean.unbiased(self, dim: dims? = None, unbiased: bool = True, "
        f"keepdim: bool = False) -> ({_name}, mean)",
        kernel=composite(f"{_name}_mean(self, dim, 1.0 if unbiased else 0.0, keepdim)"),
        method=False,
        named=False,
        dtypes="hfc",
        refusal=REFUSED.format(f"{_name}_mean"),
        tolerance=1e-4,
        when="len(args) > 2 or 'unbiased' in kwargs",
        samples=[sample((arg((3, 4)), 1, False, True))],
        reference=(
            f"(np.{_name}(self, axis=dim, ddof=int(unbiased), keepdims=keepdim), np.mean(self, "
            "axis=dim, keepdims=keepdim))"
        ),
        doc=f"{_what} and mean; not `unbiased` is ``correction=0``.",
    )

op(
    "_var_mean_backward(var: Tensor?, mean: Tensor?, self, dim: object, correction: float, "
    "keepdim: bool)",
    kernel=composite("statistics.var_mean_backward"),
    doc="Gradient of var_mean from those of both outputs, None where there is none.",
)

op(
    "_std_mean_backward(std: Tensor?, mean: Tensor?, root, self, dim: object, correction: float, "
    "keepdim: bool)",
    kernel=composite("statistics.std_mean_backward"),
    doc="Gradient of std_mean from those of both outputs, None where there is none.",
)

op(
    "_var_jvp(tangent, self, dim: object, correction: float, keepdim: bool)",
    kernel=composite("statistics.var_jvp"),
    doc="Tangent of a variance.",
)

op(
    "_of_root(tangent, root)",
    kernel=composite("statistics.of_root"),
    doc="``tangent / (2 * root)``, and 0 where `root` is 0.",
)

# --- medians and histograms --------------------------------------------------------------------

for _name, _what in (
    ("median", "Median: the lower one of two middle elements; NaN wins."),
    ("nanmedian", "Median of the elements that aren't NaN: the lower one of two middle ones."),
):
    _reach = "logical_or(eq(self, result), logical_and(ne(self, self), ne(result, result)))"
    op(
        f"{_name}(self)",
        kernel=call(f"indexing.{_name}_all", shape="rules_indexing.middle(self)"),
        vjp={"self": f"where({_reach}, grad / sum({_reach}), 0)"},
        jvp={"self": f"sum(where({_reach}, self_t, 0)) / sum({_reach})"},
        vmap=f"{_name}({EACH}, 1, False)[0]",
        samples=shapes(((3, 4),), ((),), ((5,),), ((2, 3, 2),)),
        dtypes="ihf",
        reference="np.sort(self.ravel())[(self.size - 1) // 2]",
        doc=f"{_what} Equal elements share the gradient. With `dim` the index too.",
        example={
            "median": ">>> ag.median(ag.tensor([3, 1, 2]))\ntensor(2)",
            "nanmedian": '>>> ag.nanmedian(ag.tensor([3.0, float("nan"), 2.0]))\ntensor(2.)',
        }[_name],
    )
    op(
        f"{_name}.dim(self, dim: dim, keepdim: bool = False) -> (values, indices)",
        kernel=call(f"indexing.{_name}", shape="rules_indexing.middle_along(self, dim, keepdim)"),
        node=f"{_name.capitalize()}Backward1",
        nondiff_outputs=("indices",),
        when="len(args) > 1 or 'dim' in kwargs",
        vjp={"self": "_put_reduced(grad_values, self.shape, dim, indices, keepdim)"},
        jvp={"values": {"self": "_take_reduced(self_t, dim, indices, keepdim)"}},
        vmap="dims",
        samples=[
            sample((arg((3, 4)), 0)),
            sample((arg((3, 4)), -1), {"keepdim": True}),
            sample((arg((5,)), 0)),
        ],
        dtypes="ihf",
        reference=by_test(
            "tests/ops/test_selection.py::"
            "test_median_along_a_dimension_gives_the_gradient_to_the_element_it_names"
        ),
        doc=f"{_what} Along a dimension, with its index.",
    )

op(
    "mode(self, dim: dim = -1, keepdim: bool = False) -> (values, indices)",
    tier="interpreted",
    kernel=host("statistics.mode", ("same", "int64")),
    out=False,
    checks="reduced_dimension",
    nondiff_outputs=("indices",),
    vjp={"self": "_put_reduced(grad_values, self.shape, dim, indices, keepdim)"},
    jvp={"values": {"self": "_take_reduced(self_t, dim, indices, keepdim)"}},
    vmap="dims",
    samples=[one((3, 4)), one((3, 4), 0, True), one((5,)), one(()), one((0, 3), 1)],
    dtypes="bihf",
    reference=by_test("tests/ops/test_quantiles.py::test_modes_are_the_smallest_of_the_most_often"),
    errors=(error(sample((arg((3, 0)),)), IndexError, "to have non-zero size"),),
    doc=(
        "The element that occurs most often along a dimension, the smallest of several, and the "
        "index of its last place."
    ),
    example=(
        ">>> ag.mode(ag.tensor([3, 1, 3, 2]))\n"
        "autograd_cy.return_types.mode(\n"
        "values=tensor(3),\n"
        "indices=tensor(2))"
    ),
)

QUANTILE = {
    "q": "Which quantiles, from 0 to 1: a number, or a vector of the dtype of the input.",
    "interpolation": (
        "What lies between two elements: ``'linear'``, ``'lower'``, ``'higher'``, ``'midpoint'`` "
        "or ``'nearest'``."
    ),
}
for _name, _what in (
    ("quantile", "Quantiles of the elements; NaN where there is a NaN."),
    ("nanquantile", "Quantiles of the elements that aren't NaN."),
):
    op(
        f"{_name}(self, q: float | Tensor, dim: dim? = None, keepdim: bool = False, *, "
        "interpolation: str = 'linear')",
        tier="interpreted",
        kernel=composite(f"statistics.{_name}"),
        out="exact",
        samples=[
            one((5,), 0.3),
            one((3, 4), 0.75, 0),
            one((3, 4), 0.4, -1, True),
            one((), 0.2),
            sample((arg((3, 4)), arg((2,), real(0.1, 0.9))), {"dim": 1}),
            sample((arg((3, 4)), arg((3,), real(0.1, 0.9)), 0, True)),
        ]
        + [
            sample((arg((3, 5)), 0.55, 1), {"interpolation": word})
            for word in ("lower", "higher", "midpoint", "nearest")
        ],
        dtypes="f",
        tolerance=1e-4,
        reference=f"np.{_name}(self, q, axis=dim, keepdims=keepdim, method=interpolation)",
        errors=(
            error(sample((arg((3,)), 1.5)), RuntimeError, "q must be in the range"),
            error(
                sample((arg((3,)), 0.5), {"interpolation": "x"}),
                RuntimeError,
                "interpolation must be one of linear, lower, higher, midpoint or nearest",
            ),
            error(sample((arg((0,)), 0.5)), RuntimeError, "input tensor must be non-empty"),
        ),
        params=QUANTILE,
        doc=f"{_what} Several `q` come first among the dimensions of the result.",
        example=(f">>> ag.{_name}(ag.tensor([1.0, 2.0, 4.0]), 0.75)\ntensor(3.)"),
    )

op(
    "cov(self, *, correction: int = 1, fweights: Tensor? = None, aweights: Tensor? = None)",
    tier="interpreted",
    kernel=composite("statistics.cov"),
    samples=[
        one((3, 4)),
        one((5,)),
        sample((arg((2, 4)),), {"correction": 0}),
        sample((arg((2, 3)),), {"fweights": fixed((3,), integers(1, 4))}),
    ],
    dtypes="ihfc",
    tolerance=1e-4,
    reference="np.cov(self, ddof=correction, fweights=fweights, aweights=aweights)",
    errors=(error(sample((arg((2, 2, 2)),)), RuntimeError, "expected input to have two or fewer"),),
    params={
        "correction": "What is subtracted from the number of observations.",
        "fweights": "How often each observation counts; integers.",
        "aweights": "How much each observation counts; floats.",
    },
    doc="Covariances of variables, which are rows; each column is an observation.",
    example=(
        ">>> ag.cov(ag.tensor([[1.0, 2.0, 3.0], [2.0, 0.0, 1.0]]))\n"
        "tensor([[ 1.0000, -0.5000],\n"
        "        [-0.5000,  1.0000]])"
    ),
)

op(
    "corrcoef(self)",
    tier="interpreted",
    kernel=composite("statistics.corrcoef"),
    samples=[one((3, 4)), one((2, 5)), one((5,))],
    dtypes="ihfc",
    tolerance=1e-4,
    reference="np.corrcoef(self)",
    errors=(error(sample((arg((2, 2, 2)),)), RuntimeError, "expected input to have two or fewer"),),
    doc="Correlations of variables, which are rows: :func:`cov` over standard deviations.",
    example=(
        ">>> ag.corrcoef(ag.tensor([[1.0, 2.0, 3.0], [2.0, 0.0, 1.0]]))\n"
        "tensor([[ 1.0000, -0.5000],\n"
        "        [-0.5000,  1.0000]])"
    ),
)

op(
    "histc(self, bins: int = 100, min: Scalar = 0, max: Scalar = 0)",
    tier="interpreted",
    kernel=host("statistics.histc"),
    checks="bins",
    out="exact",
    vjp=nondiff("counts don't change with the elements"),
    vmap=loop("one histogram per example"),
    dtypes="ihf",
    samples=[sample((arg((3, 4)), 4, -2, 2)), sample((arg((5,)),), {"bins": 3})],
    reference=by_test(HERE + "test_histc"),
    errors=(error(sample((arg((3,)), 0)), RuntimeError, "bins must be > 0"),),
    doc=(
        "Numbers of elements in `bins` bins of equal width between `min` and `max`, or the "
        "smallest and the largest element if both are 0."
    ),
    example=(
        ">>> ag.histc(ag.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)\ntensor([0., 2., 1., 0.])"
    ),
)
