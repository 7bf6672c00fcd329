"""Repeating, splitting, reversing, scattering and what else is made of views and copies."""

from autograd_cy.ops._schema import (
    arg,
    call,
    composite,
    integers,
    op,
    real,
    sample,
    shapes,
    view,
)

BITS = "the bits are read as another type"


def one(shape, *args, **kwargs):
    return sample((arg(shape), *args), kwargs)


def fixed(shape, values):
    """An argument that is not differentiated: indices, masks."""
    return arg(shape, values, False)


# --- views across dtypes ----------------------------------------------------------------------

op("view_as_real(self)", method=False, kernel=view("shapes.view_as_real_plain"),
   vjp={"self": "view_as_complex(_dense_pairs(grad))"}, jvp={"self": "view_as_real(resolve_conj(self_t))"}, vmap="view_as_real(self)", dtypes="c",
   samples=shapes(((3, 4),), ((),), ((0, 3),)), reference="np.stack([self.real, self.imag], -1)",
   doc="A real view of a complex tensor, with a last dimension of 2 for real and imaginary part.")

op("view_as_complex(self)", method=False, kernel=view("shapes.view_as_complex_plain"), vjp={"self": "view_as_real(grad)"},
   jvp={"self": "view_as_complex(_dense_pairs(self_t))"}, vmap="view_as_complex(_dense_pairs(self))", dtypes="f",
   samples=shapes(((3, 2),), ((2,),), ((0, 2),)), reference="tested by hand",
   doc="A complex view of a real tensor whose last dimension holds real and imaginary part.")

op("_dense_pairs(self)", kernel=composite("arrange.dense_pairs"), doc="A tensor that view_as_complex takes.")

op("real(self)", method=False, kernel=composite("lazy.real_part"),
   samples=shapes(((3, 4),), ((),)), reference="np.real(self)", doc="Real part, as a view; a real tensor is returned as it is.")

op("imag(self)", method=False, checks="complex_only", kernel=composite("lazy.imag_part"),
   samples=shapes(((3, 4),), ((),)), dtypes="c", reference="np.imag(self)", doc="Imaginary part of a complex tensor, as a view.")

# --- shapes -----------------------------------------------------------------------------------

op("swapaxes(self, axis0: dim, axis1: dim)", kernel=composite("transpose(self, axis0, axis1)"), samples=[one((2, 3, 4), 0, -1)],
   reference="np.swapaxes(self, axis0, axis1)", doc="Two dimensions exchanged: transpose by another name.")

op("swapdims(self, dim0: dim, dim1: dim)", kernel=composite("transpose(self, dim0, dim1)"), samples=[one((2, 3, 4), 0, -1)],
   reference="np.swapaxes(self, dim0, dim1)", doc="Two dimensions exchanged: transpose by another name.")

op("adjoint(self)", kernel=composite("lazy.adjoint"), samples=[one((3, 4)), one((2, 3, 4))],
   reference="np.conj(np.swapaxes(self, -2, -1))", doc="Conjugate transpose of the last two dimensions.")

op("ravel(self)", kernel=composite("reshape(self, (-1,))"), samples=[one((3, 4)), one((5,)), one(())], reference="np.ravel(self)",
   doc="All elements as a vector; a view where the strides allow it.")

op("unflatten(self, dim: dim, sizes: ints)", kernel=composite("arrange.unflatten"),
   samples=[one((2, 6), 1, (2, 3)), one((6, 2), 0, (-1, 3)), one((4,), -1, (2, 2))],
   reference="self.reshape(self.shape[:dim % self.ndim] + tuple(sizes) + self.shape[dim % self.ndim + 1:])",
   doc="One dimension split into several; -1 is inferred.")

op("broadcast_to(self, size: sizes)", kernel=composite("expand(self, size)"), samples=[one((3, 1), (2, 3, 4))],
   reference="np.broadcast_to(self, size)", doc="`self` expanded to a shape.")

op("reshape_as(self, other)", function=False, kernel=composite("reshape(self, other.shape)"),
   samples=[sample((arg((3, 4)), arg((2, 6), None, False)))], reference="self.reshape(other.shape)", doc="`self` in the shape of `other`.")

op("narrow_copy(self, dim: dim, start: int, length: int)", kernel=composite("clone(narrow(self, dim, start, length), 0)"),
   samples=[one((5, 4), 0, 1, 3)], reference="np.take(self, range(start, start + length), dim)", doc="narrow in new memory.")

op("unfold(self, dimension: dim, size: int, step: int)", function=False, kernel=view("shapes.unfold_plain"),
   vjp={"self": "_unfold_backward(grad, self.shape, dimension, size, step)"}, jvp="linear", vmap="dims",
   samples=[one((7,), 0, 3, 2), one((3, 5), -1, 2, 1), one((4, 3), 0, 4, 1)],
   reference="np.moveaxis(np.lib.stride_tricks.sliding_window_view(self, size, dimension), dimension, 0)[::step].swapaxes(0, 0)"
             " if self.ndim == 1 else np.moveaxis(np.moveaxis(np.lib.stride_tricks.sliding_window_view(self, size, dimension), "
             "dimension % self.ndim, 0)[::step], 0, dimension % self.ndim)",
   doc="Windows of `size` elements, every `step` of them along a dimension, as a view with a last dimension for the window.")

op("_unfold_backward(grad_output, sizes: sizes, dimension: int, size: int, step: int)", kernel=call("shapes.unfold_backward_plain"),
   out=False, vjp={"grad_output": "unfold(grad, dimension, size, step)"}, jvp="linear",
   vmap="_unfold_backward(grad_output, (B,) + sizes, normal_dim(dimension, len(sizes)) + 1, size, step)",
   samples=[one((3, 3), (7,), 0, 3, 2), one((3, 4, 2), (3, 5), 1, 2, 1)], doc="The windows of unfold added up where they came from.")

op("flip(self, dims: sizes)", kernel=call("shapes.flip_plain"), out=False, vjp={"self": "flip(grad, dims)"}, jvp="linear",
   vmap="flip(self, shifted(normal_dims(dims, self.ndim - 1)) if len(dims) > 0 and self.ndim > 1 else ())",
   samples=[one((3, 4), (0,)), one((3, 4), (0, -1)), one((5,), (0,)), one((0, 3), (0,))], reference="np.flip(self, dims)",
   doc="A copy with the order of elements reversed along dimensions.")

op("fliplr(self)", kernel=composite("arrange.fliplr"), samples=[one((3, 4))], reference="np.fliplr(self)", doc="flip of the second dimension.")

op("flipud(self)", kernel=composite("arrange.flipud"), samples=[one((3, 4))], reference="np.flipud(self)", doc="flip of the first dimension.")

op("rot90(self, k: int = 1, dims: ints = (0, 1))", kernel=composite("arrange.rot90"), samples=[one((3, 4)), one((2, 3, 4), 3, (1, 2)), one((3, 2), 2)],
   reference="np.rot90(self, k, dims)", doc="Rotated by `k` quarter turns in the plane of two dimensions.")

op("roll(self, shifts: sizes, dims: sizes = ())", kernel=composite("arrange.roll"),
   samples=[one((3, 4), 1, 0), one((3, 4), (1, -2), (0, 1)), one((5,), 7), one((2, 3), -1)],
   reference="np.roll(self, shifts, dims if dims != () else None)", doc="Elements moved along dimensions, those beyond the end to the front.")

op("repeat(self, repeats: sizes)", function=False, kernel=composite("arrange.repeat"), samples=[one((3,), (2, 2)), one((2, 3), (1, 2)), one((), (3,))],
   reference="np.tile(self, repeats)", doc="Copies side by side: `repeats` times along each dimension.")

op("tile(self, dims: sizes)", kernel=composite("arrange.tile"), samples=[one((3,), (2, 2)), one((2, 3), (2,))], reference="np.tile(self, dims)",
   doc="repeat, where missing leading numbers are 1.")

op("repeat_interleave(self, repeats: count, dim: dim? = None, *, output_size: int? = None)", kernel=composite("arrange.repeat_interleave"),
   samples=[one((3, 2), 2), one((3, 2), 2, 0)],
   reference="np.repeat(self, repeats, dim)", doc="Each element (or slice along `dim`) repeated, a number of times of its own if `repeats` is a tensor.")

# --- pieces -----------------------------------------------------------------------------------

op("_unsafe_split(self, sizes: sizes, dim: dim) -> Tensor[]", kernel=call("shapes.unsafe_split_plain", lazy=True), node="UnsafeSplitBackward0",
   vjp={"self": "cat(grads, dim)"}, jvp="linear", vmap="dims", out=False, samples=[one((5, 2), (2, 3), 0)],
   reference="tuple(np.split(self, np.cumsum(sizes)[:-1], dim))", doc="Pieces that autograd takes for tensors of their own.")

op("unsafe_split(self, split_size: int, dim: dim = 0) -> Tensor[]", kernel=composite("arrange.unsafe_split"), samples=[one((5, 2), 2)],
   reference="tuple(np.split(self, range(split_size, self.shape[dim], split_size), dim))",
   doc="split for pieces that are changed in place, where neither `self` nor another piece on the same memory is used again.")

op("unsafe_split_with_sizes(self, split_sizes: ints, dim: dim = 0) -> Tensor[]", kernel=call("shapes.unsafe_split_with_sizes_plain"),
   vjp={"self": "cat(grads, dim)"}, jvp="linear", vmap="dims", out=False, samples=[one((5, 2), (2, 3))],
   reference="tuple(np.split(self, np.cumsum(split_sizes)[:-1], dim))", doc="split_with_sizes, see unsafe_split.")

op("unsafe_chunk(self, chunks: int, dim: dim = 0) -> Tensor[]", kernel=composite("arrange.unsafe_chunk"), samples=[one((6, 2), 3)],
   reference="tuple(np.array_split(self, chunks, dim))", doc="chunk, see unsafe_split.")

op("tensor_split(self, indices_or_sections: places, dim: dim = 0) -> Tensor[]", kernel=composite("arrange.tensor_split"),
   samples=[one((7, 2), 3), one((2, 7), (1, 4), 1)], reference="tuple(np.array_split(self, indices_or_sections, dim))",
   doc="Nearly equal pieces, or pieces between indices, as views.")

# --- slices and diagonals ---------------------------------------------------------------------

op("diagonal_scatter(self, src, offset: int = 0, dim1: dim = 0, dim2: dim = 1)", kernel=composite("arrange.diagonal_scatter"),
   samples=[sample((arg((3, 4)), arg((3,)))), sample((arg((3, 3)), arg((2,)), 1))], reference="tested by hand",
   doc="A copy of `self` whose diagonal is `src`.")

op("select_scatter(self, src, dim: dim, index: int)", kernel=composite("arrange.select_scatter"),
   samples=[sample((arg((3, 4)), arg((4,)), 0, 1)), sample((arg((3, 4)), arg((3,)), -1, -1))], reference="tested by hand",
   doc="A copy of `self` whose slice at `index` is `src`.")

op("slice_scatter(self, src, dim: dim = 0, start: int? = None, end: int? = None, step: int = 1)", kernel=composite("arrange.slice_scatter"),
   samples=[sample((arg((5, 2)), arg((2, 2)), 0, 1, 4, 2)), sample((arg((4,)), arg((3,)), 0, 1))], reference="tested by hand",
   doc="A copy of `self` in which a range along a dimension is `src`.")

op("diag(self, diagonal: int = 0)", kernel=composite("arrange.diag"), out="exact", samples=[one((3,)), one((3,), 1), one((3, 4)), one((3, 4), -1)],
   reference="np.diag(self, diagonal)", doc="The matrix with a vector as diagonal, or the diagonal of a matrix.")

op("diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1)", kernel=composite("arrange.diag_embed"), samples=[one((2, 3)), one((3,), -1)],
   reference="tested by hand", doc="Matrices with the vectors of the last dimension as diagonals.")

op("diagflat(self, offset: int = 0)", kernel=composite("diag(reshape(self, (-1,)), offset)"),
   samples=[one((2, 2)), one((3,), 1)], reference="np.diagflat(self, offset)", doc="The matrix with all elements on a diagonal.")

op("trace(self)", kernel=composite("arrange.trace"), samples=[one((3, 4)), one((2, 2))], reference="np.trace(self)", tolerance=1e-4,
   doc="Sum of the diagonal of a matrix.")

# --- indices and masks ------------------------------------------------------------------------

op("index_put(self, indices: indices, values, accumulate: bool = False)", kernel=composite("arrange.index_put"), samples=[],
   reference="tested by hand", doc="A copy of `self` with `values` written (or added) at the places that a tuple of index tensors gives.")

op("index_copy(self, dim: dim, index, source)", kernel=composite("arrange.index_copy"), inplace=True,
   samples=[sample((arg((3, 4)), 0, fixed((1,), integers(0, 3)), arg((1, 4))))], reference="tested by hand",
   doc="A copy of `self` whose slices with the given indices are those of `source`.")

op("index_fill(self, dim: dim, index, value: operand)", kernel=composite("arrange.index_fill"), inplace=True,
   samples=[sample((arg((3, 4)), 0, fixed((2,), integers(0, 3)), 2.0)), sample((arg((3, 4)), -1, fixed((1,), integers(0, 4)), 1))],
   reference="tested by hand", dtypes="hfc", doc="A copy of `self` whose slices with the given indices are `value`.")

op("masked_scatter(self, mask, source)", kernel=composite("arrange.masked_scatter"), inplace=True,
   samples=[], reference="tested by hand", doc="A copy of `self` with the elements of `source`, in order, where `mask` is true.")

op("take(self, index)", kernel=composite("arrange.take"), out="exact", samples=[sample((arg((3, 4)), fixed((2, 2), integers(0, 12))))],
   reference="np.take(self, index)", doc="Elements of the flattened tensor.")

# --- products of vectors and matrices ---------------------------------------------------------

op("outer(self, vec2)", kernel=composite("arrange.outer"), out=True, samples=shapes(((3,), (4,))), reference="np.outer(self, vec2)", aliases=("ger",),
   doc="Outer product of two vectors.")

op("kron(self, other)", kernel=composite("arrange.kron"), out=True, samples=shapes(((2, 3), (3, 2)), ((2,), (2, 2))), reference="np.kron(self, other)",
   doc="Kronecker product.")

op("cross(self, other, dim: dim? = None)", kernel=composite("arrange.cross"), out="exact", dtypes="ihfc", samples=[*shapes(((2, 3), (2, 3))), sample((arg((3, 2)), arg((3, 2)), 0))],
   reference="np.cross(self, other, axis=1 if dim is None else dim)", doc="Vector product along a dimension of size 3, by default the first one.")

op("addmv(self, mat, vec, *, beta: Scalar = 1, alpha: Scalar = 1)", kernel=composite("arrange.addmv"), out="exact", inplace=True, dtypes="ihfc",
   samples=shapes(((3,), (3, 4), (4,))), reference="beta * self + alpha * (mat @ vec)", tolerance=1e-4,
   doc="``beta * self + alpha * (mat @ vec)``.")

op("addr(self, vec1, vec2, *, beta: Scalar = 1, alpha: Scalar = 1)", kernel=composite("arrange.addr"), out=True, inplace=True,
   samples=shapes(((3, 4), (3,), (4,))), reference="self + np.outer(vec1, vec2)", doc="``beta * self + alpha * outer(vec1, vec2)``.")

op("baddbmm(self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1)", kernel=composite("arrange.baddbmm"), out="exact", inplace=True, dtypes="ihfc",
   samples=shapes(((2, 3, 2), (2, 3, 4), (2, 4, 2))), reference="beta * self + alpha * (batch1 @ batch2)", tolerance=1e-4,
   doc="``beta * self + alpha * bmm(batch1, batch2)``.")

op("addbmm(self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1)", kernel=composite("arrange.addbmm"), out="exact", inplace=True, dtypes="ihfc",
   samples=shapes(((3, 2), (2, 3, 4), (2, 4, 2))), reference="beta * self + alpha * (batch1 @ batch2).sum(0)", tolerance=1e-4,
   doc="``beta * self + alpha * sum of bmm(batch1, batch2)`` over the batch.")

# --- sums and products along a dimension ------------------------------------------------------

op("cumsum(self, dim: dim, *, dtype: dtype? = None)", wide_out=True, kernel=call("reduce.cumsum_plain"), widen=("b", "int64"), inplace=True,
   vjp={"self": "flip(cumsum(flip(grad, (dim,)), dim), (dim,))"}, jvp="linear", vmap="dims",
   samples=[one((3, 4), 0), one((5,), -1), one((0, 3), 1)], dtypes="bihfc", reference="np.cumsum(self, dim, dtype=np.int64 if self.dtype.kind in 'iu' else None)",
   tolerance=1e-4, doc="Running sum over a dimension; integers give int64.")

op("cumprod(self, dim: dim, *, dtype: dtype? = None)", wide_out=True, kernel=composite("arrange.cumprod"), out=True, inplace=True, samples=[one((3, 4), 0), one((5,), -1)],
   reference="np.cumprod(self, dim, dtype=np.int64 if self.dtype.kind in 'biu' else None)", tolerance=1e-4,
   doc="Running product over a dimension; integers give int64.")

op("prod(self, *, dtype: dtype? = None)", widen=("b", "int64"), wide_out=True, kernel=call("reduce.prod_plain", ("self", "None", "False", "dtype")),
   vjp={"self": "grad * _product_of_others(self, None).conj()"}, jvp={"self": "sum(self_t * _product_of_others(self, None))"},
   vmap="prod(reshape(self, (B, self.numel() // B if B > 0 else 0)), 1, False, dtype)", samples=[one((2, 3)), one(()), one((5,))],
   dtypes="bihfc", reference="np.prod(self, dtype=np.int64 if self.dtype.kind in 'iu' else None)", tolerance=1e-4,
   doc="Product of all elements, or along a dimension; integers give int64.")

op("prod.dim(self, dim: dim, keepdim: bool = False, *, dtype: dtype? = None)", node="ProdBackward1",
   when="(len(args) > 1 or 'dim' in kwargs)", widen=("b", "int64"), wide_out=True, kernel=call("reduce.prod_plain"),
   vjp={"self": "_expand_reduced(grad, self.shape, dim, keepdim) * _product_of_others(self, dim).conj()"},
   jvp={"self": "sum(self_t * _product_of_others(self, dim), dim, keepdim)"}, vmap="dims",
   samples=[one((3, 4), 0), one((3, 4), -1, keepdim=True), one((5,), 0)], dtypes="bihfc",
   reference="np.prod(self, axis=dim, keepdims=keepdim, dtype=np.int64 if self.dtype.kind in 'iu' else None)", tolerance=1e-4,
   doc="Product along a dimension.")

op("_product_of_others(self, dim: object)", kernel=composite("arrange.product_of_others"),
   doc="For each element the product of all others, which is the derivative of the product.")

op("_over_nonzero(self, below)", kernel=composite("where(eq(below, 0), 0, self / where(eq(below, 0), 1, below))"),
   doc="``self / below``, and 0 where `below` is 0, in every derivative.")

op("norm(self, p: order = 'fro', dim: dims? = None, keepdim: bool = False, dtype: dtype? = None)", kernel=composite("arrange.norm"), out="exact",
   samples=[one((3, 4)), one((3, 4), 1, 0), one((3, 4), 3.0, -1, True), one((3, 4), float("inf"), 1)], dtypes="hfc", tolerance=1e-4,
   domain=real(-2, 2, avoid=(0.0,)),
   reference="np.linalg.norm(self.ravel() if dim is None else self, 2 if p == 'fro' else p, dim, keepdim)",
   doc="The p-norm of all elements or along dimensions; the gradient is 0 where the norm is 0.")

op("count_nonzero(self, dim: dims? = None)", kernel=composite("sum(ne(self, 0), dim, False)"), samples=[sample((arg((3, 4), integers(0, 2)),)), sample((arg((3, 4), integers(0, 2)), 0))],
   reference="np.count_nonzero(self, dim)", doc="How many elements aren't zero.")

op("diff(self, n: int = 1, dim: dim = -1, prepend: Tensor? = None, append: Tensor? = None)", kernel=composite("arrange.diff"), out=True,
   samples=[one((3, 4)), one((5,), 2), one((3, 4), 1, 0), sample((arg((4,)), 1, -1, arg((1,)), arg((2,))))],
   reference="np.diff(self, n, dim, *[x for x in (prepend,) if x is not None], **({} if append is None else {'append': append}))",
   doc="Differences of neighbours along a dimension, `n` times.")

op("topk(self, k: int, dim: dim = -1, largest: bool = True, sorted: bool = True) -> (values, indices)", kernel=call("indexing.topk_plain"),
   nondiff_outputs=("indices",), vjp={"self": "scatter_add(new_zeros(grad_values, self.shape), dim, indices, grad_values)"},
   jvp={"values": {"self": "gather(self_t, dim, indices)"}}, vmap="dims",
   samples=[one((3, 4), 2), one((3, 4), 1, 0), one((5,), 3, 0, False)], dtypes="ihf",
   reference="tested by hand", doc="The `k` largest (or smallest) elements along a dimension, in order, and their indices.")

op("argsort(self, dim: dim = -1, descending: bool = False, *, stable: bool = False)", kernel=composite("sort(self, dim, descending, stable)[1]"), out=True,
   samples=[one((3, 4)), one((5,), 0)], dtypes="bihf", reference="np.argsort(self, axis=dim, kind='stable')", doc="Indices that sort along a dimension.")

# --- other ------------------------------------------------------------------------------------

op("nan_to_num(self, nan: float? = None, posinf: float? = None, neginf: float? = None)", kernel=composite("arrange.nan_to_num"), out="exact", inplace=True,
   samples=[one((3, 4)), one((3,), 1.0)], dtypes="bihf", reference="np.nan_to_num(self)",
   doc="NaN and infinities replaced by numbers: zero and the limits of the dtype, where nothing else is given.")
