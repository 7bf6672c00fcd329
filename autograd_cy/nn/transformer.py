"""Transformers: layers of attention and of networks that act on each place (arXiv 1706.03762)."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, ClassVar

from autograd_cy import (
    Tensor,
    equal,
    full,
    is_autocast_enabled,
    is_grad_enabled,
    ones_like,
    triu,
)
from autograd_cy import bool as bool_
from autograd_cy._C._warned import warn as _warn

from . import functional, init
from .activation import GELU, ReLU
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .functional._attention import as_addend
from .layer import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return functional.relu if activation == "relu" else functional.gelu


def _number_of(activation: Any) -> int:
    for number, function, cls in ((1, functional.relu, ReLU), (2, functional.gelu, GELU)):
        if activation is function or isinstance(activation, cls):
            return number
    return 0


def _copies(module: Module, number: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(number)])


def _is_causal(mask: Tensor | None, said: bool | None, length: int) -> bool:
    """
    Return whether a mask hides all that is behind, as was said or as its values show: those of the
    CPU.

    The mask counts in either case. To look at that of another device would be to wait for it.
    """
    if said is not None:
        return said
    if mask is None or not mask.is_cpu or tuple(mask.shape) != (length, length):
        return False
    if mask.dtype is bool_:  # what is true is hidden
        return equal(mask, ones_like(mask).triu(1))
    if not mask.is_floating_point():
        return False
    expected = Transformer.generate_square_subsequent_mask(length, mask.device, mask.dtype)
    return mask.device == expected.device and equal(mask, expected)


class _Layer(Module):
    """The base of layers of encoders and decoders."""

    self_attn: MultiheadAttention
    linear1: Linear
    linear2: Linear
    dropout: Dropout
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout
    activation: Any

    def _make_parts(
        self,
        attentions: tuple[str, ...],
        sizes: tuple[int, int, int],
        dropout: float,
        layer_norm_eps: float,
        batch_first: bool,
        place: dict[str, Any],
    ) -> None:
        """The attentions, the network, and for each of them a norm and a dropout; in this order."""
        d_model, nhead, dim_feedforward = sizes
        for name in attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, **place
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **place)
        numbers = range(1, len(attentions) + 2)
        for k in numbers:
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=layer_norm_eps, **place))
        for k in numbers:
            setattr(self, f"dropout{k}", Dropout(dropout))

    def _attend(
        self,
        attention: MultiheadAttention,
        dropout: Module,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None,
        padding: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        result = attention(
            x,
            memory,
            memory,
            attn_mask=mask,
            key_padding_mask=padding,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return dropout(result)

    def _feed(self, x: Tensor, dropout: Module) -> Tensor:
        return dropout(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    # Programs give these blocks other contents in subclasses, by these names.

    def _sa_block(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        masks = (attn_mask, key_padding_mask, is_causal)
        return self._attend(self.self_attn, self.dropout1, x, x, *masks)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self._feed(x, self.dropout2)


class TransformerEncoderLayer(_Layer):
    """Attention to the sequence itself, then a network of two layers at each place.

    Each is added to its input; the sum is normalised, or with `norm_first` the input is.

    Parameters
    ----------
    d_model : int
        The length of what is at each place.
    nhead : int
        The number of heads.
    dim_feedforward : int, optional
        The width of the network.
    dropout : float, optional
        The probability of dropping in training.
    activation : {"relu", "gelu"} or callable, optional
        Between the layers of the network.
    layer_norm_eps : float, optional
        Added to variances.
    batch_first : bool, optional
        Whether the first dimension counts examples, not places.
    norm_first : bool, optional
        Whether inputs are normalised, not sums.
    bias : bool, optional
        Whether affine maps have a bias.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16)
    >>> list(layer(torch.ones(10, 3, 8)).shape)
    [10, 3, 8]
    """

    __constants__: ClassVar[list[str]] = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"bias": bias, "device": device, "dtype": dtype}
        sizes = d_model, nhead, dim_feedforward
        self._make_parts(("self_attn",), sizes, dropout, layer_norm_eps, batch_first, place)
        self.norm_first = norm_first
        self.activation = _activation(activation)
        # 1 and 2 for these two, by which PyTorch chooses its kernels.
        self.activation_relu_or_gelu = _number_of(self.activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence after this layer.

        Parameters
        ----------
        src : Tensor
            The sequence.
        src_mask : Tensor, optional
            Which places each one doesn't see, or numbers to add.
        src_key_padding_mask : Tensor, optional
            Which places of each example are hidden.
        is_causal : bool, optional
            A hint that `src_mask` hides all that is behind each place.

        Returns
        -------
        Tensor
        """
        x = src
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks))
        return self.norm2(x + self._ff_block(x))


class TransformerDecoderLayer(_Layer):
    """Attention to the sequence itself, then to the memory, then a network at each place.

    Parameters
    ----------
    d_model : int
        The length of what is at each place.
    nhead : int
        The number of heads.
    dim_feedforward : int, optional
        The width of the network.
    dropout : float, optional
        The probability of dropping in training.
    activation : {"relu", "gelu"} or callable, optional
        Between the layers of the network.
    layer_norm_eps : float, optional
        Added to variances.
    batch_first : bool, optional
        Whether the first dimension counts examples, not places.
    norm_first : bool, optional
        Whether inputs are normalised, not sums.
    bias : bool, optional
        Whether affine maps have a bias.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16)
    >>> list(layer(torch.ones(5, 3, 8), torch.ones(10, 3, 8)).shape)
    [5, 3, 8]
    """

    __constants__: ClassVar[list[str]] = ["norm_first"]

    multihead_attn: MultiheadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place = {"bias": bias, "device": device, "dtype": dtype}
        attentions, sizes = ("self_attn", "multihead_attn"), (d_model, nhead, dim_feedforward)
        self._make_parts(attentions, sizes, dropout, layer_norm_eps, batch_first, place)
        self.norm_first = norm_first
        self.activation = _activation(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence after this layer.

        Parameters
        ----------
        tgt : Tensor
            The sequence.
        memory : Tensor
            What the encoder made of the source.
        tgt_mask, memory_mask : Tensor, optional
            Which places of the sequence, and of the memory, each place doesn't see.
        tgt_key_padding_mask, memory_key_padding_mask : Tensor, optional
            Which places of each example are hidden.
        tgt_is_causal, memory_is_causal : bool, optional
            Hints that the masks hide all that is behind each place.

        Returns
        -------
        Tensor
        """
        x = tgt
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *other))
        return self.norm3(x + self._ff_block(x))

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        masks = (attn_mask, key_padding_mask, is_causal)
        return self._attend(self.multihead_attn, self.dropout2, x, mem, *masks)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self._feed(x, self.dropout3)


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after the other.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
        What is copied.
    num_layers : int
        The number of copies.
    norm : Module, optional
        Applied at the end.
    enable_nested_tensor : bool, optional
        Whether hidden places at the end of sequences are zero in the result, in evaluation and
        without gradients: where PyTorch nests the sequences. A warning says so if it wouldn't nest
        those of such layers.
    mask_check : bool, optional
        Kept as an attribute.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> list(torch.nn.TransformerEncoder(layer, 2)(torch.ones(3, 10, 8)).shape)
    [3, 10, 8]
    """

    __constants__: ClassVar[list[str]] = ["norm"]

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        why_not = _why_not_nested(encoder_layer) if enable_nested_tensor else None
        if why_not:
            _warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                + why_not,
            )
        self.use_nested_tensor = enable_nested_tensor and why_not is None
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Return the sequence after all layers.

        Parameters
        ----------
        src : Tensor
            The sequence.
        mask : Tensor, optional
            Which places each one doesn't see, or numbers to add.
        src_key_padding_mask : Tensor, optional
            Which places of each example are hidden.
        is_causal : bool, optional
            A hint that `mask` hides all that is behind each place; None looks at its values, if
            they are on the CPU.

        Returns
        -------
        Tensor
        """
        if (
            mask is not None
            and src_key_padding_mask is not None
            and mask.dtype != src_key_padding_mask.dtype
        ):
            _warn(
                "Support for mismatched src_key_padding_mask and mask is deprecated. Use same type "
                "for both instead.",
            )
        # Layers get numbers to add: those of programs may do no more than that.
        added = as_addend(mask, "mask", src)
        padding = as_addend(src_key_padding_mask, "src_key_padding_mask", src)
        causal = _is_causal(added, is_causal, _length(src, self.layers))
        x = src
        for layer in self.layers:
            x = layer(x, src_mask=added, is_causal=causal, src_key_padding_mask=padding)
        if src_key_padding_mask is not None and self._nests(src, mask):
            hidden = src_key_padding_mask != 0
            # It does so if they are at the end of each sequence only.
            hidden = hidden & (hidden[:, 1:] | ~hidden[:, :-1]).all()
            x = x.masked_fill(hidden.unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)

    def _nests(self, src: Tensor, mask: Tensor | None) -> bool:
        """Tell whether PyTorch would leave out hidden places, and fill them with zeros."""
        if (
            not self.use_nested_tensor
            or mask is not None
            or src.dim() != 3
            or self.layers[0].training
            or is_autocast_enabled(src.device.type)
        ):
            return False
        return not is_grad_enabled() or not (
            src.requires_grad or any(p.requires_grad for p in self.layers[0].parameters())
        )


def _why_not_nested(layer: Module) -> str | None:
    """Why PyTorch would not nest the sequences that such a layer gets; None if it would."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    attention = layer.self_attn
    if not attention.batch_first:
        return (
            "encoder_layer.self_attn.batch_first was not True"
            "(use batch_first for better inference performance)"
        )
    if attention.in_proj_bias is None:
        return "encoder_layer.self_attn was passed bias=False"
    if not _number_of(layer.activation):
        return "encoder_layer.activation_relu_or_gelu was not True"
    if layer.norm1.eps != layer.norm2.eps:
        return "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"
    if attention.num_heads % 2 == 1:
        return "encoder_layer.self_attn.num_heads is odd"
    return None


def _length(x: Tensor, layers: ModuleList) -> int:
    """The number of places of a sequence."""
    attention = getattr(layers[0], "self_attn", None) if len(layers) else None
    return x.shape[1 if x.dim() == 3 and getattr(attention, "batch_first", False) else 0]


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after the other.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer
        What is copied.
    num_layers : int
        The number of copies.
    norm : Module, optional
        Applied at the end.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16)
    >>> decoder = torch.nn.TransformerDecoder(layer, 2)
    >>> list(decoder(torch.ones(5, 3, 8), torch.ones(10, 3, 8)).shape)
    [5, 3, 8]
    """

    __constants__: ClassVar[list[str]] = ["norm"]

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the sequence after all layers.

        Parameters
        ----------
        tgt : Tensor
            The sequence.
        memory : Tensor
            What the encoder made of the source.
        tgt_mask, memory_mask : Tensor, optional
            Which places of the sequence, and of the memory, each place doesn't see.
        tgt_key_padding_mask, memory_key_padding_mask : Tensor, optional
            Which places of each example are hidden.
        tgt_is_causal : bool, optional
            A hint that `tgt_mask` hides all that is behind each place; None looks at its values,
            if they are on the CPU.
        memory_is_causal : bool, optional
            The same for `memory_mask`.

        Returns
        -------
        Tensor
        """
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, self.layers))
        x = tgt
        for layer in self.layers:
            x = layer(
                x,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """An encoder and a decoder (https://arxiv.org/abs/1706.03762).

    Parameters
    ----------
    d_model : int, optional
        The length of what is at each place.
    nhead : int, optional
        The number of heads.
    num_encoder_layers, num_decoder_layers : int, optional
        The numbers of layers.
    dim_feedforward : int, optional
        The width of the networks.
    dropout : float, optional
        The probability of dropping in training.
    activation : {"relu", "gelu"} or callable, optional
        Between the layers of the networks.
    custom_encoder, custom_decoder : Module, optional
        Used in place of those made here.
    layer_norm_eps : float, optional
        Added to variances.
    batch_first : bool, optional
        Whether the first dimension counts examples, not places.
    norm_first : bool, optional
        Whether inputs are normalised, not sums.
    bias : bool, optional
        Whether affine maps have a bias.
    device, dtype : optional
        Of the parameters.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    >>> list(model(torch.ones(3, 10, 8), torch.ones(3, 5, 8)).shape)
    [3, 5, 8]
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = functional.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        options: tuple[Any, ...] = (d_model, nhead, dim_feedforward, dropout, activation)
        options += (layer_norm_eps, batch_first, norm_first, bias)
        super().__init__()
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            self.encoder = TransformerEncoder(
                TransformerEncoderLayer(*options, **place),
                num_encoder_layers,
                LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place),
            )
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            self.decoder = TransformerDecoder(
                TransformerDecoderLayer(*options, **place),
                num_decoder_layers,
                LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place),
            )
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Return the target sequence after encoder and decoder.

        Parameters
        ----------
        src, tgt : Tensor
            The sequences.
        src_mask, tgt_mask, memory_mask : Tensor, optional
            Which places each place doesn't see, or numbers to add.
        src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask : Tensor, optional
            Which places of each example are hidden.
        src_is_causal, tgt_is_causal, memory_is_causal : bool, optional
            Hints that the masks hide all that is behind each place.

        Returns
        -------
        Tensor
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Return the mask that hides all that is behind each place, as numbers to add.

        Parameters
        ----------
        sz : int
            The number of places.
        device, dtype : optional
            Of the mask.

        Returns
        -------
        Tensor
            Of shape ``(sz, sz)``.

        Examples
        --------
        >>> import autograd_cy as torch
        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return triu(full((sz, sz), -math.inf, device=device, dtype=dtype), diagonal=1)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
