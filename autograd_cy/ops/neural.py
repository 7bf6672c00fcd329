"""What layers of networks compute: affine maps, dropout, normalised batches."""

from autograd_cy.ops._schema import (
    arg,
    by_test,
    call,
    composite,
    error,
    host,
    loop,
    nondiff,
    op,
    randomly,
    sample,
    shapes,
)

HERE = "tests/ops/test_interpreted.py::"

# --- affine maps -------------------------------------------------------------------------------

op("linear(input, weight, bias: Tensor? = None)", flops="2 * elements(input) * weight[0]", method=False, kernel=call("products.linear", shape="rules_products.linear(input, weight, bias)"),
   vjp={"input": "matmul(grad, weight.conj())", "weight": "_linear_weight(grad, input)", "bias": "_sum_rows(grad)"},
   jvp={"input": "linear(input_t, weight)", "weight": "linear(input, weight_t)", "bias": "bias_t.expand(result.shape)"},
   vmap={"input": "linear(input, weight, bias)",
         "input,weight,bias": "_batched_linear(input, weight, bias)"},
   samples=shapes(((5, 4), (3, 4), (3,)), ((4,), (3, 4), (3,)), ((2, 5, 4), (3, 4)), ((0, 4), (3, 4), (3,)), ((5, 4), (1, 4))),
   dtypes="ihfc", reference="input @ weight.T + (0 if bias is None else bias)", tolerance=1e-4,
   doc="Affine map ``input @ weight.T + bias`` of the last dimension.",
   example=">>> ag.nn.functional.linear(ag.tensor([1.0, 2.0]), ag.tensor([[3.0, 4.0]]), ag.tensor([0.5]))\ntensor([11.5000])",
   params={"input": "Vectors in the last dimension.", "weight": "One row for each element of the result."})

op("_linear_weight(grad_output, input)",
   kernel=composite("mm(flatten_rows(grad_output).t(), flatten_rows(input).conj())"),
   doc="Gradient of linear with respect to its weight.")

op("flatten_rows(self)", event="autograd_cy::flatten_rows", function=False, method=False, kernel=composite("neural.flatten_rows"), samples=shapes(((2, 3, 4),), ((4,),)),
   reference="self.reshape(-1, self.shape[-1])", doc="All dimensions but the last joined.")

op("_sum_rows(self)", kernel=composite("sum(flatten_rows(self), 0, False)"), doc="Sum over all dimensions but the last.")

op("_batched_linear(input, weight, bias: Tensor?)", kernel=composite("neural.batched_linear"),
   doc="linear with one weight per example.")

# --- dropout -----------------------------------------------------------------------------------

op("_dropout_mask(self, keep: float)", kernel=call("random_forms.dropout_mask", anywhere=True), shown_as="dropout", out=False, vjp=nondiff("the mask is random"),
   vmap=randomly("one mask for all examples, or one each"), doc="A random 0-1 mask divided by the chance to keep an element.")

op("dropout(self, p: float = 0.5, train: bool = True)", method=False, checks="probability", inplace=True,
   kernel=composite("self * _dropout_mask(self, 1.0 - p) if train and p > 0.0 else self"),
   samples=[sample((arg((3, 4)), 0.5, False)), sample((arg((3, 4)), 0.0, True))], reference="self",
   doc="Elements zeroed with probability `p`, the others scaled by ``1 / (1 - p)``; nothing in evaluation.",
   example=">>> ag.dropout(ag.tensor([1.0, 2.0]), 0.5, train=False)\ntensor([1., 2.])",
   raises={"ValueError": "`p` is no probability."})

# --- batch normalisation -----------------------------------------------------------------------

op("batch_norm(input, running_mean: Tensor?, running_var: Tensor?, weight: Tensor? = None, bias: Tensor? = None, training: bool = False,"
   " momentum: float = 0.1, eps: float = 1e-05)", namespace="nn.functional", tier="interpreted", kernel=composite("neural.batch_norm"),
   samples=[sample((arg((4, 3)), None, None), {"training": True}), sample((arg((4, 3, 2)), None, None, arg((3,)), arg((3,)), True))],
   dtypes="f", reference=by_test(HERE + "test_batch_norm"),
   errors=(error(sample((arg((4, 3)), None, None)), RuntimeError, "running_mean"),),
   doc="Elements of each channel (the second dimension) with mean 0 and variance 1, times `weight`, plus `bias`.\nWith `training`, mean "
       "and variance are those of the batch, and the running ones move towards them by `momentum`, in place.",
   example=">>> x = ag.tensor([[1.0], [3.0]])\n>>> ag.nn.functional.batch_norm(x, None, None, training=True)\ntensor([[-1.0000],\n        [ 1.0000]])")

op("_batch_norm(input, weight: Tensor?, bias: Tensor?, running_mean: Tensor?, running_var: Tensor?, training: bool, momentum: float, eps: float)"
   " -> (result, mean, spread)", tier="interpreted", shown_as="nn.functional.batch_norm", kernel=host("neural.batch_norm", ("same", "same", "same")),
   mutates=("running_mean", "running_var"), nondiff_outputs=("mean", "spread"), named=False, out=False,
   vjp={("input", "weight", "bias"): "_batch_norm_backward(grad_result, input, weight, mean, spread, training, eps, needed)"},
   jvp={"result": {"input": "_batch_norm_moved(input_t, input, weight, mean, spread, training, eps)",
                   "weight": "_per_channel(weight_t, input) * _batch_norm_scaled(input, mean, spread, training, eps)",
                   "bias": "_per_channel(bias_t, input).expand(input.shape)"}},
   vmap=loop("each example has statistics of its own"), dtypes="f", node="NativeBatchNormBackward0",
   doc="batch_norm, with the mean and the inverse of the standard deviation that it used.")

op("_batch_norm_backward(grad, input, weight: Tensor?, mean, spread, training: bool, eps: float, needed: object) -> Tensor[]", tier="interpreted",
   kernel=composite("neural.batch_norm_backward"), doc="Gradients of input, weight and bias, as far as they are needed.")

op("_batch_norm_moved(moved, input, weight: Tensor?, mean, spread, training: bool, eps: float)", tier="interpreted",
   kernel=composite("neural.batch_norm_moved"), doc="Tangent of batch_norm by its input.")

op("_batch_norm_scaled(input, mean, spread, training: bool, eps: float)", tier="interpreted", kernel=composite("neural.batch_norm_scaled"),
   doc="batch_norm without weight and bias.")

op("_per_channel(values, input)", tier="interpreted", kernel=composite("neural.per_channel"), doc="Shaped to broadcast along the second dimension.")
