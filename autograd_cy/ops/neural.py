"""What layers of networks compute: affine maps, dropout."""

from autograd_cy.ops._schema import arg, call, composite, nondiff, op, randomly, sample, shapes

LOADED = "at first use"

# --- affine maps -------------------------------------------------------------------------------

op("linear(input, weight, bias: Tensor? = None)", flops="2 * elements(input) * weight[0]", method=False, also=("nn.functional",), kernel=call("products.linear", shape="rules_products.linear(input, weight, bias)"),
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
