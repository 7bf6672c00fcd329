"""The batch norm that normalises over the batches of several processes."""

from __future__ import annotations

import sys
from typing import Any

from autograd_cy import Tensor, no_grad

from .module import Module
from .normalization import _BatchNorm

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """Normalise channels over the batches of all processes.

    In one process, without a group or in evaluation it does what :class:`BatchNorm1d` does, for
    inputs of two or more dimensions. In training, mean and variance are those of the batches of all
    ranks, which may differ in size.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        See :class:`BatchNorm1d`.
    process_group : ProcessGroup, optional
        The ranks; by default all processes.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> list(torch.nn.SyncBatchNorm(3)(torch.ones(2, 3, 4)).shape)
    [2, 3, 4]
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised input; in training, move the running statistics.

        Parameters
        ----------
        input : Tensor
            This rank's part of the batch.

        Returns
        -------
        Tensor
            Of the shape of the input.
        """
        module = sys.modules.get("autograd_cy.distributed")  # whoever has a group has loaded it
        if not self.training or module is None or not module.is_initialized():
            return super().forward(input)
        if module.get_world_size(self.process_group) <= 1:
            return super().forward(input)
        from autograd_cy.distributed.groups import own_group
        from autograd_cy.distributed.nn import batch_norm

        self._check_input_dim(input)
        group = own_group(self.process_group, "SyncBatchNorm")
        mean, var, count = batch_norm.statistics(input, group)  # type: ignore[arg-type]
        if self.running_mean is not None:
            self._move(mean.detach(), var.detach() * (count / (count - 1)))
        return batch_norm.normalize(input, mean, var, self.weight, self.bias, self.eps)

    def _move(self, mean: Tensor, var: Tensor) -> None:
        """Move the running statistics to those of a batch."""
        factor = self.momentum
        with no_grad():
            if self.num_batches_tracked is not None:
                self.num_batches_tracked.add_(1)
                if factor is None:  # the mean over all batches
                    factor = 1.0 / self.num_batches_tracked.item()
            for running, new in ((self.running_mean, mean), (self.running_var, var)):
                if running is not None:
                    running.lerp_(new.to(running.dtype), 0.0 if factor is None else factor)

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace every batch normalisation in a module by one of this class.

        Parameters
        ----------
        module : Module
            What is searched, with all that it contains.
        process_group : ProcessGroup, optional
            Of the new layers.

        Returns
        -------
        Module
            The module itself, or its replacement.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(2, affine=False))
        >>> type(torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)[0]).__name__
        'SyncBatchNorm'
        """
        converted: Module = module
        if isinstance(module, _BatchNorm):
            new = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                with no_grad():
                    new.weight, new.bias = module.weight, module.bias
            new.running_mean = module.running_mean
            new.running_var = module.running_var
            new.num_batches_tracked = module.num_batches_tracked
            new.training = module.training
            converted = new
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted
