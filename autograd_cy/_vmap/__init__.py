"""vmap: functions of examples, called with batches."""

from autograd_cy._vmap.mapping import map_once, vmap, vmap_passing_none

__all__ = ["map_once", "vmap", "vmap_passing_none"]
