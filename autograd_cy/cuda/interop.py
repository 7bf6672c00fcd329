"""PyCUDA's arrays and kernels beside tensors: the same memory, and the same streams.

DLPack and ``__cuda_array_interface__``, by which other libraries share memory, are methods of
tensors; `autograd_cy.from_dlpack` and `autograd_cy.as_tensor` take it from them.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from autograd_cy._C.tensor import Tensor
from autograd_cy.cuda import _core

if TYPE_CHECKING:
    from pycuda.gpuarray import GPUArray

__all__ = ["Kernel", "as_gpuarray", "kernel"]


def as_gpuarray(tensor: Tensor) -> GPUArray:
    """
    Show a tensor to PyCUDA, without a copy.

    PyCUDA works on the default stream unless it is told otherwise, so that one waits for the
    current stream. It computes in the context that it knows to be current, which
    ``import pycuda.autoprimaryctx`` sees to. The way back is ``as_tensor(array, device="cuda")``,
    which shares memory, too.

    Parameters
    ----------
    tensor : Tensor
        On a GPU, not requiring grad, of a dtype that NumPy has.

    Returns
    -------
    pycuda.gpuarray.GPUArray
        It keeps the tensor's memory.

    Raises
    ------
    AttributeError
        If the tensor is on the CPU.
    RuntimeError
        If it requires grad: use ``tensor.detach()``.
    TypeError
        If it is bfloat16.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> if ag.cuda.is_available():
    ...     import pycuda.autoprimaryctx
    ...
    ...     array = ag.cuda.as_gpuarray(ag.ones(3, device="cuda"))
    ...     array += 1
    """
    shown = tensor.__cuda_array_interface__
    from pycuda.gpuarray import GPUArray

    from autograd_cy._C import cuda_driver, cuda_exchange

    index = _core.index_of(tensor.device)
    cuda_driver.primary_context(index)  # makes it current, which GPUArray needs
    if shown["stream"] != 1:
        cuda_exchange.let_default_wait(index)
    dtype = np.dtype(shown["typestr"])
    strides = tuple(dtype.itemsize * s for s in tensor.stride())
    owner = tensor.untyped_storage()
    return GPUArray(shown["shape"], dtype, base=owner, gpudata=shown["data"][0], strides=strides)


def kernel(
    source: Any,
    name: str | None = None,
    *,
    options: Sequence[str] | None = None,
    no_extern_c: bool = False,
) -> Kernel:
    """
    Make a kernel in CUDA C, or one that PyCUDA has compiled, take tensors.

    Parameters
    ----------
    source : str or pycuda.driver.Function
        With source text, PyCUDA's ``SourceModule`` compiles it by nvcc at the first launch on each
        GPU.
    name : str, optional
        The function in the source; needed with source text.
    options : sequence of str, optional
        For nvcc; ``SourceModule`` has defaults.
    no_extern_c : bool, default False
        Whether the source says ``extern "C"`` itself.

    Returns
    -------
    Kernel
        Called with arguments, `grid` and `block`, it launches on the current stream.

    Raises
    ------
    TypeError
        If `source` is neither, or a name is missing.

    Examples
    --------
    An operation of one's own, with its gradient:

    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> scale = ag.cuda.kernel(
    ...     "__global__ void scale(float *out, const float *x, float by, int n) {"
    ...     "    int i = blockIdx.x * blockDim.x + threadIdx.x;"
    ...     "    if (i < n) out[i] = by * x[i];"
    ...     "}",
    ...     "scale",
    ... )
    >>> class Scale(ag.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, by):
    ...         ctx.by = by
    ...         x = x.contiguous()
    ...         out = ag.empty_like(x)
    ...         n = x.numel()
    ...         scale(out, x, np.float32(by), np.int32(n), grid=-(-n // 256), block=256)
    ...         return out
    ...
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         return Scale.apply(grad, ctx.by), None
    >>> if ag.cuda.is_available():
    ...     x = ag.ones(5, device="cuda", requires_grad=True)
    ...     Scale.apply(x, 3.0).sum().backward()
    """
    if isinstance(source, str):
        if name is None:
            raise TypeError("cuda.kernel: with source text, say which function of it: name='...'")
        if not isinstance(name, str):
            raise TypeError(f"cuda.kernel: name is a str, not {type(name).__name__}")
        if options is not None and (
            not isinstance(options, (list, tuple)) or not all(isinstance(x, str) for x in options)
        ):
            raise TypeError(f"cuda.kernel: options are a sequence of str, not {options!r}")
        return Kernel(None, source, name, options, no_extern_c)
    if not hasattr(source, "_launch_kernel"):
        raise TypeError(
            f"cuda.kernel: a source text or a Function of PyCUDA is needed, not "
            f"{type(source).__name__}"
        )
    return Kernel(source, None, name or "a kernel of PyCUDA", None, False)


class Kernel:
    """A kernel in CUDA C that takes tensors; `cuda.kernel` makes it."""

    def __init__(
        self,
        function: Any,
        source: str | None,
        name: str,
        options: Sequence[str] | None,
        no_extern_c: bool,
    ) -> None:
        self.name = name
        self._function = function
        self._source = source
        self._options = None if options is None else list(options)
        self._no_extern_c = no_extern_c
        self._functions: dict[int, Any] = {}  # by index of the GPU
        self._modules: list[Any] = []  # which have the code

    def __repr__(self) -> str:
        return f"<autograd_cy.cuda.Kernel {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._source is None:
            raise TypeError(
                f"cuda.kernel: {self.name}, a Function of PyCUDA, can't be pickled or copied; one "
                "made of its source can"
            )
        return (
            kernel,
            (self._source, self.name),
            {"_options": self._options, "_no_extern_c": self._no_extern_c},
        )

    def __call__(
        self,
        *arguments: Any,
        grid: int | tuple[int, ...],
        block: int | tuple[int, ...],
        shared: int = 0,
        changes: Sequence[Tensor] = (),
    ) -> None:
        """
        Launch it on the current stream.

        Parameters
        ----------
        *arguments : Tensor or numpy.generic
            In the order of the kernel's parameters: tensors for pointers, and NumPy's scalars for
            numbers, of the parameter's type. Tensors are on one GPU and contiguous.
        grid, block : int or tuple of int
            Blocks, and threads of a block, in up to three dimensions.
        shared : int, default 0
            Bytes of dynamic shared memory.
        changes : sequence of Tensor, optional
            Tensors that had values before and are changed: autograd is told, so that a graph that
            saved the old values refuses them.

        Raises
        ------
        TypeError
            An argument of another kind.
        RuntimeError
            Tensors on several devices or on the CPU, that aren't contiguous, or are lazy; no
            tensor; a geometry that the GPU refuses.
        """
        from autograd_cy._C import cuda_exchange

        sizes = _three_sizes(self.name, "grid", grid), _three_sizes(self.name, "block", block)
        shared = _number(self.name, "shared", shared)
        if not 0 <= shared < 1 << 31:
            raise RuntimeError(f"cuda.kernel: {self.name}: shared can't be {shared} bytes")
        changes = _tensors(self.name, changes)
        tensors = [x for x in arguments if isinstance(x, Tensor)]
        index = _index_of(self.name, tensors)
        packed = _packed(self.name, arguments, cuda_exchange.address)
        function = self._function or self._functions.get(index) or self._compiled(index)
        cuda_exchange.run_kernel(
            function,
            self.name,
            index,
            *sizes,
            packed,
            shared,
        )
        if changes:
            from autograd_cy.autograd.graph import increment_version

            increment_version(changes)

    def _compiled(self, index: int) -> Any:
        from pycuda.compiler import SourceModule
        from pycuda.driver import Error

        from autograd_cy._C import cuda_driver

        def module() -> Any:
            return SourceModule(self._source, options=self._options, no_extern_c=self._no_extern_c)

        try:
            loaded = cuda_driver.call_in_context(index, module)
            function = cuda_driver.call_in_context(index, loaded.get_function, self.name)
        except Error as error:
            raise RuntimeError(
                f"cuda.kernel: {self.name!r} can't be made of its source on 'cuda:{index}': {error}"
            ) from error
        self._modules.append(loaded)
        return self._functions.setdefault(index, function)


def _index_of(name: str, tensors: list[Tensor]) -> int:
    """The GPU that all tensors are on."""
    if not tensors:
        raise RuntimeError(
            f"cuda.kernel: {name} got no tensor, which would say on which GPU it runs"
        )
    places = {x.device for x in tensors}
    if len(places) > 1:
        raise RuntimeError(
            f"cuda.kernel: {name}: Expected all tensors to be on the same device, but found at "
            f"least two devices, {' and '.join(sorted(map(str, places)))}"
        )
    place = places.pop()
    if place.type != "cuda":
        raise RuntimeError(f"cuda.kernel: {name}: tensors are on '{place}'; move them to 'cuda'")
    return _core.index_of(place)


def _packed(name: str, arguments: tuple[Any, ...], address: Any) -> bytes:
    """The arguments as C lays them out, each on a multiple of its size."""
    buffer = bytearray()
    for i, x in enumerate(arguments):
        if isinstance(x, Tensor):
            if not x.is_contiguous() or x.is_conj() or x.is_neg():
                raise RuntimeError(
                    f"cuda.kernel: {name}: argument {i} of shape {tuple(x.shape)} isn't "
                    "contiguous, or is a lazy conjugate; pass x.contiguous() or x.resolve_conj()"
                )
            item = np.uint64(address(x)).tobytes()
            size = 8
        elif isinstance(x, np.generic):
            item = x.tobytes()
            size = x.dtype.alignment
        else:
            raise TypeError(
                f"cuda.kernel: {name}: argument {i} is of type {type(x).__name__}; tensors and "
                "NumPy's scalars, such as np.float32(2), are taken"
            )
        buffer += bytes(-len(buffer) % size) + item
    return bytes(buffer)


def _tensors(name: str, changes: Sequence[Tensor]) -> tuple[Tensor, ...]:
    tensors = (changes,) if isinstance(changes, Tensor) else changes
    if not isinstance(tensors, (tuple, list)) or not all(isinstance(x, Tensor) for x in tensors):
        raise TypeError(
            f"cuda.kernel: {name}: changes is a sequence of tensors, not {type(changes).__name__}"
        )
    return tuple(tensors)


def _number(name: str, what: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"cuda.kernel: {name}: {what} has integers, not {value!r}")
    return operator.index(value)


def _three_sizes(name: str, what: str, value: int | tuple[int, ...]) -> tuple[int, ...]:
    several = value if isinstance(value, (tuple, list)) else (value,)
    sizes = tuple(_number(name, what, n) for n in several)
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1 or max(sizes) >= 1 << 31:
        raise RuntimeError(
            f"cuda.kernel: {name}: {what} is one to three positive numbers, each below 2**31, not "
            f"{value}"
        )
    return sizes
