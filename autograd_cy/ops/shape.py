"""Views and rearranging copies: strides change, values don't."""

from autograd_cy.ops._schema import (
    UNARY,
    arg,
    by_hand,
    call,
    composite,
    loop,
    nondiff,
    op,
    sample,
    view,
)

NO_VALUES = "the result doesn't depend on the values"


def one(shape, *args, **kwargs):
    return sample((arg(shape), *args), kwargs)


# --- views ------------------------------------------------------------------------------------

op("view(self, size: sizes)", kernel=view("shapes.view_plain"), function=False, vjp={"self": "grad.reshape(self.shape)"},
   jvp={"self": "reshape(self_t, size)"}, vmap="view(self, (B,) + size)",
   samples=[one((3, 4), (4, 3)), one((3, 4), (-1,)), one((), (1, 1)), one((0, 3), (3, 0)), one((2, 6), (2, 3, -1))],
   reference="self.reshape(size)", doc="The same memory in another shape; -1 is inferred.")

op("view.dtype(self, dtype: dtype?)", kernel=call("shapes.view_dtype_plain", lazy=True), function=False, out=False, vjp=nondiff("the bits are read as another type"),
   when="'dtype' in kwargs or (len(args) == 2 and type(args[1]) is _dtype)", vmap="_view_dtype(self, dtype)", samples=[],
   reference="tested by hand", doc="The same memory read as elements of another dtype; the last dimension absorbs a change of size.")

op("_view_dtype(self, dtype: dtype?)", kernel=call("shapes.view_dtype_plain", lazy=True), out=False, vjp=nondiff("the bits are read as another type"),
   vmap="_view_dtype(self, dtype)", doc="view.dtype as one operation.")

op("reshape(self, shape: sizes)", kernel=composite("formulas.reshape"),
   samples=[one((3, 4), (4, 3)), one((3, 4), (-1,)), one((), (1,)), one((0, 3), (3, 0))],
   reference="self.reshape(shape)", doc="Another shape; a view where the strides allow it, else a copy.")

op("_reshape(self, shape: sizes)", kernel=call("shapes.reshape_plain", lazy=True), node="ReshapeBackward0", out=False,
   vjp={"self": "grad.reshape(self.shape)"}, jvp="linear", vmap="reshape(self, (B,) + shape)",
   samples=[one((3, 4), (4, 3)), one((3, 4), (-1,)), one((), (1,))], reference="self.reshape(shape)",
   doc="reshape as one operation; its vmap rule reshapes the physical tensor.")

op("expand(self, size: sizes)", kernel=view("shapes.expand_sizes"), function=False, vjp={"self": "grad"}, jvp="linear",
   vmap="expand(_insert_dims(self, len(size)), (B,) + size)",
   samples=[one((3, 1), (3, 4)), one((3,), (2, 3)), one((), (2, 2)), one((1, 3), (-1, 3)), one((0, 1), (0, 3))],
   reference="np.broadcast_to(self, tuple(self.shape[i - len(size) + self.ndim] if s == -1 else s "
             "for i, s in enumerate(size)))",
   doc="Dimensions of size 1 repeated without copying; -1 keeps a size.")

op("_insert_dims(self, ndim: int)", kernel=composite("formulas.insert_dims"),
   doc="A batch-first tensor with dimensions of size 1 after the batch, up to `ndim` logical ones.")

op("transpose(self, dim0: dim, dim1: dim)", kernel=view("shapes.transpose_plain"),
   vjp={"self": "grad.transpose(dim0, dim1)"}, jvp="linear", vmap="dims",
   samples=[one((3, 4), 0, 1), one((2, 3, 4), -1, 0), one((0, 3), 0, 1), one((3,), 0, 0), one((), 0, -1)],
   reference="np.swapaxes(self, dim0, dim1) if self.ndim else self", doc="Two dimensions exchanged.")

op("t(self)", kernel=composite("_t(_up_to_2d(self))"),
   samples=[one((3, 4)), one((3,)), one(())], reference="self.T", doc="Transpose of a matrix; fewer dimensions stay.")

op("_t(self)", kernel=view("shapes.t_plain"), node="TBackward0", vjp={"self": "grad.t()"}, jvp="linear",
   vmap="transpose(self, 1, 2) if self.ndim == 3 else _alias(self)", samples=[one((3, 4)), one((3,)), one(())], reference="self.T",
   doc="Transpose of a matrix; fewer dimensions stay.")

op("_up_to_2d(self)", kernel=composite("formulas.up_to_2d"), doc="The tensor itself, refused beyond 2 dimensions.")

op("permute(self, dims: sizes)", kernel=view("shapes.permute_plain"), vjp={"self": "grad.permute(inverse_permutation(dims))"},
   jvp="linear", vmap="permute(self, (0,) + shifted(normal_dims(dims, self.ndim - 1)))",
   samples=[one((2, 3, 4), (2, 0, 1)), one((2, 3), (-1, 0)), one((0, 3), (1, 0)), one((3,), (0,))],
   reference="np.transpose(self, dims)", doc="Dimensions in another order.")

op("movedim(self, source: dims, destination: dims)", kernel=composite("formulas.movedim"), aliases=("moveaxis",),
   samples=[one((2, 3, 4), 0, 2), one((2, 3, 4), (0, 1), (1, 2)), one((2, 3, 4), -1, 0)],
   reference="np.moveaxis(self, source, destination)", doc="Dimensions moved to other places.")

op("squeeze(self)", kernel=view("shapes.squeeze_all_plain"), vjp={"self": "grad.reshape(self.shape)"}, jvp="linear",
   vmap="squeeze(self, shifted(normal_dims(None, self.ndim - 1)) if self.ndim > 1 else ())",
   samples=[one((3, 1, 4)), one((1,)), one((3,)), one((0, 1))], reference="np.squeeze(self)",
   doc="Without the dimensions of size 1.")

op("squeeze.dim(self, dim: dims)", kernel=view("shapes.squeeze_plain"), vjp={"self": "grad.reshape(self.shape)"},
   jvp="linear", vmap="dims", when="len(args) > 1 or 'dim' in kwargs", node="SqueezeBackward1",
   samples=[one((3, 1, 4), 1), one((3, 1), 0), one((1, 3, 1), (0, 2)), one((1, 3), -2)],
   reference="np.squeeze(self, tuple(d for d in (dim if isinstance(dim, tuple) else (dim,)) if self.shape[d] == 1))",
   doc="Without those of the given dimensions that have size 1.")

op("unsqueeze(self, dim: int)", kernel=view("shapes.unsqueeze_plain"), vjp={"self": "grad.reshape(self.shape)"},
   jvp="linear", vmap="unsqueeze(self, dim + 1 if dim >= 0 else dim)",
   samples=[one((3, 4), 0), one((3, 4), -1), one((), 0), one((3,), 1), one((0,), 1)],
   reference="np.expand_dims(self, dim)", doc="A new dimension of size 1.")

op("select(self, dim: dim, index: int)", kernel=view("shapes.select_plain"),
   vjp={"self": "_select_backward(grad, self.shape, dim, index)"}, jvp="linear", vmap="dims",
   samples=[one((3, 4), 0, 1), one((3, 4), -1, -2), one((2, 3, 4), 1, 0)], reference="np.take(self, index, dim)",
   doc="One slice along a dimension, which goes away.")

op("_select_backward(grad_output, size: sizes, dim: int, index: int)", kernel=call("shapes.select_backward_plain"), out=False,
   vjp={"grad_output": "grad.select(dim, index)"}, jvp="linear",
   vmap="_select_backward(grad_output, (B,) + size, normal_dim(dim, len(size)) + 1, index)",
   samples=[one((4,), (3, 4), 0, 1), one((2, 3), (2, 3, 4), -1, -2)], doc="Zeros of `size` with `grad_output` at one index.")

op("slice(self, dim: dim = 0, start: int? = None, end: int? = None, step: int = 1)", kernel=view("shapes.slice_plain"),
   function=False, method=False, vjp={"self": "_slice_backward(grad, self.shape, dim, start, end, step)"}, jvp="linear",
   vmap="dims", samples=[one((5, 4), 0, 1, 4), one((5,), 0, None, None, 2), one((5, 4), 1, -2), one((3,), 0, 2, 1)],
   reference="self[(builtins.slice(None),) * (dim % self.ndim) + (builtins.slice(start, end, step),)]",
   doc="Every `step`-th element from `start` to `end` along a dimension.")

op("_slice_backward(grad_output, size: sizes, dim: dim, start: int?, end: int?, step: int)",
   kernel=call("shapes.slice_backward_plain"), out=False,
   vjp={"grad_output": "slice(grad, dim, start, end, step)"}, jvp="linear",
   vmap="_slice_backward(grad_output, (B,) + size, normal_dim(dim, len(size)) + 1, start, end, step)",
   samples=[one((3, 4), (5, 4), 0, 1, 4, 1), one((3,), (5,), 0, None, None, 2)],
   doc="Zeros of `size` with `grad_output` in the slice.")

op("narrow(self, dim: dim, start: start, length: int)", kernel=view("shapes.narrow_plain"), node="SliceBackward0",
   vjp={"self": "_slice_backward(grad, self.shape, dim, start if start >= 0 else start + self.shape[dim],"
                " (start if start >= 0 else start + self.shape[dim]) + length, 1)"},
   jvp="linear", vmap="dims", samples=[one((5, 4), 0, 1, 3), one((5,), -1, 2, 0), one((3, 4), 1, -3, 2),
                                        one((3, 4), 1, -3, 3)],
   reference="np.take(self, range(start % max(self.shape[dim], 1), start % max(self.shape[dim], 1) + length), dim)",
   doc="`length` elements from `start` along a dimension.")

op("as_strided(self, size: ints, stride: ints, storage_offset: int? = None)", kernel=view("shapes.as_strided_plain"),
   attrs={"base_stride": "strides_of(self)", "base_offset": "offset_of(self)"},
   vjp={"self": "_as_strided_backward(grad, self.shape, base_stride, base_offset, size,"
                " stride, storage_offset)"},
   jvp={"self": "_as_strided_gather(self_t, self.shape, strides_of(self), offset_of(self), size, stride, storage_offset)"},
   vmap="as_strided(self, (B,) + size, (strides_of(self)[0],) + stride, storage_offset)",
   samples=[one((3, 4), (2, 2), (4, 1)), one((6,), (3, 2), (1, 2), 1)],
   reference="np.lib.stride_tricks.as_strided(self.ravel()[(storage_offset or 0):], size, [s * self.itemsize for s in stride])",
   doc="Any window on the storage, by sizes and strides in elements.")

op("_as_strided_backward(grad_output, base_size: sizes, base_stride: ints, base_offset: int, size: sizes, stride: ints,"
   " storage_offset: int?)", kernel=call("shapes.as_strided_backward_plain"), out=False,
   vjp={"grad_output": "_as_strided_gather(grad, base_size, base_stride, base_offset, size, stride, storage_offset)"},
   jvp="linear", vmap=by_hand("batching_rules.strided_backward_each"),
   samples=[one((3, 2), (6,), (1,), 0, (3, 2), (1, 2), 1)], doc="Gradient of as_strided with respect to its base.")

op("_as_strided_gather(self, base_size: sizes, base_stride: ints, base_offset: int, size: sizes, stride: ints,"
   " storage_offset: int?)", kernel=call("shapes.as_strided_gather_plain"), out=False,
   vjp={"self": "_as_strided_backward(grad, base_size, base_stride, base_offset, size, stride, storage_offset)"},
   jvp="linear", vmap=by_hand("batching_rules.strided_gather_each"),
   samples=[one((6,), (6,), (1,), 0, (3, 2), (1, 2), 1)], doc="The window's values of a tensor laid out in the base's geometry.")

op("as_strided_scatter(self, src, size: ints, stride: ints, storage_offset: int? = None)", method=True,
   kernel=call("shapes.as_strided_scatter_plain"), out=False,
   attrs={"base_stride": "strides_of(self)", "base_offset": "offset_of(self)"},
   # The window is one of the memory of `self`, whatever the strides of a gradient or tangent are.
   vjp={"self": "where(eq(_as_strided_backward(new_zeros(grad, size) + 1, self.shape, base_stride, base_offset, size, stride,"
                " storage_offset), 0), grad, 0)",
        "src": "_as_strided_gather(grad, self.shape, base_stride, base_offset, size, stride, storage_offset)"},
   jvp={"self": "where(eq(_as_strided_backward(new_zeros(self_t, size) + 1, self.shape, strides_of(self), offset_of(self), size,"
                " stride, storage_offset), 0), self_t, 0)",
        "src": "_as_strided_backward(src_t, self.shape, strides_of(self), offset_of(self), size, stride, storage_offset)"},
   vmap=loop("windows of the storage don't see the batch"), samples=[sample((arg((3, 4)), arg((2, 2)), (2, 2), (4, 1)))], reference="tested by hand",
   doc="A copy of `self` in which a window holds `src`.")

op("_dense_window(self, size: sizes, stride: ints, storage_offset: int?)", kernel=composite("formulas.dense_window"),
   doc="as_strided on a gradient, counted from its first element.")

op("diagonal(self, offset: int = 0, dim1: dim = 0, dim2: dim = 1)", kernel=view("shapes.diagonal_plain"),
   vjp={"self": "_diagonal_backward(grad, self.shape, offset, dim1, dim2)"}, jvp="linear", vmap="dims",
   samples=[one((3, 4)), one((3, 4), 1), one((2, 3, 4), -1, 0, 2), one((3, 3), 5)],
   reference="np.diagonal(self, offset, dim1, dim2)", doc="Diagonal of two dimensions, as last dimension.")

op("_diagonal_backward(grad_output, size: sizes, offset: int, dim1: int, dim2: int)",
   kernel=call("shapes.diagonal_backward_plain"), out=False, vjp={"grad_output": "grad.diagonal(offset, dim1, dim2)"}, jvp="linear",
   vmap="_diagonal_backward(grad_output, (B,) + size, offset, normal_dim(dim1, len(size)) + 1, normal_dim(dim2, len(size)) + 1)",
   samples=[one((3,), (3, 4), 0, 0, 1), one((3, 2), (2, 3, 4), 0, 0, -1)],
   doc="Zeros of `size` with `grad_output` on the diagonal.")

op("unbind(self, dim: dim = 0) -> Tensor[]", kernel=view("shapes.unbind_plain"), multi_view=True,
   vjp={"self": "stack(grads, dim)"}, jvp="linear", vmap="dims", samples=[one((3, 4)), one((3, 4), 1), one((2, 0))],
   reference="tuple(np.moveaxis(self, dim, 0))", doc="The slices along a dimension, as a tuple of views.")

op("split(self, split_size_or_sections: sections, dim: dim = 0) -> Tensor[]", kernel=composite("formulas.split"),
   samples=[one((5, 2), 2), one((2, 5), (1, 4), 1), one((4,), 4)],
   reference="tuple(np.split(self, np.cumsum(split_size_or_sections)[:-1] if isinstance(split_size_or_sections, tuple) "
             "else range(split_size_or_sections, self.shape[dim], split_size_or_sections), dim))",
   doc="Pieces of the given size, or sizes, along a dimension, as views.")

op("split_with_sizes(self, split_sizes: ints, dim: dim = 0) -> Tensor[]", kernel=view("shapes.split_with_sizes_plain"), multi_view=True,
   vjp={"self": "cat(grads, dim)"}, jvp="linear", vmap="dims", samples=[one((5, 2), (2, 3)), one((2, 5), (1, 0, 4), -1)],
   reference="tuple(np.split(self, np.cumsum(split_sizes)[:-1], dim))", doc="Pieces of the given sizes along a dimension, as views.")

op("split.size(self, split_size: sections, dim: dim = 0) -> Tensor[]", when="'split_size' in kwargs",
   kernel=composite("split(self, split_size, dim)"), samples=[one((5, 2), 2)],
   reference="tuple(np.split(self, range(split_size, self.shape[dim], split_size), dim))", doc="The name of the argument in the method.")

op("chunk(self, chunks: int, dim: dim = 0) -> Tensor[]", kernel=composite("formulas.chunk"),
   samples=[one((6, 2), 3), one((2, 6), 2, 1)], reference="tuple(np.array_split(self, chunks, dim))",
   doc="At most `chunks` equal pieces along a dimension, as views.")

op("_split(self, sizes: sizes, dim: dim) -> Tensor[]", kernel=view("shapes.split_plain"), multi_view=True,
   node="SplitBackward0", vjp={"self": "cat(grads, dim)"}, jvp="linear", vmap="dims",
   samples=[one((5, 2), (2, 3), 0), one((2, 5), (1, 0, 4), -1)],
   reference="tuple(np.split(self, np.cumsum(sizes)[:-1], dim))",
   doc="Pieces of the given sizes along a dimension.")

op("flatten(self, start_dim: int = 0, end_dim: int = -1)", kernel=composite("formulas.flatten"),
   samples=[one((2, 3, 4)), one((2, 3, 4), 1), one((2, 3, 4), 0, 1), one(())],
   reference="self.reshape(self.shape[:start_dim] + (-1,) + self.shape[end_dim % self.ndim + 1:]) if self.ndim else self.reshape(1)",
   doc="A range of dimensions joined into one.")

op("view_as(self, other)", function=False, kernel=composite("view(self, other.shape)"),
   samples=[sample((arg((3, 4)), arg((4, 3), None, False)))], reference="self.reshape(other.shape)", doc="A view in the shape of `other`.")

op("expand_as(self, other)", function=False, kernel=composite("expand(self, other.shape)"),
   samples=[sample((arg((3, 1)), arg((3, 4), None, False)))], reference="np.broadcast_to(self, other.shape)",
   doc="`self` expanded to the shape of `other`.")

op("_alias(self)", kernel=view("shapes.alias_plain"), node="AliasBackward0", vjp={"self": "grad"}, jvp="linear",
   vmap="_alias(self)", samples=[one((3, 4))], reference="self", doc="A view of everything.")

# --- copies -----------------------------------------------------------------------------------

op("clone(self, *, memory_format: format? = None)", kernel=call("shapes.clone_with", lazy=True), out=False, vjp={"self": "grad"},
   jvp="linear", vmap="clone(self, -1)", samples=UNARY, reference="self.copy()", doc="A copy in new memory; differentiable.")

op("_contiguous(self, memory_format: format? = None)", kernel=call("shapes.contiguous_with", lazy=True), out=False, node="CloneBackward0",
   vjp={"self": "grad"}, jvp="linear", vmap="clone(self, 0)", samples=[one((3, 4))], reference="self", doc="A C-contiguous copy, or one of the given format.")

op("_to_dtype(self, dtype: dtype? = None)", kernel=call("shapes.cast_copy", lazy=True), out=False, node="ToCopyBackward0",
   vjp={"self": "grad"}, jvp="linear", vmap="_to_dtype(self, dtype)", doc="A copy converted to another dtype.")

op("sum_to_size(self, size: sizes)", function=False, kernel=composite("formulas.sum_to_size"),
   samples=[one((3, 4), (1, 4)), one((2, 3), (3,)), one((3,), (3,))],
   reference="self.sum(tuple(range(self.ndim - len(size))) + tuple(i for i in range(self.ndim - len(size), self.ndim) "
             "if size[i - self.ndim + len(size)] != self.shape[i]), keepdims=True).reshape(size)",
   doc="Summed to a shape that broadcasts to the own one.")

op("zeros_like(self)", function=False, method=False, kernel=call("shapes.zeros_like_plain", lazy=True), out=False, vjp=nondiff(NO_VALUES),
   vmap="elementwise", samples=UNARY, reference="np.zeros_like(self)", doc="Zeros of the same shape and dtype.")

op("ones_like(self)", function=False, method=False, kernel=call("shapes.ones_like_plain", lazy=True), out=False, vjp=nondiff(NO_VALUES),
   vmap="elementwise", samples=UNARY, reference="np.ones_like(self)", doc="Ones of the same shape and dtype.")

op("new_zeros(self, size: sizes)", function=False, method=False, kernel=call("shapes.new_zeros_plain", lazy=True), out=False,
   vjp=nondiff(NO_VALUES), vmap="new_zeros(self, (B,) + size)", samples=[one((3,), (2, 2))], reference="np.zeros(size, self.dtype)",
   doc="Zeros of another shape, with this tensor's dtype.")

op("_fill(self, value)", kernel=call("shapes.fill_plain"), out=False, node="FillBackward0",
   vjp={"self": "zeros_like(grad)", "value": "grad.sum()"}, jvp={"self": "zeros_like(self_t)", "value": "value_t.expand(self.shape)"},
   vmap={"self": "_fill(self, value)", "self,value": "clone(expand(_trailing_dims(value, self.ndim), self.shape), -1)"},
   samples=[sample((arg((3, 4)), arg(()))), sample((arg(()), arg(())))], reference="np.broadcast_to(value, self.shape)",
   doc="`value` in every element, in the shape of `self`.")

op("_trailing_dims(self, ndim: int)", kernel=composite("formulas.trailing_dims"),
   doc="With dimensions of size 1 appended, up to `ndim`.")
