"""Print the lines of stubtest's allowlist for methods that tensors have not.

Asked for, they say what to use, so the class has something by these names and the stub has not.
"""

from autograd_cy._C.tensor import Tensor
from autograd_cy._lazy.methods import Absent

for name, value in vars(Tensor).items():
    if isinstance(value, Absent):
        print(rf"autograd_cy\._C\.tensor\.Tensor\.{name}")
