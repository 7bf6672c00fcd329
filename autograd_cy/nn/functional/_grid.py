"""Sampling at the points of a grid, and grids of affine maps."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_cy import Tensor
from autograd_cy._C._warned import warn as _warn
from autograd_cy._C.arguments import _check_arguments
from autograd_cy._interpreted import Family
from autograd_cy._tensors.events import seen_as
from autograd_cy._tensors.public import autocast_policy, public

__all__ = ["affine_grid", "grid_sample"]

_resampling = Family("ops_resampling")

_MODES = ("bilinear", "nearest", "bicubic")
_LARGEST = 2**31 - 1  # elements of a channel that a kernel counts
_PADDINGS = ("zeros", "border", "reflection")


def _aligned(align_corners: bool | None, op: str, position: int) -> bool:
    if align_corners is None:
        _warn(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since "
            "1.3.0. Please specify align_corners=True if the old behavior is desired. See the "
            "documentation of grid_sample for details.",
        )
        return False
    _check_arguments(op, (align_corners, "bool", "align_corners", position))
    return align_corners


@public
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Return the grid of points that affine maps take the pixels of images to.

    Parameters
    ----------
    theta : Tensor
        A batch of matrices, 2 by 3, or 3 by 4 for images of three dimensions.
    size : sequence of int
        The size of the images: batch, channels, and two or three dimensions.
    align_corners : bool, optional
        Whether -1 and 1 are the middles of the outermost pixels, not their edges.

    Returns
    -------
    Tensor
        Points (x, y) or (x, y, z) in the last dimension.

    Raises
    ------
    ValueError
        The matrices aren't such.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> theta = torch.tensor([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]])
    >>> torch.nn.functional.affine_grid(theta, (1, 1, 1, 2), align_corners=False)
    tensor([[[[0., 0.],
              [1., 0.]]]])
    """
    aligned = _aligned(align_corners, "affine_grid_generator", 3)
    rank = len(size) - 2
    if rank not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {tuple(size)}."
        )
    if not theta.is_floating_point():
        raise ValueError(
            f"Expected theta to have floating point type, but got {theta.dtype._scalar}. Convert "
            "it first."
        )
    if theta.dim() == 3 and theta.shape[0] != size[0]:
        raise RuntimeError(
            f"affine_grid: {theta.shape[0]} affine matrices for a batch of {size[0]} images"
        )
    if tuple(theta.shape[1:]) != (rank, rank + 1):
        raise ValueError(
            f"Expected a batch of {rank}D affine matrices of shape Nx{rank}x{rank + 1} for size "
            f"{tuple(size)}. Got {tuple(theta.shape)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    if aligned and min(size[2:]) == 1:
        _warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details.",
            UserWarning,
        )
    if theta.device.type != "cpu":
        from autograd_cy._interpreted._resampling_composites import affine_grid_of_operators

        seen = seen_as("aten::affine_grid_generator")(affine_grid_of_operators)
        return seen(theta, tuple(size[2:]), aligned)
    from autograd_cy._interpreted.resampling import _affine_grid

    return _affine_grid(theta, tuple(size[2:]), aligned)


@public
@autocast_policy("float32")
@seen_as("aten::grid_sampler")
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Return the images at the points of a grid.

    Parameters
    ----------
    input : Tensor
        A batch, channels, and two or three dimensions.
    grid : Tensor
        Points (x, y) or (x, y, z) in the last dimension, from -1 to 1; x belongs to the last one.
    mode : {"bilinear", "nearest", "bicubic"}, optional
        What is taken of the elements around a point.
    padding_mode : {"zeros", "border", "reflection"}, optional
        What is beyond the edges.
    align_corners : bool, optional
        Whether -1 and 1 are the middles of the outermost pixels, not their edges.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        There is no such mode.
    RuntimeError
        Input and grid don't fit.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> x = torch.tensor([[[[0.0, 1.0, 2.0]]]])
    >>> grid = torch.tensor([[[[-1.0, 0.0], [0.5, 0.0]]]])
    >>> torch.nn.functional.grid_sample(x, grid, align_corners=True)
    tensor([[[[0.0000, 1.5000]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if type(input) is not Tensor or type(grid) is not Tensor:
        _check_arguments("grid_sampler", (input, "Tensor", "input", 1), (grid, "Tensor", "grid", 2))
    if align_corners is not True and align_corners is not False:
        align_corners = _aligned(align_corners, "grid_sampler", 5)
    dtype = input.dtype
    size, points = tuple(input.shape), tuple(grid.shape)  # tuples are faster to look into
    if not dtype.is_floating_point:
        raise NotImplementedError(
            f"grid_sampler(): not implemented for tensors of dtype {dtype._scalar}; convert them"
        )
    if dtype != grid.dtype:
        raise RuntimeError(
            f"grid_sampler(): expected scalar type {dtype._scalar} but found {grid.dtype._scalar} "
            "of the grid; convert one of them by .to(dtype)"
        )
    rank = len(size) - 2
    if rank not in (2, 3) or len(points) != rank + 2:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but "
            f"got input with sizes {list(size)} and grid with sizes {list(points)}"
        )
    if size[0] != points[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {list(size)} and grid with sizes {list(points)}"
        )
    if points[-1] != rank:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {rank} in last dimension, but got grid "
            f"with sizes {list(points)}"
        )
    plane = size[2] * size[3] if rank == 2 else size[2] * size[3] * size[4]
    if plane == 0:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {list(size)}"
        )
    if mode == "bicubic" and rank == 3:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    args = input, grid, _MODES.index(mode), _PADDINGS.index(padding_mode), align_corners
    if plane > _LARGEST:
        from autograd_cy._interpreted._resampling_composites import grid_sample as by_operators

        return by_operators(*args)
    return _resampling._grid_sample(*args)
