"""Attention of several heads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

from autograd_cy import Tensor, empty
from autograd_cy._lazy import attach as _attach

from . import init
from .functional._attention import Options, attend
from .layer import Linear
from .module import Module
from .parameter import Parameter

__all__ = ["MultiheadAttention", "SDPBackend", "sdpa_kernel"]

# As of a package: `nn.attention.bias` and `nn.attention.flex_attention` are found by the tables of
# moved modules.
__path__: list[str] = []


class SDPBackend(Enum):
    """Kernels of ``scaled_dot_product_attention`` that programs may ask for."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(
    backends: SDPBackend | list[SDPBackend], set_priority: bool = False
) -> Iterator[dict]:
    """Be a context in which kernels of attention are asked for; it chooses its own all the same.

    Parameters
    ----------
    backends : SDPBackend or list of SDPBackend
        The kernels.
    set_priority : bool, optional
        Whether their order counts.

    Yields
    ------
    dict
        Empty.

    Raises
    ------
    AssertionError
        If something else is given.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> from autograd_cy.nn.attention import SDPBackend, sdpa_kernel
    >>> x = torch.ones(1, 2, 4)
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     torch.nn.functional.scaled_dot_product_attention(x, x, x).shape
    autograd_cy.Size([1, 2, 4])
    """
    kernels = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(kernels, list) or not all(isinstance(one, SDPBackend) for one in kernels):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    yield {}


class NonDynamicallyQuantizableLinear(Linear):
    """The affine map at the end, under the name that it has in PyTorch's texts."""


class MultiheadAttention(Module):
    """Attention of several heads (https://arxiv.org/abs/1706.03762).

    Weights start from Xavier's uniform distribution, biases from zero.

    Parameters
    ----------
    embed_dim : int
        The length of queries and results.
    num_heads : int
        The number of heads, each of length ``embed_dim // num_heads``.
    dropout : float, optional
        The probability with which a weight is dropped in training.
    bias : bool, optional
        Whether the affine maps have a bias.
    add_bias_kv : bool, optional
        Whether there is one more key and value, which are learned.
    add_zero_attn : bool, optional
        Whether a key and a value of zeros are added.
    kdim, vdim : int, optional
        Lengths of keys and values; by default `embed_dim`.
    batch_first : bool, optional
        Whether the first dimension counts examples, not places.
    device, dtype : optional
        Of the parameters.

    Attributes
    ----------
    in_proj_weight : Parameter or None
        The weights of query, key and value, one below the other; None if their lengths differ.
    q_proj_weight, k_proj_weight, v_proj_weight : Parameter or None
        These weights if the lengths differ.
    in_proj_bias : Parameter or None
        What is added.
    bias_k, bias_v : Parameter or None
        The additional key and value.
    out_proj : Linear
        The affine map of the result.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> layer = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    >>> x = torch.ones(5, 3, 8)
    >>> y, weights = layer(x, x, x)
    >>> list(y.shape), list(weights.shape)
    ([5, 3, 8], [5, 3, 3])
    """

    __constants__: ClassVar[list[str]] = ["batch_first"]
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(*shape: int) -> Parameter:
            return Parameter(empty(*shape, device=device, dtype=dtype))

        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        else:
            self.q_proj_weight = parameter(embed_dim, embed_dim)
            self.k_proj_weight = parameter(embed_dim, self.kdim)
            self.v_proj_weight = parameter(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = parameter(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        if add_bias_kv:
            self.bias_k = parameter(1, 1, embed_dim)
            self.bias_v = parameter(1, 1, embed_dim)
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the result and its weights.

        Parameters
        ----------
        query : Tensor
            Of shape ``(L, N, E)``, ``(N, L, E)`` with `batch_first`, or ``(L, E)``.
        key, value : Tensor
            The same with ``S`` places, and of lengths `kdim` and `vdim`.
        key_padding_mask : Tensor, optional
            Of shape ``(N, S)``: truth values, which keys are hidden, or numbers to add.
        need_weights : bool, optional
            Whether weights are returned; without them it is faster.
        attn_mask : Tensor, optional
            Of shape ``(L, S)`` or ``(N * num_heads, L, S)``: truth values, which keys are
            hidden, or numbers to add.
        average_attn_weights : bool, optional
            Whether the weights that are returned are the mean over the heads.
        is_causal : bool, optional
            A hint that `attn_mask` hides all keys behind each place.

        Returns
        -------
        tuple of Tensor and (Tensor or None)
            The result, in the shape of the query, and weights of shape ``(N, L, S)``.
        """
        weight: Any = self.in_proj_weight
        if not self._qkv_same_embed_dim:
            weight = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        options = Options(
            self.embed_dim,
            self.num_heads,
            weight,
            self.in_proj_bias,
            self.out_proj.weight,
            self.out_proj.bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
            key_padding_mask,
            attn_mask,
            need_weights,
            average_attn_weights,
            is_causal,
            self.batch_first,
        )
        return attend(query, key, value, options)


if not TYPE_CHECKING:  # type checkers name what isn't there themselves
    __getattr__, __dir__ = _attach(__name__)
