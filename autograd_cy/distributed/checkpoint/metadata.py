"""The description of a checkpoint: the names, dtypes and shapes of its tensors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import autograd_cy as ag

__all__ = ["Metadata", "TensorProperties", "TensorStorageMetadata"]


@dataclass(frozen=True)
class TensorProperties:
    """The dtype of a saved tensor.

    Parameters
    ----------
    dtype : dtype

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed.checkpoint.metadata import TensorProperties
    >>> TensorProperties(ag.float32)
    TensorProperties(dtype=autograd_cy.float32)
    """

    dtype: Any


@dataclass(frozen=True)
class TensorStorageMetadata:
    """The dtype and shape of a saved tensor.

    Parameters
    ----------
    properties : TensorProperties
    size : Size
        The shape.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> metadata = checkpoint.save({"a": ag.ones(2)}, checkpoint_id="one")
    >>> metadata.state_dict_metadata["a"].properties.dtype
    autograd_cy.float32
    """

    properties: TensorProperties
    size: ag.Size


@dataclass
class Metadata:
    """
    The description of a checkpoint.

    Parameters
    ----------
    state_dict_metadata : dict
        The descriptions of tensors by name.
    world_size : int
        The number of ranks that saved it.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> from autograd_cy.distributed import checkpoint
    >>> metadata = checkpoint.save({"a": ag.ones(2)}, checkpoint_id="one")
    >>> metadata.state_dict_metadata["a"].size
    autograd_cy.Size([2])
    """

    state_dict_metadata: dict[str, TensorStorageMetadata] = field(default_factory=dict)
    world_size: int = 1
