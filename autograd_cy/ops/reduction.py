"""Reductions: sums, extremes and what is made of them."""

from autograd_cy.ops._schema import arg, call, composite, nondiff, op, sample, shapes

ALL = shapes(((3, 4),), ((),), ((5,),), ((2, 3, 2),))
DIMS = [sample((arg((3, 4)), 0)), sample((arg((3, 4)), -1), {"keepdim": True}), sample((arg((2, 3, 4)), (0, 2))),
        sample((arg((5,)), 0)), sample((arg(()), 0)), sample((arg((2, 3, 4)), 1), {"keepdim": True})]
BY_DIM = "len(args) > 1 or 'dim' in kwargs"
INDEX = "the result is an index"
TRUTH = "the result is a truth value"
EACH = "reshape(self, (B, self.numel() // B if B > 0 else 0))"

op("sum(self, *, dtype: dtype? = None)", wide_out=True, kernel=call("reduce.sum_plain", ("self", "None", "False", "dtype")),
   vjp={"self": "grad.expand(self.shape)"}, jvp="linear", vmap=f"sum({EACH}, 1, False, dtype)", samples=ALL,
   reference="np.sum(self, dtype=np.int64 if self.dtype.kind in 'bui' else None)", tolerance=1e-4, doc="Sum of all elements; integers give int64.")

op("sum.dim(self, dim: dims?, keepdim: bool = False, *, dtype: dtype? = None)", node="SumBackward1", when=BY_DIM,
   wide_out=True, kernel=call("reduce.sum_plain"), vjp={"self": "_expand_reduced(grad, self.shape, dim, keepdim)"}, jvp="linear",
   vmap="dims", samples=DIMS, reference="np.sum(self, axis=dim if self.ndim else None, keepdims=keepdim, dtype=np.int64 if self.dtype.kind in 'bui' else None)", tolerance=1e-4,
   doc="Sum over one or several dimensions.")

op("_expand_reduced(self, shape: object, dim: object, keepdim: bool)", kernel=composite("formulas.expand_reduced"),
   doc="A reduced tensor expanded back to `shape`.")

op("mean(self, *, dtype: dtype? = None)", wide_out=True, kernel=call("reduce.mean_plain", ("self", "None", "False", "dtype")),
   vjp={"self": "(grad / self.numel()).expand(self.shape)"}, jvp="linear", vmap=f"mean({EACH}, 1, False, dtype)",
   samples=ALL, dtypes="hfc", reference="np.mean(self)", tolerance=1e-4, doc="Mean of all elements.")

op("mean.dim(self, dim: dims?, keepdim: bool = False, *, dtype: dtype? = None)", node="MeanBackward1", when=BY_DIM,
   wide_out=True, kernel=call("reduce.mean_plain"),
   vjp={"self": "_expand_reduced(grad / count_reduced(self.shape, dim), self.shape, dim, keepdim)"}, jvp="linear",
   vmap="dims", samples=DIMS, dtypes="hfc", reference="np.mean(self, axis=dim if self.ndim else None, keepdims=keepdim)", tolerance=1e-4,
   doc="Mean over one or several dimensions.")

for _name, _np, _doc in (("amax", "max", "Largest element over dimensions; ties share the gradient."),
                         ("amin", "min", "Smallest element over dimensions; ties share the gradient.")):
    op(f"{_name}(self, dim: dims? = None, keepdim: bool = False)", out="exact", kernel=call(f"reduce.{_name}_plain"),
       vjp={"self": "_share_among_ties(grad, self, result, dim, keepdim)"},
       jvp={"self": "sum(where(eq(self, _expand_reduced(result, self.shape, dim, keepdim)), self_t, 0), dim, keepdim)"
                    " / sum(eq(self, _expand_reduced(result, self.shape, dim, keepdim)), dim, keepdim)"},
       vmap="dims", samples=[*ALL, *DIMS], dtypes="bihf", reference=f"np.{_np}(self, axis=dim if self.ndim else None, keepdims=keepdim)", doc=_doc)

op("_reaches(self, extreme)", kernel=composite("logical_or(eq(self, extreme), ne(self, self))"),
   doc="Which elements are the extreme one: if there is any NaN, all of them.")

op("_share_among_ties(grad_output, self, extreme, dim: dims?, keepdim: bool)",
   kernel=composite(
       "eq(self, _expand_reduced(extreme, self.shape, dim, keepdim)) * _expand_reduced(grad_output / "
       "sum(eq(self, _expand_reduced(extreme, self.shape, dim, keepdim)), dim, keepdim), self.shape, dim, keepdim)"),
   doc="The gradient of an extreme, shared equally among the elements that reach it; NaN beside NaN, which none does.")

for _name, _which, _order in (("max", "Largest", "maximum"), ("min", "Smallest", "minimum")):
    op(f"{_name}(self)", kernel=call(f"reduce.{_name}_all_plain"), node=f"{_name.capitalize()}Backward1",
       vjp={"self": "where(_reaches(self, result), grad / sum(_reaches(self, result)), 0)"},
       jvp={"self": "sum(where(_reaches(self, result), self_t, 0)) / sum(_reaches(self, result))"},
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
    op(f"{_name}.other(self, other)", kernel=composite(f"{_order}(self, other)"), out=True,
       when="'other' in kwargs or (len(args) > 1 and isinstance(args[1], Tensor))", samples=shapes(((3, 4), (3, 4))),
       dtypes="bihf", reference=f"np.{_order}(self, other)", doc=f"The same as {_order}(self, other).")
    op(f"arg{_name}(self, dim: dim? = None, keepdim: bool = False)", kernel=call(f"reduce.arg{_name}_plain"), out="exact",
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

op("logsumexp(self, dim: dims, keepdim: bool = False)", widen=("bi", "float"), wide_out=True, kernel=call("reduce.logsumexp_plain"),
   vjp={"self": "_expand_reduced(grad, self.shape, dim, keepdim) * exp(self - _expand_reduced(result, self.shape, dim, keepdim)).conj()"},
   jvp={"self": "sum(self_t * exp(self - _expand_reduced(result, self.shape, dim, keepdim)), dim, keepdim)"},
   vmap="dims", samples=DIMS, dtypes="bihfc", tolerance=1e-4,
   reference="scipy.special.logsumexp(self.astype(np.result_type(self.dtype, np.float32)), axis=dim if self.ndim else None, keepdims=keepdim)",
   doc="Logarithm of the sum of exponentials, without overflow.")

for _name in ("all", "any"):
    op(f"{_name}(self, dim: dims? = None, keepdim: bool = False)", kernel=call(f"reduce.{_name}_plain"), out="truth",
       vjp=nondiff(TRUTH), vmap="dims", samples=[*ALL, *DIMS], reference=f"np.{_name}(self, axis=dim if self.ndim else None, keepdims=keepdim)",
       doc=f"Whether {_name} elements are true.")

op("var(self, dim: dims? = None, *, correction: correction = 1.0, keepdim: bool = False)",
   wide_out=True, kernel=call("reduce.var_plain"),
   vjp={"self": "_expand_reduced(grad * (2.0 / (count_reduced(self.shape, dim) - correction)), self.shape, dim, keepdim)"
                " * (self - mean(self, dim, True))"},
   jvp={"self": "sum(real(self_t * (self - mean(self, dim, True)).conj()), dim, keepdim) * (2.0 / (count_reduced(self.shape, dim) - correction))"},
   vmap="dims", samples=[sample((arg((3, 4)),)), sample((arg((3, 4)), 0)), sample((arg((3, 4)), -1), {"keepdim": True}),
                         sample((arg((5,)), 0), {"correction": 0.0})],
   dtypes="hfc", tolerance=1e-4, reference="np.var(self, axis=dim, ddof=correction, keepdims=keepdim)",
   doc="Variance over dimensions; `correction` is subtracted from the count.")

op("std(self, dim: dims? = None, *, correction: correction = 1.0, keepdim: bool = False)", wide_out=True, kernel=call("reduce.std_plain"),
   vjp={"self": "_expand_reduced(_over_nonzero(grad, result) / (count_reduced(self.shape, dim) - correction), self.shape, dim, keepdim)"
                " * (self - mean(self, dim, True))"},
   jvp={"self": "_over_nonzero(sum(real(self_t * (self - mean(self, dim, True)).conj()), dim, keepdim), result)"
                " / (count_reduced(self.shape, dim) - correction)"},
   vmap="dims", samples=[sample((arg((3, 4)),)), sample((arg((3, 4)), 0)), sample((arg((3, 4)), -1), {"keepdim": True})], dtypes="hfc", tolerance=1e-4,
   reference="np.std(self, axis=dim, ddof=correction, keepdims=keepdim)", doc="Square root of the variance; its gradient is 0 where it is 0.")

# The older ways to say `correction`: a bool instead of a dimension, or after it.
for _name in ("var", "std"):
    op(f"{_name}.all(self, unbiased: bool)", kernel=composite(f"{_name}(self, None, 1.0 if unbiased else 0.0, False)"),
       when="(len(args) == 2 and not kwargs and type(args[1]) is _bool) or (len(args) + len(kwargs) == 2 and 'unbiased' in kwargs)",
       samples=[sample((arg((3, 4)), True)), sample((arg((5,)), False))], dtypes="hfc", tolerance=1e-4,
       reference=f"np.{_name}(self, ddof=int(unbiased))", doc="Of all elements, with the older name of ``correction=1``.")
    op(f"{_name}.unbiased(self, dim: dims?, unbiased: bool = True, keepdim: bool = False)", when="len(args) > 2 or 'unbiased' in kwargs", out=True, wide_out=True,
       kernel=composite(f"{_name}(self, dim, 1.0 if unbiased else 0.0, keepdim)"),
       samples=[sample((arg((3, 4)), 0, False)), sample((arg((3, 4)), None, False)), sample((arg((3, 4)), -1, True, True))],
       dtypes="hfc", tolerance=1e-4, reference=f"np.{_name}(self, axis=dim, ddof=int(unbiased), keepdims=keepdim)",
       doc="With the older name of ``correction=1``.")

for _name, _saved in (("var", ""), ("std", "std, ")):
    _what = "Variance" if _name == "var" else "Standard deviation"
    op(f"{_name}_mean(self, dim: dims? = None, *, correction: correction = 1.0, keepdim: bool = False) -> ({_name}, mean)",
       kernel=call(f"reduce.{_name}_mean_plain"), method=False, named=False, dtypes="hfc", tolerance=1e-4,
       vjp={"self": f"_{_name}_mean_backward(given_{_name}, given_mean, {_saved}self, dim, correction, keepdim)"},
       jvp={_name: {"self": "_var_moved(self_t, self, dim, correction, keepdim)" if _name == "var" else
                            "_of_root(_var_moved(self_t, self, dim, correction, keepdim), std)"},
            "mean": {"self": "mean(self_t, dim, keepdim)"}},
       vmap="dims", samples=[*ALL[:1], sample((arg((3, 4)), 0)), sample((arg((2, 3, 4)), (0, 2)), {"keepdim": True}),
                             sample((arg((5,)), 0), {"correction": 0})],
       reference=f"(np.{_name}(self, axis=dim, ddof=correction, keepdims=keepdim), "
                 "np.mean(self, axis=dim, keepdims=keepdim))",
       doc=f"{_what} and mean over dimensions, as a pair; `correction` is subtracted from the count.",
       example=f">>> ag.{_name}_mean(ag.tensor([1.0, 2.0, 3.0]))\n(tensor(1.), tensor(2.))")
    op(f"{_name}_mean.all(self, unbiased: bool) -> ({_name}, mean)", kernel=composite(f"{_name}_mean(self, None, 1.0 if unbiased else 0.0, False)"),
       method=False, named=False, dtypes="hfc", tolerance=1e-4, when="(len(args) == 2 and not kwargs and type(args[1]) is _bool) or (len(args) + len(kwargs) == 2 and 'unbiased' in kwargs)",
       samples=[sample((arg((3, 4)), False))],
       reference=f"(np.{_name}(self, ddof=int(unbiased)), np.mean(self))", doc=f"{_what} and mean of all elements.")
    op(f"{_name}_mean.unbiased(self, dim: dims? = None, unbiased: bool = True, keepdim: bool = False) -> ({_name}, mean)",
       kernel=composite(f"{_name}_mean(self, dim, 1.0 if unbiased else 0.0, keepdim)"), method=False, named=False, dtypes="hfc", tolerance=1e-4,
       when="len(args) > 2 or 'unbiased' in kwargs", samples=[sample((arg((3, 4)), 1, False, True))],
       reference=f"(np.{_name}(self, axis=dim, ddof=int(unbiased), keepdims=keepdim), np.mean(self, axis=dim, keepdims=keepdim))",
       doc=f"{_what} and mean; not `unbiased` is ``correction=0``.")

op("_var_mean_backward(var: Tensor?, mean: Tensor?, self, dim: object, correction: float, keepdim: bool)",
   kernel=composite("derivatives.var_mean_backward"), doc="Gradient of var_mean from those of both outputs, None where there is none.")

op("_std_mean_backward(std: Tensor?, mean: Tensor?, root, self, dim: object, correction: float, keepdim: bool)",
   kernel=composite("derivatives.std_mean_backward"), doc="Gradient of std_mean from those of both outputs, None where there is none.")

op("_var_moved(moved, self, dim: object, correction: float, keepdim: bool)", kernel=composite("derivatives.var_moved"),
   doc="Tangent of a variance.")

op("_of_root(moved, root)", kernel=composite("derivatives.of_root"), doc="``moved / (2 * root)``, and 0 where `root` is 0.")

op("sort(self, dim: dim = -1, descending: bool = False, *, stable: bool? = False) -> (values, indices)",
   kernel=call("indexing.sort_plain"), nondiff_outputs=("indices",),
   vjp={"self": "scatter_add(new_zeros(grad_values, self.shape), dim, indices, grad_values)"},
   jvp={"values": {"self": "gather(self_t, dim, indices)"}}, vmap="dims",
   samples=[sample((arg((3, 4)),)), sample((arg((3, 4)), 0)), sample((arg((5,)), 0))],
   dtypes="bihf", reference="(np.sort(self, axis=dim), np.argsort(self, axis=dim, kind='stable'))",
   doc="Elements in order along a dimension, and where they were.")
