"""Reductions: sums, extremes and what is made of them."""

from autograd_cy.ops._schema import arg, call, composite, nondiff, op, sample, shapes

ALL = shapes(((3, 4),), ((),), ((5,),), ((2, 3, 2),))
DIMS = [sample((arg((3, 4)), 0)), sample((arg((3, 4)), -1), {"keepdim": True}), sample((arg((2, 3, 4)), (0, 2))),
        sample((arg((5,)), 0)), sample((arg(()), 0)), sample((arg((2, 3, 4)), 1), {"keepdim": True})]
BY_DIM = "len(args) > 1 or 'dim' in kwargs"
INDEX = "the result is an index"
TRUTH = "the result is a truth value"
EACH = "reshape(self, (B, self.numel() // B if B > 0 else 0))"

op("sum(self, *, dtype: dtype? = None)", kernel=call("reduce.sum_plain", ("self", "None", "False", "dtype")),
   vjp={"self": "grad.expand(self.shape)"}, jvp="linear", vmap=f"sum({EACH}, 1, False, dtype)", samples=ALL,
   reference="np.sum(self, dtype=np.int64 if self.dtype.kind in 'bui' else None)", tolerance=1e-4, doc="Sum of all elements; integers give int64.")

op("sum.dim(self, dim: dims?, keepdim: bool = False, *, dtype: dtype? = None)", node="SumBackward1", when=BY_DIM,
   kernel=call("reduce.sum_plain"), vjp={"self": "_expand_reduced(grad, self.shape, dim, keepdim)"}, jvp="linear",
   vmap="dims", samples=DIMS, reference="np.sum(self, axis=dim if self.ndim else None, keepdims=keepdim, dtype=np.int64 if self.dtype.kind in 'bui' else None)", tolerance=1e-4,
   doc="Sum over one or several dimensions.")

op("_expand_reduced(self, shape: object, dim: object, keepdim: bool)", kernel=composite("formulas.expand_reduced"),
   doc="A reduced tensor expanded back to `shape`.")

op("mean(self, *, dtype: dtype? = None)", kernel=call("reduce.mean_plain", ("self", "None", "False", "dtype")),
   vjp={"self": "(grad / self.numel()).expand(self.shape)"}, jvp="linear", vmap=f"mean({EACH}, 1, False, dtype)",
   samples=ALL, dtypes="hfc", reference="np.mean(self)", tolerance=1e-4, doc="Mean of all elements.")

op("mean.dim(self, dim: dims?, keepdim: bool = False, *, dtype: dtype? = None)", node="MeanBackward1", when=BY_DIM,
   kernel=call("reduce.mean_plain"),
   vjp={"self": "_expand_reduced(grad / count_reduced(self.shape, dim), self.shape, dim, keepdim)"}, jvp="linear",
   vmap="dims", samples=DIMS, dtypes="hfc", reference="np.mean(self, axis=dim if self.ndim else None, keepdims=keepdim)", tolerance=1e-4,
   doc="Mean over one or several dimensions.")

for _name, _np, _doc in (("amax", "max", "Largest element over dimensions; ties share the gradient."),
                         ("amin", "min", "Smallest element over dimensions; ties share the gradient.")):
    op(f"{_name}(self, dim: dims? = None, keepdim: bool = False)", kernel=call(f"reduce.{_name}_plain"),
       vjp={"self": "_share_among_ties(grad, self, result, dim, keepdim)"},
       jvp={"self": "sum(where(eq(self, _expand_reduced(result, self.shape, dim, keepdim)), self_t, 0), dim, keepdim)"
                    " / sum(eq(self, _expand_reduced(result, self.shape, dim, keepdim)), dim, keepdim)"},
       vmap="dims", samples=[*ALL, *DIMS], dtypes="bihf", reference=f"np.{_np}(self, axis=dim if self.ndim else None, keepdims=keepdim)", doc=_doc)

op("_share_among_ties(grad_output, self, extreme, dim: dims?, keepdim: bool)",
   kernel=composite(
       "where(eq(self, _expand_reduced(extreme, self.shape, dim, keepdim)), _expand_reduced(grad_output / "
       "sum(eq(self, _expand_reduced(extreme, self.shape, dim, keepdim)), dim, keepdim), self.shape, dim, keepdim), 0)"),
   doc="The gradient of an extreme, shared equally among the elements that reach it.")

for _name, _which, _order in (("max", "Largest", "maximum"), ("min", "Smallest", "minimum")):
    op(f"{_name}(self)", kernel=call(f"reduce.{_name}_all_plain"), node=f"{_name.capitalize()}Backward1",
       vjp={"self": "where(eq(self, result), grad / sum(eq(self, result)), 0)"},
       jvp={"self": "sum(where(eq(self, result), self_t, 0)) / sum(eq(self, result))"},
       vmap=f"a{_name}({EACH}, 1, False)", samples=ALL, dtypes="bihf", reference=f"np.{_name}(self)",
       doc=f"{_which} element; with `dim` its index too, with `other` element by element. Ties share the gradient.")
    op(f"{_name}.dim(self, dim: dim, keepdim: bool = False) -> (values, indices)",
       kernel=call(f"reduce.{_name}_dim_plain"), node=f"{_name.capitalize()}Backward0", nondiff_outputs=("indices",),
       when="'dim' in kwargs or (len(args) > 1 and not isinstance(args[1], Tensor))",
       vjp={"self": "_put_reduced(grad_values, self.shape, dim, indices, keepdim)"},
       jvp={"values": {"self": "_take_reduced(self_t, dim, indices, keepdim)"}}, vmap="dims",
       samples=[sample((arg((3, 4)), 0)), sample((arg((3, 4)), -1), {"keepdim": True}), sample((arg((5,)), 0))],
       dtypes="bihf", reference=f"(np.{_name}(self, axis=dim, keepdims=keepdim), np.arg{_name}(self, axis=dim, keepdims=keepdim))",
       doc=f"{_which} element along a dimension and its index; the first of equal ones.")
    op(f"{_name}.other(self, other)", kernel=composite(f"{_order}(self, other)"),
       when="'other' in kwargs or (len(args) > 1 and isinstance(args[1], Tensor))", samples=shapes(((3, 4), (3, 4))),
       dtypes="bihf", reference=f"np.{_order}(self, other)", doc=f"The same as {_order}(self, other).")
    op(f"arg{_name}(self, dim: dim? = None, keepdim: bool = False)", kernel=call(f"reduce.arg{_name}_plain"), out=False,
       vjp=nondiff(INDEX), vmap={"self": f"arg{_name}({EACH}, 1 if dim is None else normal_dim(dim, 0) + 1, False) "
                                         f"if dim is None or self.ndim == 1 else arg{_name}(self, "
                                         "normal_dim(dim, self.ndim - 1) + 1, keepdim)"},
       samples=[sample((arg((3, 4)),)), sample((arg((3, 4)), 0)), sample((arg((3, 4)), -1), {"keepdim": True})],
       dtypes="ihf", reference=f"np.arg{_name}(self, axis=dim, keepdims=keepdim)",
       doc=f"Index of the {_which.lower()} element, of the whole tensor or along a dimension; the first of equal ones.")

op("_put_reduced(self, size: sizes, dim: dim, indices, keepdim: bool)",
   kernel=composite("scatter_add(new_zeros(self, size), dim, indices, self) if keepdim or len(size) == 0 else "
                    "scatter_add(new_zeros(self, size), dim, unsqueeze(indices, dim), unsqueeze(self, dim))"),
   doc="Zeros of `size` with values at the indices of a reduction.")

op("_take_reduced(self, dim: dim, indices, keepdim: bool)",
   kernel=composite("gather(self, dim, indices) if keepdim or self.ndim == 0 else "
                    "squeeze(gather(self, dim, unsqueeze(indices, dim)), dim)"),
   doc="The elements at the indices of a reduction.")

op("logsumexp(self, dim: dims, keepdim: bool = False)", kernel=call("reduce.logsumexp_plain"),
   vjp={"self": "_expand_reduced(grad, self.shape, dim, keepdim) * exp(self - _expand_reduced(result, self.shape, dim, keepdim))"},
   jvp={"self": "sum(self_t * exp(self - _expand_reduced(result, self.shape, dim, keepdim)), dim, keepdim)"},
   vmap="dims", samples=DIMS, dtypes="hf", tolerance=1e-4,
   reference="scipy.special.logsumexp(self, axis=dim if self.ndim else None, keepdims=keepdim)",
   doc="Logarithm of the sum of exponentials, without overflow.")

for _name in ("all", "any"):
    op(f"{_name}(self, dim: dims? = None, keepdim: bool = False)", kernel=call(f"reduce.{_name}_plain"), out=False,
       vjp=nondiff(TRUTH), vmap="dims", samples=[*ALL, *DIMS], reference=f"np.{_name}(self, axis=dim if self.ndim else None, keepdims=keepdim)",
       doc=f"Whether {_name} elements are true.")

op("var(self, dim: dims? = None, *, correction: float = 1.0, keepdim: bool = False)",
   kernel=call("reduce.var_plain"),
   vjp={"self": "_expand_reduced(grad * (2.0 / (count_reduced(self.shape, dim) - correction)), self.shape, dim, keepdim)"
                " * (self - mean(self, dim, True))"},
   jvp={"self": "sum(self_t * (self - mean(self, dim, True)), dim, keepdim) * (2.0 / (count_reduced(self.shape, dim) - correction))"},
   vmap="dims", samples=[sample((arg((3, 4)),)), sample((arg((3, 4)), 0)), sample((arg((3, 4)), -1), {"keepdim": True}),
                         sample((arg((5,)), 0), {"correction": 0.0})],
   dtypes="hf", tolerance=1e-4, reference="np.var(self, axis=dim, ddof=correction, keepdims=keepdim)",
   doc="Variance over dimensions; `correction` is subtracted from the count.")

op("sort(self, dim: dim = -1, descending: bool = False, *, stable: bool = False) -> (values, indices)",
   kernel=call("indexing.sort_plain"), nondiff_outputs=("indices",),
   vjp={"self": "scatter_add(new_zeros(grad_values, self.shape), dim, indices, grad_values)"},
   jvp={"values": {"self": "gather(self_t, dim, indices)"}}, vmap="dims",
   samples=[sample((arg((3, 4)),)), sample((arg((3, 4)), 0)), sample((arg((5,)), 0))],
   dtypes="bihf", reference="(np.sort(self, axis=dim), np.argsort(self, axis=dim, kind='stable'))",
   doc="Elements in order along a dimension, and where they were.")
