"""Running extremes and running logarithms of sums of exponentials."""

from autograd_cy.ops._schema import box, call, one, op

LOADED = "at first use"

ALONG = [
    one((3, 4), 0),
    one((3, 4), -1),
    one((5,), 0),
    one((2, 3, 2), 1),
    one((0, 3), 0),
    one((2, 0), 1),
]

for _name, _np, _which in (("cummax", "maximum", "largest"), ("cummin", "minimum", "smallest")):
    op(
        f"{_name}(self, dim: dim) -> (values, indices)",
        kernel=call(f"scans.{_name}", shape="rules_scans.extremes(self, dim)"),
        nondiff_outputs=("indices",),
        vjp={"self": "_put_reduced(grad_values, self.shape, dim, indices, True)"},
        jvp={"values": {"self": "_take_reduced(self_t, dim, indices, True)"}},
        vmap="dims",
        samples=[*ALONG, one((), 0)],
        dtypes="bihf",
        reference=(
            "(lambda v: (v, np.maximum.accumulate(np.where(self == v, "
            "np.indices(self.shape)[dim] if self.ndim else 0, 0), dim if self.ndim "
            f"else None)))(np.{_np}.accumulate(self, dim)) if self.ndim else (self, np.int64(0))"
        ),
        doc=(
            f"The {_which} element so far along a dimension, and where it is; the last of equal "
            "ones."
        ),
        example={
            "cummax": (
                ">>> ag.cummax(ag.tensor([1, 3, 2]), 0)\n"
                "autograd_cy.return_types.cummax(\n"
                "values=tensor([1, 3, 3]),\n"
                "indices=tensor([0, 1, 1]))"
            ),
            "cummin": (
                ">>> ag.cummin(ag.tensor([2, 1, 3]), 0)\n"
                "autograd_cy.return_types.cummin(\n"
                "values=tensor([2, 1, 1]),\n"
                "indices=tensor([0, 1, 1]))"
            ),
        }[_name],
    )

op(
    "logcumsumexp(self, dim: dim)",
    kernel=call("scans.logcumsumexp", shape="rules_scans.like(self, dim)"),
    out="exact",
    vjp={
        "self": "_logcumsumexp_backward(grad, self, result, normal_dim(dim, self.ndim) - self.ndim)"
    },
    jvp={"self": "_logcumsumexp_jvp(self_t, self, result, normal_dim(dim, self.ndim) - self.ndim)"},
    vmap="dims",
    samples=ALONG,
    dtypes="hfc",
    tolerance=1e-4,
    complex_domain=box(-1.0, 1.0),
    reference=(
        "np.log(np.cumsum(np.exp(self), dim)) if np.iscomplexobj(self) "
        "else np.logaddexp.accumulate(self, dim)"
    ),
    doc="Logarithm of the running sum of exponentials along a dimension, without overflow.",
    example=(
        ">>> ag.logcumsumexp(ag.tensor([0.0, 0.0, 1000.0]), 0)\n"
        "tensor([0.0000e+00, 6.9315e-01, 1.0000e+03])"
    ),
)

# Sums of products with exponentials: linear in what is added, at zero, too.
op(
    "_logcumsumexp_jvp(tangent, self, sums, back: int)",
    out=False,
    kernel=call("scans.logcumsumexp_jvp", shape="rules_scans.same_shape(tangent, self, sums)"),
    vjp={
        "tangent": "_logcumsumexp_backward(grad, self, sums, back)",
        "self": "tangent.conj() * _logcumsumexp_backward(grad, self, sums, back)",
        "sums": "-grad * result.conj()",
    },
    jvp={
        "tangent": "_logcumsumexp_jvp(tangent_t, self, sums, back)",
        "self": "_logcumsumexp_jvp(tangent * self_t, self, sums, back)",
        "sums": "-result * sums_t",
    },
    vmap="elementwise",
    dtypes="hfc",
    doc=(
        "Tangent of logcumsumexp: for each j the sum over i <= j of ``tangent[i] * exp(self[i] - "
        "sums[j])``, along a dimension counted from the end."
    ),
)

op(
    "_logcumsumexp_backward(grad_output, self, sums, back: int)",
    out=False,
    kernel=call(
        "scans.logcumsumexp_backward", shape="rules_scans.same_shape(grad_output, self, sums)"
    ),
    vjp={
        "grad_output": "_logcumsumexp_jvp(grad, self, sums, back)",
        "self": "grad.conj() * result",
        "sums": "-grad_output * _logcumsumexp_jvp(grad, self, sums, back).conj()",
    },
    jvp={
        "grad_output": "_logcumsumexp_backward(grad_output_t, self, sums, back)",
        "self": "self_t.conj() * result",
        "sums": "-_logcumsumexp_backward(grad_output * sums_t.conj(), self, sums, back)",
    },
    vmap="elementwise",
    dtypes="hfc",
    doc=(
        "Gradient of logcumsumexp: for each i the sum over j >= i of ``grad_output[j] * "
        "exp(self[i] - sums[j])``, conjugated."
    ),
)
