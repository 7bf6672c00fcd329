"""Reading and writing by index, joining, and writing in place."""

from autograd_cy.ops._schema import (
    arg,
    booleans,
    by_hand,
    call,
    composite,
    integers,
    nondiff,
    op,
    refuse,
    sample,
)

op("cat(tensors: Tensor[], dim: dim = 0) -> result", method=False, kernel=call("indexing.cat_plain"), out=False, aliases=("concat", "concatenate"),
   attrs={"sizes": "axis_sizes(tensors, dim)"}, vjp={"tensors": "_cat_backward(grad, sizes, dim)"},
   jvp="linear", vmap="cat(tensors, dim + 1)",
   samples=[sample(((arg((2, 3)), arg((1, 3))), 0)), sample(((arg((2, 3)), arg((2, 2))), -1)), sample(((arg((2,)), arg((0,)), arg((3,))),))],
   reference="np.concatenate(tensors, dim)", doc="Tensors joined along a dimension.")

op("_cat_backward(self, sizes: object, dim: int) -> Tensor[]", kernel=composite("formulas.cat_backward"),
   doc="The pieces of a gradient that belong to the tensors of cat.")

op("stack(tensors: Tensor[], dim: int = 0) -> result", method=False, kernel=call("indexing.stack_plain"), out=False,
   vjp={"tensors": "unbind(grad, dim)"}, jvp="linear", vmap="stack(tensors, dim + 1 if dim >= 0 else dim)",
   samples=[sample(((arg((2, 3)), arg((2, 3))), 0)), sample(((arg((2, 3)), arg((2, 3))), -1)), sample(((arg(()), arg(())),))],
   reference="np.stack(tensors, dim)", doc="Tensors of one shape joined along a new dimension.")

op("index_select(self, dim: dim, index)", kernel=call("indexing.index_select_plain"),
   vjp={"self": "index_add(new_zeros(grad, self.shape), dim, index, grad)"}, jvp={"self": "index_select(self_t, dim, index)"},
   vmap=by_hand("batching_rules.index_select_each"),
   samples=[sample((arg((3, 4)), 0, arg((5,), integers(0, 3), False))), sample((arg((3, 4)), -1, arg((2,), integers(0, 4), False))),
            sample((arg((3,)), 0, arg((0,), integers(0, 1), False)))],
   reference="np.take(self, index, dim)", doc="The slices with the given indices along a dimension.")

op("index_add(self, dim: dim, index, source)", alpha=True, kernel=call("indexing.index_add_plain"), into="indexing.index_add_into", inplace=True, out=False,
   vjp={"self": "grad", "source": "index_select(grad, dim, index)"},
   jvp={"self": "self_t", "source": "index_add(zeros_like(self), dim, index, source_t)"},
   vmap=by_hand("batching_rules.index_add_each"),
   samples=[sample((arg((3, 4)), 0, arg((5,), integers(0, 3), False), arg((5, 4)))), sample((arg((3, 4)), 1, arg((2,), integers(0, 4), False), arg((3, 2))))],
   reference="tested by hand", tolerance=1e-4, doc="`source` added to the slices with the given indices; repeated indices add up.")

op("gather(self, dim: dim, index)", kernel=call("indexing.gather_plain"),
   vjp={"self": "scatter_add(new_zeros(grad, self.shape), dim, index, grad)"}, jvp={"self": "gather(self_t, dim, index)"},
   vmap="gather(self, dim + 1, index) if self.ndim > 1 else "
        "(gather(unsqueeze(self, 1), 1, unsqueeze(index, 1)).reshape(index.shape) if index.ndim == 1 else "
        "gather(unsqueeze(self, 1), 1, index))",
   samples=[sample((arg((3, 4)), 0, arg((2, 4), integers(0, 3), False))), sample((arg((3, 4)), -1, arg((3, 2), integers(0, 4), False)))],
   reference="np.take_along_axis(self, index, dim)", doc="One element per index along a dimension.")

op("scatter_add(self, dim: dim, index, src)", kernel=call("indexing.scatter_add_plain"), into="indexing.scatter_add_into", inplace=True, out=False,
   vjp={"self": "grad", "src": "_pad_corner(gather(grad, dim, index), src.shape)"},
   jvp={"self": "self_t", "src": "scatter_add(zeros_like(self), dim, index, src_t)"}, vmap="scatter_add(self, dim + 1, index, src) if self.ndim > 1 else "
        "scatter_add(unsqueeze(self, 1), 1, unsqueeze(index, 1) if index.ndim == 1 else index, "
        "unsqueeze(src, 1) if src.ndim == 1 else src).reshape(self.shape)",
   samples=[sample((arg((3, 4)), 0, arg((2, 4), integers(0, 3), False), arg((2, 4)))), sample((arg((3, 4)), 1, arg((3, 2), integers(0, 4), False), arg((3, 2))))],
   reference="tested by hand", tolerance=1e-4, doc="`src` added at the indices along a dimension; repeated indices add up.")

op("scatter.src(self, dim: dim, index, src)", kernel=call("indexing.scatter_plain"), inplace=True, out=False, node="ScatterBackward0",
   vjp={"self": "_scatter_zero(grad, dim, index)", "src": "_pad_corner(gather(grad, dim, index), src.shape)"},
   jvp="linear", vmap="scatter(self, dim + 1, index, src) if self.ndim > 1 else "
        "scatter(unsqueeze(self, 1), 1, unsqueeze(index, 1) if index.ndim == 1 else index, "
        "unsqueeze(src, 1) if src.ndim == 1 else src).reshape(self.shape)", when="'src' in kwargs or (len(args) > 3 and isinstance(args[3], Tensor))",
   samples=[sample((arg((3, 4)), 1, arg((3, 1), integers(0, 4), False), arg((3, 1))))], reference="tested by hand",
   doc="`src` (or a number) written at the indices along a dimension.")

op("scatter(self, dim: dim, index, value: operand)", kernel=composite("_scatter_value(self, dim, index, value)"), inplace=True,
   samples=[sample((arg((3, 4)), 1, arg((3, 1), integers(0, 4), False), 2.0))], reference="tested by hand",
   doc="A number written at the indices along a dimension.")

op("_scatter_value(self, dim: int, index, value)", kernel=composite("formulas.scatter_value"), doc="scatter of a number.")

op("_scatter_zero(self, dim: int, index)", kernel=composite("_scatter_value(self, dim, index, 0)"),
   doc="Zeros written at the indices along a dimension.")

op("_pad_corner(self, size: object)", kernel=composite("formulas.pad_corner"), doc="Zeros of a shape with `self` in the leading corner.")

op("_index(self, indices: indices)", kernel=call("indexing.take_indices"), out=False, node="IndexBackward0",
   vjp={"self": "_index_put(new_zeros(grad, self.shape), indices, grad, True)"}, jvp={"self": "_index(self_t, indices)"},
   vmap=by_hand("batching_rules.index_each"), doc="Advanced indexing by a tuple of None, int64 and bool tensors.")

op("_index_put(self, indices: indices, values, accumulate: bool)", forward="index_put", kernel=call("formulas.put_copy"), into="indexing.put_indices", out=False, inplace=True, node="IndexPutBackward0",
   vjp={"self": "grad if accumulate else _index_put(grad, indices, new_zeros(grad, ()), False)",
        "values": "_index(grad, indices)"},
   jvp={"self": "self_t if accumulate else _index_put(self_t, indices, new_zeros(self_t, ()), False)",
        "values": "_index_put(zeros_like(self), indices, values_t, accumulate)"},
   vmap=by_hand("batching_rules.index_put_each"), doc="A copy with `values` written (or added) at advanced indices.")

op("masked_fill(self, mask, value: operand)", kernel=composite("where(mask, _like(value, self), self)"), inplace=True,
   samples=[sample((arg((3, 4)), arg((3, 4), booleans(), False), 0.5)), sample((arg((3, 4)), arg((4,), booleans(), False), 2))],
   reference="np.where(mask, value, self)", dtypes="hfc",
   doc="`value` where `mask` is true.")

op("_like(self, other)", kernel=composite("formulas.value_like"), doc="A value as 0-d tensor of another tensor's dtype.")

op("masked_select(self, mask)", kernel=composite("formulas.masked_select"),
   samples=[sample((arg((3, 4)), arg((3, 4), booleans(), False))), sample((arg((3, 4)), arg((4,), booleans(), False)))],
   reference="self[np.broadcast_to(mask, self.shape)]", doc="The elements where `mask` is true, as a vector.")

op("nonzero(self)", kernel=call("indexing.nonzero_plain"), out=False, vjp=nondiff("the result is indices"),
   vmap=refuse("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over nonzero; "
               "use where() with the condition instead."), samples=[sample((arg((3, 4), integers(0, 2)),))],
   reference="np.argwhere(self)", doc="Indices of the elements that aren't zero, one row each.")

for _name, _doc in (("tril", "Lower triangle; zeros above diagonal `diagonal`."), ("triu", "Upper triangle; zeros below diagonal `diagonal`.")):
    op(f"{_name}(self, diagonal: int = 0)", kernel=call(f"indexing.{_name}_plain"), inplace=True, vjp={"self": f"{_name}(grad, diagonal)"}, jvp="linear",
       vmap=f"{_name}(self, diagonal)", samples=[sample((arg((3, 4)),)), sample((arg((3, 3)), 1)), sample((arg((2, 3, 3)), -1))],
       reference=f"np.{_name}(self, diagonal)", doc=_doc)
