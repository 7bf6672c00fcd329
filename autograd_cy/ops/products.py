"""Matrix products."""

from autograd_cy.ops._schema import arg, call, composite, op, sample, shapes

op("mm(self, mat2)", out="exact", kernel=call("products.mm_plain"),
   vjp={"self": "mm(grad, mat2.t().conj())", "mat2": "mm(self.t().conj(), grad)"}, jvp="each",
   vmap={"self": "matmul(self, mat2)", "self,mat2": "bmm(self, mat2)"},
   samples=shapes(((3, 4), (4, 2)), ((1, 3), (3, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3))), dtypes="ihfc",
   reference="self @ mat2", tolerance=1e-4, doc="Product of two matrices.")

op("bmm(self, mat2)", out="exact", kernel=call("products.bmm_plain"),
   vjp={"self": "bmm(grad, mat2.transpose(1, 2).conj())", "mat2": "bmm(self.transpose(1, 2).conj(), grad)"}, jvp="each",
   vmap="_unmerge_batch(bmm(flatten(self, 0, 1), flatten(mat2, 0, 1)), B)",
   samples=shapes(((2, 3, 4), (2, 4, 2)), ((0, 2, 3), (0, 3, 1)), ((1, 1, 1), (1, 1, 1))), dtypes="ihfc",
   reference="self @ mat2", tolerance=1e-4, doc="Products of two batches of matrices.")

op("_unmerge_batch(self, size: int)", kernel=composite("formulas.unmerge_batch"),
   doc="The first dimension split into `size` and the rest.")

op("dot(self, tensor)", out="exact", kernel=call("products.dot_plain"), vjp={"self": "grad * tensor.conj()", "tensor": "grad * self.conj()"},
   jvp="each", vmap="sum(self * tensor, 1, False)", samples=shapes(((4,), (4,)), ((0,), (0,))), dtypes="ihfc",
   reference="np.dot(self, tensor)", tolerance=1e-4, doc="Scalar product of two vectors (nothing is conjugated).")

op("mv(self, vec)", out="exact", kernel=call("products.mv_plain"), vjp={"self": "_outer(grad, vec.conj())", "vec": "mv(self.t().conj(), grad)"},
   jvp="each", vmap={"self": "matmul(self, vec)", "vec": "mm(vec, self.t())", "self,vec": "squeeze(bmm(self, unsqueeze(vec, 2)), 2)"},
   samples=shapes(((3, 4), (4,)), ((0, 3), (3,)), ((2, 0), (0,))), dtypes="ihfc", reference="self @ vec", tolerance=1e-4,
   doc="Matrix times vector.")

op("_outer(self, vec)", kernel=composite("unsqueeze(self, -1) * vec"), doc="Outer product of two vectors.")

op("matmul(self, other)", kernel=composite("formulas.matmul"), out="exact", dunder="matmul",
   samples=shapes(((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((3,), (3, 2)), ((2, 3, 4), (4, 2)),
                  ((2, 1, 3, 4), (5, 4, 2)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3))),
   dtypes="ihfc", reference="np.matmul(self, other)", tolerance=1e-4, doc="Matrix product with broadcasting batches, as ``@``.")

op("addmm(self, mat1, mat2, *, beta: Scalar = 1, alpha: Scalar = 1)", out="exact", kernel=call("products.addmm_plain"), inplace=True,
   vjp={"self": "grad * beta.conj()", "mat1": "mm(grad, mat2.t().conj()) * alpha.conj()",
        "mat2": "mm(mat1.t().conj(), grad) * alpha.conj()"},
   jvp={"self": "self_t * beta", "mat1": "mm(mat1_t, mat2) * alpha", "mat2": "mm(mat1, mat2_t) * alpha"},
   vmap="_batched_addmm(self, mat1, mat2, beta, alpha)",
   samples=[*shapes(((3, 2), (3, 4), (4, 2)), ((2,), (3, 4), (4, 2)), ((), (2, 3), (3, 2))),
            sample((arg((3, 2)), arg((3, 4)), arg((4, 2))), {"beta": 0.5, "alpha": -2.0})],
   checks="factors", dtypes="ihfc", reference="beta * self + alpha * (mat1 @ mat2)", tolerance=1e-4, doc="``beta * self + alpha * (mat1 @ mat2)``.")

op("_batched_addmm(self, mat1, mat2, beta: Scalar, alpha: Scalar)", kernel=composite("formulas.batched_addmm"),
   doc="addmm of batches.")

op("linear(input, weight, bias: Tensor? = None)", method=False, kernel=call("products.linear_plain"),
   vjp={"input": "matmul(grad, weight.conj())", "weight": "_linear_weight(grad, input)", "bias": "_sum_rows(grad)"},
   jvp={"input": "linear(input_t, weight)", "weight": "linear(input, weight_t)", "bias": "bias_t.expand(result.shape)"},
   vmap={"input": "linear(input, weight, bias)",
         "input,weight,bias": "_batched_linear(input, weight, bias)"},
   samples=shapes(((5, 4), (3, 4), (3,)), ((4,), (3, 4), (3,)), ((2, 5, 4), (3, 4)), ((0, 4), (3, 4), (3,)), ((5, 4), (1, 4))),
   dtypes="ihfc", reference="input @ weight.T + (0 if bias is None else bias)", tolerance=1e-4,
   doc="Affine map ``input @ weight.T + bias`` of the last dimension.")

op("_linear_weight(grad_output, input)",
   kernel=composite("mm(flatten_rows(grad_output).t(), flatten_rows(input).conj())"),
   doc="Gradient of linear with respect to its weight.")

op("flatten_rows(self)", function=False, method=False, kernel=composite("formulas.flatten_rows"), samples=shapes(((2, 3, 4),), ((4,),)),
   reference="self.reshape(-1, self.shape[-1])", doc="All dimensions but the last joined.")

op("_sum_rows(self)", kernel=composite("sum(flatten_rows(self), 0, False)"), doc="Sum over all dimensions but the last.")

op("_batched_linear(input, weight, bias: Tensor?)", kernel=composite("formulas.batched_linear"),
   doc="linear with one weight per example.")

# --- eigenvectors -----------------------------------------------------------------------------

op("_eigh_backward(grad_values: Tensor?, grad_vectors: Tensor?, values, vectors)", kernel=composite("derivatives.eigh_backward"),
   doc="Gradient of a Hermitian matrix from those of its eigenvalues and eigenvectors, None where there is none.")

op("_eigenvalues_moved(moved, vectors)", kernel=composite("derivatives.eigenvalues_moved"), doc="Tangent of the eigenvalues.")

op("_eigenvectors_moved(moved, values, vectors)", kernel=composite("derivatives.eigenvectors_moved"), doc="Tangent of the eigenvectors.")
