"""Interpolation, and elements that change places: of pixels, of channels, of what pooling has chosen."""

from autograd_cy.ops._schema import by_test, call, composite, loop, nondiff, one, op

LOADED = "at first use"
HERE = "tests/ops/test_resampling.py::"
_NODES = {f"Upsample{name}{n}DBackward0": f"mode == {mode} and len(size) == {n}"
          for mode, names in ((0, ("Nearest",) * 3), (1, ("NearestExact",) * 3), (2, ("Linear", "Bilinear", "Trilinear")), (3, ("", "Bicubic", "")))
          for n, name in enumerate(names, 1) if name}
_SCALES = "scale_d: float, scale_h: float, scale_w: float, mode: int, align: bool"
_GIVEN = "scale_d, scale_h, scale_w, mode, align"

# --- interpolation -----------------------------------------------------------------------------

op(f"_resample(self, size: sizes, {_SCALES})", out=False, kernel=call("resampling.resample", shape="rules_pooling.adaptive(self, size)", follows={"result": "self"}, laid=True), node="UpsampleBackward0", variants=_NODES,
   shows={"output_size": "size", "scales": "scale_w or None", "scales_d": "scale_d or None", "scales_h": "scale_h or None", "scales_w": "scale_w or None",
          "align_corners": "align"},
   vjp={"self": f"_resample_backward(grad, self.shape, size, {_GIVEN})"}, jvp="linear", vmap=f"_resample(self, size, {_GIVEN})", dtypes="ihf",
   samples=[one((2, 5), (7,), 0.0, 0.0, 0.0, 0, False), one((2, 3, 4), (5, 3), 0.0, 0.0, 0.0, 1, False), one((2, 4), (7,), 0.0, 0.0, 1.8, 2, False),
            one((2, 3, 4), (5, 6), 0.0, 0.0, 0.0, 2, True), one((1, 2, 3, 4), (3, 2, 6), 0.0, 0.0, 0.0, 2, False), one((2, 3, 4), (5, 2), 0.0, 0.0, 0.0, 3, False)],
   reference=by_test(HERE + "test_against_torch"), doc="Interpolation of the last dimensions: 0 nearest, 1 nearest-exact, 2 linear, 3 cubic.")

op(f"_resample_backward(grad_output, size: sizes, to: sizes, {_SCALES})", out=False, kernel=call("resampling.resample_backward", shape="rules_pooling.sized(grad_output, size)", follows={"result": "grad_output"}, laid=True),
   vjp={"grad_output": f"_resample(grad, to, {_GIVEN})"}, jvp="linear",
   vmap=f"_resample_backward(grad_output, (B,) + size, to, {_GIVEN})", dtypes="hf", doc="Gradient of interpolation.")

op(f"_resample_form(self, size: sizes, {_SCALES})", shown_as="interpolate", event="autograd_cy::resample_form", kernel=composite("resampling.resample_form"), doc="Interpolation, after its checks.")

# --- filters along a dimension -----------------------------------------------------------------

op("_filter(self, bounds, weight, behind: int)", out=False, kernel=call("filtering.filtered", shape="rules_filtering.filtered(self, bounds, weight, behind)"),
   vjp={"self": "_filter_backward(grad, bounds, weight, behind, self.shape[self.ndim - 1 - behind])"}, jvp={"self": "_filter(self_t, bounds, weight, behind)"},
   vmap={"self": "_filter(self, bounds, weight, behind)", "self,bounds,weight": loop("filters of each example")}, dtypes="f",
   doc="Sums of neighbours along the dimension with `behind` others behind it: of elements bounds[i, 0] to bounds[i, 1], times weight[i].")

op("_filter_backward(grad_output, bounds, weight, behind: int, size: int)", out=False,
   kernel=call("filtering.filtered_backward", shape="rules_filtering.filtered_backward(grad_output, bounds, weight, behind, size)"),
   vjp={"grad_output": "_filter(grad, bounds, weight, behind)"}, jvp={"grad_output": "_filter_backward(grad_output_t, bounds, weight, behind, size)"},
   vmap={"grad_output": "_filter_backward(grad_output, bounds, weight, behind, size)", "grad_output,bounds,weight": loop("filters of each example")}, dtypes="f",
   doc="Gradient of _filter.")

op("_filter_bytes(self, bounds, weight, behind: int, bits: int)", out=False, kernel=call("filtering.filtered_bytes", shape="rules_filtering.filtered(self, bounds, weight, behind)"),
   vjp=nondiff("of whole numbers"), vmap={"self": "_filter_bytes(self, bounds, weight, behind, bits)", "self,bounds,weight": loop("filters of each example")},
   doc="_filter of uint8 with whole weights, which are 2 ** bits times as large.")

# --- elements in another order -----------------------------------------------------------------

op("pixel_shuffle(input, upscale_factor: int)", method=False, also=("nn.functional",), kernel=composite("resampling.pixel_shuffle"), samples=[one((8, 2, 3), 2), one((2, 4, 1, 2), 2), one((2, 3, 4), 1)],
   reference=by_test(HERE + "test_pixels_are_shuffled"), params={"input": "Images: channels, rows and columns in the last three dimensions.", "upscale_factor": "How many rows and columns one becomes."},
   doc="Channels become rows and columns.", example=">>> ag.pixel_shuffle(ag.tensor([[[1]], [[2]], [[3]], [[4]]]), 2)\ntensor([[[1, 2],\n         [3, 4]]])",
   raises={"RuntimeError": "The channels can't be divided so."})

op("pixel_unshuffle(input, downscale_factor: int)", method=False, also=("nn.functional",), kernel=composite("resampling.pixel_unshuffle"), samples=[one((2, 4, 6), 2), one((2, 1, 2, 4), 2), one((2, 3, 4), 1)],
   reference=by_test(HERE + "test_pixels_are_shuffled"), params={"input": "Images: channels, rows and columns in the last three dimensions.", "downscale_factor": "How many rows and columns become one."},
   doc="Rows and columns become channels: the opposite of pixel_shuffle.", example=">>> ag.pixel_unshuffle(ag.tensor([[[1, 2], [3, 4]]]), 2).flatten()\ntensor([1, 2, 3, 4])",
   raises={"RuntimeError": "Rows or columns can't be divided so."})

op("channel_shuffle(input, groups: int)", method=False, also=("nn.functional",), kernel=composite("resampling.channel_shuffle"), samples=[one((2, 6, 3), 2), one((1, 4, 2, 2), 4)],
   reference=by_test(HERE + "test_channels_are_shuffled"), params={"input": "Channels in the second dimension.", "groups": "How many groups the channels are in."},
   doc="The first channel of each group, then the second of each, and so on.", example=">>> ag.channel_shuffle(ag.tensor([[[1], [2], [3], [4]]]), 2).flatten()\ntensor([1, 3, 2, 4])",
   raises={"RuntimeError": "The channels can't be divided so."})

op("_unpool(self, indices, size: sizes)", shown_as="max_unpool", event="autograd_cy::unpool", kernel=composite("resampling.unpool"), doc="Zeros but for the elements at their places, which count in planes.")
