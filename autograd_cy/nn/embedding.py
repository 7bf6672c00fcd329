"""Tables of vectors that are looked up by index."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_cy import Tensor, empty

from . import functional, init
from .module import Module
from .parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


def _padding_row(padding_idx: int | None, rows: int, name: str) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{name} must be within num_embeddings")
    return padding_idx + rows if padding_idx < 0 else padding_idx


class _Table(Module):
    """The base of both classes: the table, its initial values, and its ``repr``."""

    weight: Parameter
    padding_idx: int | None

    def _make(
        self, rows: int, columns: int, weight: Tensor | None, freeze: bool, device: Any, dtype: Any
    ) -> None:
        if weight is None:
            table = empty(rows, columns, device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not freeze)
            self.reset_parameters()
            return
        if list(weight.shape) != [rows, columns]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew; the row of `padding_idx` becomes zero.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Embedding(3, 2, padding_idx=0)
        >>> layer.reset_parameters()
        >>> layer.weight[0].tolist()
        [0.0, 0.0]
        """
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        # By the name that subclasses call which draw the table otherwise.
        if self.padding_idx is not None:
            self.weight.detach()[self.padding_idx].fill_(0)


class Embedding(_Table):
    """A table of vectors that are looked up by index.

    The table starts from the normal distribution, with zeros for the padding.

    Parameters
    ----------
    num_embeddings : int
        The number of rows.
    embedding_dim : int
        The length of a row.
    padding_idx : int, optional
        An index whose row gets no gradient; negative ones count from the end.
    max_norm : float, optional
        Rows that are looked up and whose norm is larger are shortened to it, in place.
    norm_type : float, optional
        The order of that norm.
    scale_grad_by_freq : bool, optional
        Whether the gradient of a row is divided by how often its index occurs.
    sparse : bool, optional
        Must be False when the layer is called: there are no sparse gradients.
    device, dtype : optional
        Of the table.

    Attributes
    ----------
    weight : Parameter
        The table, of shape ``(num_embeddings, embedding_dim)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.Embedding(10, 3)
    >>> list(layer(torch.tensor([[1, 2, 4, 5]])).shape)
    [1, 4, 3]
    """

    __constants__: ClassVar[list[str]] = [
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
    ]

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = _padding_row(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._make(num_embeddings, embedding_dim, _weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """Return the rows with the given indices.

        Parameters
        ----------
        input : Tensor
            Indices of int32 or int64, of any shape.

        Returns
        -------
        Tensor
            Of shape ``(*, embedding_dim)``.
        """
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """Return the sizes, and options that are not the default."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        if self.sparse is not False:
            text += ", sparse=True"
        return text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Embedding:
        """Return a layer with a given table.

        Parameters
        ----------
        embeddings : Tensor
            The table, of two dimensions.
        freeze : bool, optional
            Whether it is left as it is in training.
        padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse : optional
            As for the class.

        Returns
        -------
        Embedding

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> layer(torch.tensor([1]))
        tensor([[3., 4.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        return cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows of a table.

    Parameters
    ----------
    num_embeddings : int
        The number of rows.
    embedding_dim : int
        The length of a row.
    max_norm : float, optional
        Rows that are looked up and whose norm is larger are shortened to it, in place.
    norm_type : float, optional
        The order of that norm.
    scale_grad_by_freq : bool, optional
        Whether the gradient of a row is divided by how often its index occurs.
    mode : {"sum", "mean", "max"}, optional
        What becomes of the rows of a bag.
    sparse : bool, optional
        Must be False when the layer is called: there are no sparse gradients.
    include_last_offset : bool, optional
        Whether the last offset is the end of the last bag.
    padding_idx : int, optional
        An index that counts for nothing; negative ones count from the end.
    device, dtype : optional
        Of the table.

    Attributes
    ----------
    weight : Parameter
        The table, of shape ``(num_embeddings, embedding_dim)``.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.EmbeddingBag(10, 3, mode="sum")
    >>> list(layer(torch.tensor([1, 2, 4, 5, 4]), torch.tensor([0, 4])).shape)
    [2, 3]
    """

    __constants__: ClassVar[list[str]] = [
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    ]

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = _padding_row(padding_idx, num_embeddings, "padding_idx")
        self._make(num_embeddings, embedding_dim, _weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """Return what becomes of each bag.

        Parameters
        ----------
        input : Tensor
            Indices: of shape ``(bags, n)``, or of shape ``(N,)`` with `offsets`.
        offsets : Tensor, optional
            Where each bag begins.
        per_sample_weights : Tensor, optional
            A factor for each index, with ``mode="sum"`` only.

        Returns
        -------
        Tensor
            Of shape ``(bags, embedding_dim)``.
        """
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        """Return the sizes, and options that are not the default."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            text += f", max_norm={self.max_norm!r}"
        if self.norm_type != 2:
            text += f", norm_type={self.norm_type!r}"
        if self.scale_grad_by_freq is not False:
            text += f", scale_grad_by_freq={self.scale_grad_by_freq!r}"
        text += f", mode={self.mode!r}"
        if self.padding_idx is not None:
            text += f", padding_idx={self.padding_idx!r}"
        return text

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> EmbeddingBag:
        """Return a layer with a given table.

        Parameters
        ----------
        embeddings : Tensor
            The table, of two dimensions.
        freeze : bool, optional
            Whether it is left as it is in training.
        max_norm, norm_type, scale_grad_by_freq, mode, sparse : optional
            As for the class.
        include_last_offset, padding_idx : optional
            As for the class.

        Returns
        -------
        EmbeddingBag

        Examples
        --------
        >>> import autograd_cy as torch
        >>> layer = torch.nn.EmbeddingBag.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> layer(torch.tensor([[0, 1]]))
        tensor([[2., 3.]])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, columns = embeddings.shape
        layer = cls(
            num_embeddings=rows,
            embedding_dim=columns,
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        layer.weight.requires_grad = not freeze
        return layer
