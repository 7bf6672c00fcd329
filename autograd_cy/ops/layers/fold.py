"""Windows of images as columns, and back."""

from autograd_cy.ops.layers._schema import layer

OPTIONS = "kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1"
MORE = {
    "texts": {
        "output_size": "The size of the images.",
        "dilation": "The steps between the elements of a window.",
        "padding": "Zeros before and after each dimension.",
        "stride": "The steps from one window to the next.",
    },
    "kinds": dict.fromkeys(
        ("output_size", "kernel_size", "dilation", "padding", "stride"), "int or tuple of int"
    ),
}

layer(
    f"Fold(output_size, {OPTIONS})",
    "fold",
    "Add columns up to images: each element of a window goes where it came from.",
    ">>> torch.nn.Fold((1, 3), (1, 2))(torch.ones(1, 2, 2))\ntensor([[[[1., 2., 1.]]]])",
    gives="the images",
    takes="""\
Parameters
----------
input : Tensor
    Columns, of shape ``(N, C * elements of a window, windows)``, or without N.

Returns
-------
Tensor
    Of shape ``(N, C, *output_size)``.""",
    **MORE,
)
layer(
    f"Unfold({OPTIONS})",
    "unfold",
    "Make columns of the windows of images.",
    ">>> list(torch.nn.Unfold((2, 3))(torch.ones(1, 2, 4, 5)).shape)\n[1, 12, 9]",
    gives="the columns",
    takes="""\
Parameters
----------
input : Tensor
    Images, of shape ``(N, C, H, W)`` or ``(C, H, W)``.

Returns
-------
Tensor
    Of shape ``(N, C * elements of a window, windows)``.""",
    **MORE,
)
