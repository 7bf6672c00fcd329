"""The methods of Variables by what they do; each makes a Function and calls it."""

from .arithmetic import Arithmetic
from .choosing import Choosing
from .products import Products
from .reductions import Reductions
from .shaping import Shaping

__all__ = ["Arithmetic", "Choosing", "Products", "Reductions", "Shaping"]
