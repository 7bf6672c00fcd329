"""Layers that normalise: channels of a batch, of samples, of groups, and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograd_cy import Tensor, empty, int64, no_grad, ones, tensor, zeros, zeros_like
from autograd_cy._C._warned import warn as _warn

from . import functional, init
from ._constructors import own_constructor
from .module import Module
from .parameter import Parameter

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]


def _put(module: Module, name: str, shape: Any, wanted: bool, device: Any, dtype: Any) -> None:
    """Give a module a parameter, or the place of one."""
    if wanted:
        setattr(module, name, Parameter(empty(shape, device=device, dtype=dtype)))
    else:
        module.register_parameter(name, None)


def _reset(weight: Parameter | None, bias: Parameter | None = None) -> None:
    """Set those that there are to the map that changes nothing."""
    if weight is not None:
        init.ones_(weight)
    if bias is not None:
        init.zeros_(bias)


def _look_up(module: Module, members: Mapping[str, Any], name: str) -> Any:
    """An attribute that is usually registered, without the search for it."""
    return members[name] if name in members else getattr(module, name)


class _NormBase(Module):
    """The base of layers with running statistics."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]  # noqa: RUF012 - as in torch

    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        _put(self, "weight", num_features, affine, device, dtype)
        _put(self, "bias", num_features, affine and bias, device, dtype)
        if track_running_stats:
            self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype))
            self.register_buffer("num_batches_tracked", tensor(0, dtype=int64, device=device))
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        # States from before batches were counted lack the counter: the module keeps its own, or
        # begins to count if it has none yet.
        counter = self.num_batches_tracked
        if counter is not None and (local_metadata.get("version") or 0) < 2:
            if counter.is_meta:
                counter = tensor(0, dtype=int64, device="cpu")
            state_dict.setdefault(f"{prefix}num_batches_tracked", counter)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def reset_running_stats(self) -> None:
        """Begin anew with mean 0, variance 1 and no batch.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.BatchNorm1d(2)
        >>> _ = layer(torch.randn(4, 2))
        >>> layer.reset_running_stats()
        >>> layer.num_batches_tracked
        tensor(0)
        """
        if self.running_mean is not None:
            self.running_mean.zero_()
        if self.running_var is not None:
            self.running_var.fill_(1)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set weights to 1, biases to 0, and begin the running statistics anew.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.BatchNorm1d(2)
        >>> layer.reset_parameters()
        >>> layer.weight
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
        """
        self.reset_running_stats()
        _reset(self.weight, self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(
            f"{type(self).__name__} must define _check_input_dim(input), which refuses inputs "
            "of other dimensions"
        )

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


@own_constructor
class _BatchNorm(_NormBase):
    """Normalise channels over a batch."""

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input; in training, move the running statistics.

        Parameters
        ----------
        input : Tensor
            A batch.

        Returns
        -------
        Tensor
            Of the shape of the input.
        """
        self._check_input_dim(input)
        training, tracked = self.training, self.track_running_stats
        factor = self.momentum
        buffers, parameters = self._buffers, self._parameters
        if training and tracked:
            count = _look_up(self, buffers, "num_batches_tracked")
            if count is not None:
                count.add_(1)
                if factor is None:  # the mean over all batches
                    if count.device.type not in ("cpu", "meta"):
                        return self._averaged(input, 1.0 / count)
                    factor = 1.0 if count.is_meta else 1.0 / float(count)
        mean = _look_up(self, buffers, "running_mean")
        var = _look_up(self, buffers, "running_var")
        return functional.batch_norm(
            input,
            mean if not training or tracked else None,
            var if not training or tracked else None,
            _look_up(self, parameters, "weight"),
            _look_up(self, parameters, "bias"),
            training or (mean is None and var is None),
            0.0 if factor is None else factor,
            self.eps,
        )

    def _averaged(self, input: Tensor, share: Tensor) -> Tensor:
        """Normalise, and move running statistics by a share that only the device knows."""
        running = [t for t in (self.running_mean, self.running_var) if t is not None]
        statistics = [zeros_like(t) for t in running] if len(running) == 2 else [None, None]
        result = functional.batch_norm(
            input, statistics[0], statistics[1], self.weight, self.bias, True, 1.0, self.eps
        )
        with no_grad():
            for t, now in zip(running, statistics):
                if now is not None:
                    t.add_((now - t) * share.to(t.dtype))
        return result


class BatchNorm1d(_BatchNorm):
    r"""Normalise channels over a batch.

    The result is :math:`\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} w + b`. In training,
    mean and variance are those of the batch, and running ones move towards them, the variance
    without bias; in evaluation the running ones are taken. Source: S. Ioffe, C. Szegedy, "Batch
    normalization" (2015).

    Parameters
    ----------
    num_features : int
        How many channels there are, the second dimension of inputs ``(N, C)`` or ``(N, C, L)``.
    eps : float, optional
        What is added to variances.
    momentum : float or None, optional
        How far running statistics move with each batch; None for the mean over all batches.
    affine : bool, optional
        Whether there are a weight and a bias.
    track_running_stats : bool, optional
        Whether there are running statistics; without them those of the batch are always taken.
    device, dtype : optional
        Of parameters and running statistics.
    bias : bool, optional
        Whether there is a bias.

    Attributes
    ----------
    weight, bias : Parameter or None
        Of shape ``(C,)``, ones and zeros.
    running_mean, running_var : Tensor or None
        Of shape ``(C,)``.
    num_batches_tracked : Tensor or None
        How many batches there have been.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.BatchNorm1d(1, affine=False)
    >>> layer(torch.tensor([[1.0], [3.0]]))
    tensor([[-1.0000],
            [ 1.0000]])
    >>> layer.running_mean
    tensor([0.2000])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Normalise channels of images over a batch; see :class:`BatchNorm1d` for its parameters.

    Inputs are ``(N, C, H, W)``, in any memory format, which the result has, too.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.BatchNorm2d(3)(torch.ones(2, 3, 4, 4)).shape)
    [2, 3, 4, 4]
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Normalise channels of volumes over a batch; see :class:`BatchNorm1d` for its parameters.

    Inputs are ``(N, C, D, H, W)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.BatchNorm3d(3)(torch.ones(2, 3, 4, 4, 4)).shape)
    [2, 3, 4, 4, 4]
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class _InstanceNorm(_NormBase):
    """Normalise channels of each sample."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _get_no_batch_dim(self) -> int:
        raise NotImplementedError(
            f"{type(self).__name__} must define _get_no_batch_dim(), the dimensions of an input "
            "without a batch"
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input.

        Parameters
        ----------
        input : Tensor
            A batch, or one sample.

        Returns
        -------
        Tensor
            Of the shape of the input.
        """
        self._check_input_dim(input)
        alone = input.dim() == self._get_no_batch_dim()
        channels = input.size(0 if alone else 1)
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={int(not alone)} to match num_features "
                    f"({self.num_features}), but got: {channels}."
                )
            _warn(
                f"input's size at dim={int(not alone)} does not match num_features. You can "
                "silence this warning by not passing in num_features, which is not used because "
                "affine=False",
            )
        result = functional.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return result.squeeze(0) if alone else result


class InstanceNorm1d(_InstanceNorm):
    """Normalise channels of each sample; inputs are ``(N, C, L)`` or ``(C, L)``.

    Source: D. Ulyanov, A. Vedaldi, V. Lempitsky, "Instance normalization" (2016).

    Parameters
    ----------
    num_features : int
        How many channels there are.
    eps : float, optional
        What is added to variances.
    momentum : float, optional
        How far running statistics move.
    affine : bool, optional
        Whether there are a weight and a bias.
    track_running_stats : bool, optional
        Whether there are running statistics, which evaluation takes.
    device, dtype : optional
        Of parameters and running statistics.
    bias : bool, optional
        Whether there is a bias.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.InstanceNorm1d(1)(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """

    def _get_no_batch_dim(self) -> int:
        return 2

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class InstanceNorm2d(_InstanceNorm):
    """Normalise channels of images; see :class:`InstanceNorm1d` for its parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.InstanceNorm2d(3)(torch.rand(2, 3, 4, 4)).shape)
    [2, 3, 4, 4]
    """

    def _get_no_batch_dim(self) -> int:
        return 3

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (3, 4):
            raise ValueError(f"expected 3D or 4D input (got {input.dim()}D input)")


class InstanceNorm3d(_InstanceNorm):
    """Normalise channels of volumes; see :class:`InstanceNorm1d` for its parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.InstanceNorm3d(3)(torch.rand(2, 3, 4, 4, 4)).shape)
    [2, 3, 4, 4, 4]
    """

    def _get_no_batch_dim(self) -> int:
        return 4

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (4, 5):
            raise ValueError(f"expected 4D or 5D input (got {input.dim()}D input)")


def _sizes(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    """The sizes of a row, of which one may be given alone."""
    if isinstance(normalized_shape, Iterable):  # no number is, NumPy's included
        return tuple(normalized_shape)
    return (normalized_shape,)


class LayerNorm(Module):
    """Normalise rows, the last dimensions of each sample.

    Source: J. Ba, J. Kiros, G. Hinton, "Layer normalization" (2016).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Sizes of the last dimensions.
    eps : float, optional
        What is added to variances.
    elementwise_affine : bool, optional
        Whether there are a weight and a bias for each element of a row.
    bias : bool, optional
        Whether there is a bias.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LayerNorm(2, elementwise_affine=False)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.0000,  1.0000]])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]  # noqa: RUF012 - as in torch

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape
        _put(self, "weight", shape, elementwise_affine, device, dtype)
        _put(self, "bias", shape, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights to 1 and biases to 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalise groups of channels in each sample.

    Source: Y. Wu, K. He, "Group normalization" (2018).

    Parameters
    ----------
    num_groups : int
        How many groups the channels make.
    num_channels : int
        How many channels there are.
    eps : float, optional
        What is added to variances.
    affine : bool, optional
        Whether there are a weight and a bias for each channel.
    device, dtype : optional
        Of the parameters.
    bias : bool, optional
        Whether there is a bias.

    Raises
    ------
    ValueError
        If the channels can't be divided by the groups.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.GroupNorm(2, 4, affine=False)(torch.tensor([[1.0, 3.0, 5.0, 9.0]]))
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]  # noqa: RUF012 - as in torch

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        _put(self, "weight", num_channels, affine, device, dtype)
        _put(self, "bias", num_channels, affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights to 1 and biases to 0."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divide rows, the last dimensions of each sample, by the root of their mean square.

    Source: B. Zhang, R. Sennrich, "Root mean square layer normalization" (2019).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Sizes of the last dimensions.
    eps : float or None, optional
        What is added to mean squares; None for the distance from 1 to the next number.
    elementwise_affine : bool, optional
        Whether there is a weight for each element of a row.
    device, dtype : optional
        Of the weight.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.RMSNorm(2, elementwise_affine=False)(torch.tensor([[1.0, 7.0]]))
    tensor([[0.2000, 1.4000]])
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]  # noqa: RUF012 - as in torch

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        _put(self, "weight", self.normalized_shape, elementwise_affine, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weights to 1."""
        _reset(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Return the normalised input."""
        return functional.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the settings."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class LocalResponseNorm(Module):
    """Divide each element by what its neighbours in the channels are like.

    See :func:`autograd_cy.nn.functional.local_response_norm`.

    Parameters
    ----------
    size : int
        How many channels count.
    alpha, beta, k : float, optional
        Constants of the formula.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> torch.nn.LocalResponseNorm(1, alpha=3.0, beta=1.0)(torch.ones(1, 1, 2))
    tensor([[[0.2500, 0.2500]]])
    """

    __constants__ = ["size", "alpha", "beta", "k"]  # noqa: RUF012 - as in torch

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Return the input divided element by element."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Return the settings."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
