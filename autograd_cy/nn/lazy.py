"""Layers that learn the number of their inputs from the first input.

`LazyModuleMixin` is what they have in common; a layer becomes the one without Lazy with its first
call.
"""

from __future__ import annotations

from typing import Any

from autograd_cy import Tensor, int64, no_grad, tensor
from autograd_cy._environment.docstrings import described_like

from ._constructors import own_constructor
from .convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from .layer import Linear
from .normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from .parameter import (
    Buffer,
    UninitializedBuffer,
    UninitializedParameter,
    is_lazy,
)

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]


class LazyModuleMixin:
    """The part of modules that give their parameters shapes when they see their first input.

    It stands before `Module` among the bases. The class assigns `UninitializedParameter` and
    `UninitializedBuffer`, and defines ``initialize_parameters``, which gets what ``forward`` gets.
    Do a first call, on inputs like those to come, before parameters go to an optimizer.

    Attributes
    ----------
    cls_to_become : type or None
        The class of the module after its first call; None lets it remain.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.modules.lazy import LazyModuleMixin
    >>> class Scale(LazyModuleMixin, torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.UninitializedParameter()
    ...
    ...     def initialize_parameters(self, x):
    ...         self.factor.materialize(x.shape[-1:])
    ...         torch.nn.init.ones_(self.factor)
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale()(torch.ones(2, 3)).shape
    autograd_cy.Size([2, 3])
    """

    cls_to_become: type[Any] | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[misc]
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        # What has no shape is saved as it is.
        for name, param in self._parameters.items():
            if param is not None:
                plain = keep_vars or is_lazy(param)
                destination[prefix + name] = param if plain else param.detach()
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                plain = keep_vars or is_lazy(buffer)
                destination[prefix + name] = buffer if plain else buffer.detach()

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Give the shapes of a state to what has none."""
        for registry in (self._parameters, self._buffers):
            for name, member in [*registry.items()]:
                value = state_dict.get(prefix + name)
                if member is None or value is None or not is_lazy(member) or is_lazy(value):
                    continue
                with no_grad():
                    member.materialize(value.shape)
                    _keep_plain(registry, name)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give parameters and buffers their shapes and first values; every class defines it.

        Parameters
        ----------
        *args, **kwargs
            Those of the first call.

        Raises
        ------
        NotImplementedError
            If the class does not.
        """
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self: Any) -> bool:
        """Return whether a parameter or buffer of this module has no shape yet.

        Returns
        -------
        bool

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.LazyLinear(2).has_uninitialized_params()
        True
        """
        members = (*self._parameters.values(), *self._buffers.values())
        return any(map(is_lazy, members))

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        """Run before the first forward, and become an ordinary module."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in [*module._buffers]:
            _keep_plain(module._buffers, name)
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook
        del module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy "
            "forward pass to correctly initialize the modules"
        )


def _keep_plain(registry: dict[str, Any], name: str) -> None:
    """Put a plain tensor in the place of a buffer that has become one."""
    if type(registry[name]) is Buffer:
        registry[name] = registry[name].data


class LazyLinear(LazyModuleMixin, Linear):  # type: ignore[misc]
    """`Linear`, whose ``in_features`` is the last size of the first input.

    Parameters
    ----------
    out_features : int
        The last size of the output.
    bias : bool, optional
        Whether there is a bias.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.LazyLinear(3)
    >>> tuple(layer(torch.ones(2, 5)).shape)
    (2, 3)
    >>> layer
    Linear(in_features=5, out_features=3, bias=True)
    """

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_features:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:  # type: ignore[override]
        """Take the number of features of the first input.

        Parameters
        ----------
        input : Tensor
        """
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # a state was loaded before
            self.in_features = self.weight.shape[-1]


class _LazyConvMixin(LazyModuleMixin):
    """The part of convolutions that count channels."""

    def reset_parameters(self: Any) -> None:
        """Draw weight and bias anew, if they have shapes."""
        if not self.has_uninitialized_params() and self.in_channels:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels of the first input.

        Parameters
        ----------
        input : Tensor
        """
        if self.has_uninitialized_params():
            with no_grad():
                self.in_channels = self._get_in_channels(input)
                if self.in_channels % self.groups:
                    raise ValueError("in_channels must be divisible by groups")
                channels = self.in_channels, self.out_channels
                first, second = channels if self.transposed else reversed(channels)
                self.weight.materialize((first, second // self.groups, *self.kernel_size))
                if self.bias is not None:
                    self.bias.materialize((self.out_channels,))
                self.reset_parameters()
        if self.in_channels == 0:  # a state was loaded before
            rows = self.weight.shape
            self.in_channels = rows[0] if self.transposed else rows[1] * self.groups

    def _get_in_channels(self: Any, input: Tensor) -> int:
        dims = self._get_num_spatial_dims()
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return int(input.shape[-dims - 1])

    def _get_num_spatial_dims(self: Any) -> int:
        return int(self._dims)


def _put_uninitialized(layer: Any, bias: bool, device: Any, dtype: Any) -> None:
    layer.weight = UninitializedParameter(device=device, dtype=dtype)
    if bias:
        layer.bias = UninitializedParameter(device=device, dtype=dtype)


class _LazyForward(_LazyConvMixin):
    """A convolution that isn't transposed."""

    weight: Any
    bias: Any

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self.out_channels = out_channels
        _put_uninitialized(self, bias, device, dtype)


@own_constructor
class LazyConv1d(_LazyForward, Conv1d):  # type: ignore[misc]
    """`Conv1d`, whose ``in_channels`` is that of the first input.

    Parameters
    ----------
    out_channels : int
        How many channels the output has.
    kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype : optional
        As in `Conv1d`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.LazyConv1d(4, 3)
    >>> tuple(layer(torch.ones(1, 2, 5)).shape)
    (1, 4, 3)
    >>> tuple(layer.weight.shape)
    (4, 2, 3)
    """

    cls_to_become = Conv1d


@own_constructor
@described_like(
    LazyConv1d,
    {
        "Conv1d": "Conv2d",
        "(1, 2, 5)": "(1, 2, 5, 5)",
        "(1, 4, 3)": "(1, 4, 3, 3)",
        "(4, 2, 3)": "(4, 2, 3, 3)",
    },
)
class LazyConv2d(_LazyForward, Conv2d):  # type: ignore[misc]
    cls_to_become = Conv2d


@own_constructor
@described_like(
    LazyConv1d,
    {
        "Conv1d": "Conv3d",
        "(1, 2, 5)": "(1, 2, 5, 5, 5)",
        "(1, 4, 3)": "(1, 4, 3, 3, 3)",
        "(4, 2, 3)": "(4, 2, 3, 3, 3)",
    },
)
class LazyConv3d(_LazyForward, Conv3d):  # type: ignore[misc]
    cls_to_become = Conv3d


class _LazyTransposed(_LazyConvMixin):
    """A transposed convolution."""

    weight: Any
    bias: Any

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0,
            0,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            False,
            dilation,
            padding_mode,
        )
        self.out_channels = out_channels
        _put_uninitialized(self, bias, device, dtype)


@own_constructor
class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):  # type: ignore[misc]
    """`ConvTranspose1d`, whose ``in_channels`` is that of the first input.

    Parameters
    ----------
    out_channels : int
        How many channels the output has.
    kernel_size, stride, padding, output_padding, groups, bias, dilation : optional
        As in `ConvTranspose1d`, and so are `padding_mode`, `device` and `dtype`.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.LazyConvTranspose1d(4, 3)
    >>> tuple(layer(torch.ones(1, 2, 5)).shape)
    (1, 4, 7)
    >>> tuple(layer.weight.shape)
    (2, 4, 3)
    """

    cls_to_become = ConvTranspose1d


@own_constructor
@described_like(
    LazyConvTranspose1d,
    {
        "Transpose1d": "Transpose2d",
        "(1, 2, 5)": "(1, 2, 5, 5)",
        "(1, 4, 7)": "(1, 4, 7, 7)",
        "(2, 4, 3)": "(2, 4, 3, 3)",
    },
)
class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):  # type: ignore[misc]
    cls_to_become = ConvTranspose2d


@own_constructor
@described_like(
    LazyConvTranspose1d,
    {
        "Transpose1d": "Transpose3d",
        "(1, 2, 5)": "(1, 2, 5, 5, 5)",
        "(1, 4, 7)": "(1, 4, 7, 7, 7)",
        "(2, 4, 3)": "(2, 4, 3, 3, 3)",
    },
)
class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):  # type: ignore[misc]
    cls_to_become = ConvTranspose3d


class _LazyNormBase(LazyModuleMixin):
    """The part of layers with running statistics that count channels."""

    weight: Any
    bias: Any

    def __init__(
        self: Any,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            _put_uninitialized(self, bias, device, dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=int64, device=device)

    def reset_parameters(self: Any) -> None:
        """Set weights to 1, biases to 0, and begin the running statistics anew, where they are."""
        if not self.has_uninitialized_params() and self.num_features:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor) -> None:
        """Take the number of channels of the first input.

        Parameters
        ----------
        input : Tensor
        """
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for member in (*self._parameters.values(), *self._buffers.values()):
                if is_lazy(member):
                    member.materialize((self.num_features,))
            self.reset_parameters()
        if self.num_features == 0:  # a state was loaded before
            self.num_features = input.shape[1]


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):  # type: ignore[misc]
    """`BatchNorm1d`, whose ``num_features`` is the number of channels of the first input.

    Parameters
    ----------
    eps, momentum, affine, track_running_stats, device, dtype, bias : optional
        As in `BatchNorm1d`; `affine` and `track_running_stats` are True by default.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.LazyBatchNorm1d()
    >>> _ = layer(torch.ones(2, 3, 4))
    >>> layer.num_features, type(layer).__name__
    (3, 'BatchNorm1d')
    """

    cls_to_become = BatchNorm1d


@described_like(LazyBatchNorm1d, {"BatchNorm1d": "BatchNorm2d", "(2, 3, 4)": "(2, 3, 4, 4)"})
class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):  # type: ignore[misc]
    cls_to_become = BatchNorm2d


@described_like(LazyBatchNorm1d, {"BatchNorm1d": "BatchNorm3d", "(2, 3, 4)": "(2, 3, 4, 4, 4)"})
class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):  # type: ignore[misc]
    cls_to_become = BatchNorm3d


@described_like(LazyBatchNorm1d, {"BatchNorm1d": "InstanceNorm1d"})
class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):  # type: ignore[misc]
    cls_to_become = InstanceNorm1d


@described_like(LazyBatchNorm1d, {"BatchNorm1d": "InstanceNorm2d", "(2, 3, 4)": "(2, 3, 4, 4)"})
class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):  # type: ignore[misc]
    cls_to_become = InstanceNorm2d


@described_like(LazyBatchNorm1d, {"BatchNorm1d": "InstanceNorm3d", "(2, 3, 4)": "(2, 3, 4, 4, 4)"})
class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):  # type: ignore[misc]
    cls_to_become = InstanceNorm3d
