"""The loss of many classes of which few are frequent, as a module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import autograd_cy as ag
from autograd_cy import Tensor
from autograd_cy._interpreted._value_checks import checked_targets

from . import functional
from .container import ModuleList, Sequential
from .layer import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The mean negative log likelihood of classes in clusters: rare ones cost less.

    A first softmax is over the frequent classes and the clusters of others; a cluster has one of
    its own, of a narrower projection of the features, computed for its targets only.

    Parameters
    ----------
    in_features : int
        Features of an input.
    n_classes : int
        Number of classes, in the order of their frequency.
    cutoffs : sequence of int
        Where clusters begin, ascending; the classes before the first are the frequent ones.
    div_value : float, optional
        By which the features of each cluster are fewer than those of the one before.
    head_bias : bool, optional
        Whether the first softmax has a bias.
    device : device, optional
        Of the parameters.
    dtype : dtype, optional
        Of the parameters.

    Attributes
    ----------
    head : Linear
        Logits of frequent classes and clusters.
    tail : ModuleList
        The projection and the logits of each cluster.

    Raises
    ------
    ValueError
        `cutoffs` is empty, not ascending, or not between 1 and ``n_classes - 1``.

    Notes
    -----
    E. Grave, A. Joulin, M. Cissé, D. Grangier, H. Jégou, "Efficient softmax approximation for
    GPUs" (2017).

    Examples
    --------
    >>> import autograd_cy as torch
    >>> loss = torch.nn.AdaptiveLogSoftmaxWithLoss(16, 100, [10, 40])
    >>> x = torch.randn(3, 16)
    >>> output, mean = loss(x, torch.tensor([2, 17, 99]))
    >>> output.shape, torch.allclose(mean, -output.mean())
    (autograd_cy.Size([3]), True)
    >>> loss.log_prob(x).exp().sum(1).allclose(torch.ones(3))
    True
    """

    in_features: int
    n_classes: int
    cutoffs: list[int]
    div_value: float
    head_bias: bool
    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(set(cutoffs))
            or not 1 <= cutoffs[0] <= cutoffs[-1] <= n_classes - 1
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
                "order, where each value is between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **factory)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, hidden, bias=False, **factory),
                    Linear(hidden, classes, bias=False, **factory),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for cluster in self.tail:
            for layer in cluster:  # type: ignore[attr-defined]
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """Return the log probability of each target, and the negative mean of them.

        Parameters
        ----------
        input_ : Tensor
            Features, shape (N, in_features), or (in_features,) for one target.
        target_ : Tensor
            Classes, of an integral dtype, shape (N,) or ().

        Returns
        -------
        (output, loss)
            Shapes (N,) or (), and ().

        Raises
        ------
        RuntimeError
            Shapes don't belong together, or a class is out of range.
        """
        one = target_.dim() == 0
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if input_.dim() != target_.dim() + 1:
            raise RuntimeError(
                f"{target_.dim()}D target tensor expects {target_.dim() + 1}D input tensors, but "
                f"found inputs with size {input_.size()}"
            )
        if not one and input_.shape[0] != target_.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        x, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if one else (input_, target_)
        if target.is_floating_point() or target.is_complex() or target.dtype is ag.bool:
            raise RuntimeError(f"target: Expected dtype int32/int64, but got {target.dtype}")
        target = checked_targets(target.long(), self.n_classes)
        first = functional.log_softmax(self.head(x), dim=1)
        place = target  # of a target in the first softmax: a class, or a cluster
        inside = None
        for i, (begin, end) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            here = (target >= begin) & (target < end)
            rows = here.nonzero().squeeze(1)
            if not rows.numel():
                continue
            place = place.masked_fill(here, self.shortlist_size + i)
            logits = self.tail[i](x.index_select(0, rows))
            which = (target.index_select(0, rows) - begin).unsqueeze(1)
            own = functional.log_softmax(logits, dim=1).gather(1, which).squeeze(1)
            inside = ag.zeros_like(first[:, 0]) if inside is None else inside
            inside = inside.index_copy(0, rows, own)
        output = first.gather(1, place.unsqueeze(1)).squeeze(1)
        output = output if inside is None else output + inside
        output = output.squeeze(0) if one else output
        return _ASMoutput(output, (-output).mean())

    def _all(self, x: Tensor, first: Tensor) -> Tensor:
        """Log probabilities of all classes from those of the first softmax."""
        first = functional.log_softmax(first, dim=1)
        parts = [first[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            own = functional.log_softmax(cluster(x), dim=1)
            parts.append(own + first[:, self.shortlist_size + i].unsqueeze(1))
        return ag.cat(parts, 1)

    def log_prob(self, input: Tensor) -> Tensor:
        """Return the log probabilities of all classes.

        Parameters
        ----------
        input : Tensor
            Shape (N, in_features).

        Returns
        -------
        Tensor
            Shape (N, n_classes).
        """
        return self._all(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """Return the most probable class of each input.

        Parameters
        ----------
        input : Tensor
            Shape (N, in_features).

        Returns
        -------
        Tensor
            int64, shape (N,).
        """
        return self.log_prob(input).argmax(1)
