"""Running extremes and running logarithms of sums of exponentials."""

from autograd_cy.ops._schema import box, call, composite, one, op

LOADED = "at first use"

ALONG = [one((3, 4), 0), one((3, 4), -1), one((5,), 0), one((2, 3, 2), 1), one((0, 3), 0), one((2, 0), 1)]

for _name, _np, _which in (("cummax", "maximum", "largest"), ("cummin", "minimum", "smallest")):
    op(f"{_name}(self, dim: dim) -> (values, indices)", kernel=call(f"scans.{_name}", shape="rules_scans.extremes(self, dim)"), nondiff_outputs=("indices",),
       vjp={"self": "_put_reduced(grad_values, self.shape, dim, indices, True)"}, jvp={"values": {"self": "_take_reduced(self_t, dim, indices, True)"}},
       vmap="dims", samples=[*ALONG, one((), 0)], dtypes="bihf",
       reference=f"(lambda v: (v, np.maximum.accumulate(np.where(self == v, np.indices(self.shape)[dim] if self.ndim else 0, 0), dim if self.ndim else None)))"
                 f"(np.{_np}.accumulate(self, dim)) if self.ndim else (self, np.int64(0))",
       doc=f"The {_which} element so far along a dimension, and where it is; the last of equal ones.",
       example={"cummax": ">>> ag.cummax(ag.tensor([1, 3, 2]), 0)\nautograd_cy.return_types.cummax(\nvalues=tensor([1, 3, 3]),\nindices=tensor([0, 1, 1]))",
                "cummin": ">>> ag.cummin(ag.tensor([2, 1, 3]), 0)\nautograd_cy.return_types.cummin(\nvalues=tensor([2, 1, 1]),\nindices=tensor([0, 1, 1]))"}[_name])

op("logcumsumexp(self, dim: dim)", kernel=call("scans.logcumsumexp", shape="rules_scans.like(self, dim)"), out="exact",
   vjp={"self": "_logcumsumexp_backward(grad, self, result, dim)"}, jvp={"self": "_logcumsumexp_moved(self_t, self, result, dim)"}, vmap="dims",
   samples=ALONG, dtypes="hfc", tolerance=1e-4, complex_domain=box(-1.0, 1.0),
   reference="np.log(np.cumsum(np.exp(self), dim)) if np.iscomplexobj(self) else np.logaddexp.accumulate(self, dim)",
   doc="Logarithm of the running sum of exponentials along a dimension, without overflow.",
   example=">>> ag.logcumsumexp(ag.tensor([0.0, 0.0, 1000.0]), 0)\ntensor([0.0000e+00, 6.9315e-01, 1.0000e+03])")

op("_logcumsumexp_backward(grad, self, result, dim: dim)", kernel=composite("scans.logcumsumexp_backward"),
   doc="Gradient of logcumsumexp, in logarithms: the positive and the negative parts by themselves.")

op("_logcumsumexp_moved(moved, self, result, dim: dim)", kernel=composite("scans.logcumsumexp_moved"), doc="Tangent of logcumsumexp, as its gradient.")
