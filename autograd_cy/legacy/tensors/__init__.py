"""
Tensors of the Variable era: classes by dtype, nothing broadcast, reductions that keep dimensions.

``classes.py`` puts the classes together of the other files' parts; ``wrapping.py`` has the way from
core tensors and back.
"""

from .classes import TYPES, EraTensor
from .wrapping import CLASSES, core, era, number_in, typename, wrap

__all__ = ["CLASSES", "TYPES", "EraTensor", "core", "era", "number_in", "typename", "wrap"]
