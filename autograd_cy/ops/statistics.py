"""Smallest and largest elements at once, histograms, numbers in polar form, normalised batches."""

from autograd_cy.ops._schema import arg, by_test, composite, error, host, loop, nondiff, op, sample

HERE = "tests/ops/test_interpreted.py::"

op("aminmax(self, *, dim: dim? = None, keepdim: bool = False) -> (min, max)", tier="interpreted", checks="not_empty",
   kernel=host("(np.min(self, dim, keepdims=keepdim), np.max(self, dim, keepdims=keepdim))", ("same", "same")),
   vjp={"self": "_aminmax_backward(given_min, given_max, self, min, max, dim, keepdim)"},
   jvp={"min": {"self": "_aminmax_moved(self_t, self, min, dim, keepdim)"}, "max": {"self": "_aminmax_moved(self_t, self, max, dim, keepdim)"}},
   vmap=loop("without `dim` each example has its own pair"), dtypes="bihf", reference=by_test(HERE + "test_aminmax"),
   errors=(error(sample((arg((0, 2)),)), RuntimeError, "no identity"),),
   doc="The smallest and the largest element, along a dimension if `dim` is given; equal ones share the gradient.",
   example=">>> ag.aminmax(ag.tensor([3.0, 1.0, 2.0]))\naminmax(min=tensor(1.), max=tensor(3.))")

op("_aminmax_backward(gmin: Tensor?, gmax: Tensor?, self, low, high, dim: object, keepdim: bool)", tier="interpreted",
   kernel=composite("statistics.aminmax_backward"), doc="Gradient of aminmax.")

op("_aminmax_moved(moved, self, extreme, dim: object, keepdim: bool)", tier="interpreted",
   kernel=composite("statistics.aminmax_moved"), doc="Tangent of an extreme element.")

op("histc(self, bins: int = 100, min: Scalar = 0, max: Scalar = 0)", tier="interpreted", kernel=host("statistics.histc"), checks="bins", out="exact",
   vjp=nondiff("counts don't change with the elements"), vmap=loop("one histogram per example"), dtypes="if",
   samples=[sample((arg((3, 4)), 4, -2, 2)), sample((arg((5,)),), {"bins": 3})], reference=by_test(HERE + "test_histc"),
   errors=(error(sample((arg((3,)), 0)), RuntimeError, "bins must be > 0"),),
   doc="Numbers of elements in `bins` bins of equal width between `min` and `max`, or the smallest and the largest element if both are 0.",
   example=">>> ag.histc(ag.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)\ntensor([0., 2., 1., 0.])")

op("polar(abs, angle)", tier="interpreted", method=False, checks="polar", kernel=host("abs * np.exp(1j * angle)", "complex"),
   vjp={"abs": "real(grad * _unit(angle).conj())", "angle": "abs * imag(grad * _unit(angle).conj())"},
   jvp={"abs": "mul(_unit(angle), abs_t)", "angle": "result * complex(zeros_like(angle_t), angle_t)"}, vmap="elementwise",
   samples=[sample((arg((3, 4)), arg((3, 4)))), sample((arg((3, 1)), arg((4,)))), sample((arg(()), arg((2,))))], dtypes="f", reference="abs * np.exp(1j * angle)",
   doc="Complex numbers of given absolute values and angles (in radians).",
   example=">>> ag.polar(ag.tensor([2.0]), ag.tensor([0.0]))\ntensor([2.+0.j])")

op("_unit(angle)", tier="interpreted", kernel=composite("complex(cos(angle), sin(angle))"), doc="Complex numbers of absolute value 1.")

op("batch_norm(input, running_mean: Tensor?, running_var: Tensor?, weight: Tensor? = None, bias: Tensor? = None, training: bool = False,"
   " momentum: float = 0.1, eps: float = 1e-05)", namespace="nn.functional", tier="interpreted", kernel=composite("statistics.batch_norm"),
   samples=[sample((arg((4, 3)), None, None), {"training": True}), sample((arg((4, 3, 2)), None, None, arg((3,)), arg((3,)), True))],
   dtypes="f", reference=by_test(HERE + "test_batch_norm"),
   errors=(error(sample((arg((4, 3)), None, None)), RuntimeError, "running_mean"),),
   doc="Elements of each channel (the second dimension) with mean 0 and variance 1, times `weight`, plus `bias`.\nWith `training`, mean "
       "and variance are those of the batch, and the running ones move towards them by `momentum`, in place.",
   example=">>> x = ag.tensor([[1.0], [3.0]])\n>>> ag.nn.functional.batch_norm(x, None, None, training=True)\ntensor([[-1.0000],\n        [ 1.0000]])")

op("_batch_norm(input, weight: Tensor?, bias: Tensor?, running_mean: Tensor?, running_var: Tensor?, training: bool, momentum: float, eps: float)"
   " -> (result, mean, spread)", tier="interpreted", forward="nn.functional.batch_norm", kernel=host("statistics.batch_norm", ("same", "same", "same")),
   mutates=("running_mean", "running_var"), nondiff_outputs=("mean", "spread"), named=False, out=False,
   vjp={("input", "weight", "bias"): "_batch_norm_backward(grad_result, input, weight, mean, spread, training, eps, needed)"},
   jvp={"result": {"input": "_batch_norm_moved(input_t, input, weight, mean, spread, training, eps)",
                   "weight": "_per_channel(weight_t, input) * _batch_norm_scaled(input, mean, spread, training, eps)",
                   "bias": "_per_channel(bias_t, input).expand(input.shape)"}},
   vmap=loop("each example has statistics of its own"), dtypes="f", node="NativeBatchNormBackward0",
   doc="batch_norm, with the mean and the inverse of the standard deviation that it used.")

op("_batch_norm_backward(grad, input, weight: Tensor?, mean, spread, training: bool, eps: float, needed: object) -> Tensor[]", tier="interpreted",
   kernel=composite("statistics.batch_norm_backward"), doc="Gradients of input, weight and bias, as far as they are needed.")

op("_batch_norm_moved(moved, input, weight: Tensor?, mean, spread, training: bool, eps: float)", tier="interpreted",
   kernel=composite("statistics.batch_norm_moved"), doc="Tangent of batch_norm by its input.")

op("_batch_norm_scaled(input, mean, spread, training: bool, eps: float)", tier="interpreted", kernel=composite("statistics.batch_norm_scaled"),
   doc="batch_norm without weight and bias.")

op("_per_channel(values, input)", tier="interpreted", kernel=composite("statistics.per_channel"), doc="Shaped to broadcast along the second dimension.")
