"""What programs for torch ask for and this package does not have, and what to use instead.

Modules ask here when a name isn't found, so nothing of this is read by a program that runs.
"""

from __future__ import annotations

from typing import Any

__all__ = ["no_attribute", "no_method", "no_module"]

_COMPILER = "run the function as it is"
_ONE_DEVICE = "tensors are on the CPU"
_GRAPHS = "there is no graph of the program; run it as it is"
_LAZY = "give the number of inputs, and use the module without Lazy"
_DENSE = "there are dense tensors only"
_WINDOW = "compute it from cos(arange(n) * (2 * pi / n))"
_AREA = "add up (y[1:] + y[:-1]) / 2 times the steps"
_LEAST_SQUARES = "use linalg.solve(A.mT @ A, A.mT @ b)"
_ORTHOGONAL = "use linalg.svd, whose U is orthogonal, too"
_ONE_SOLVER = "use linalg.solve"
_DETERMINANT = "where it is positive, use logdet(A).exp()"
_EIGEN = "of a symmetric matrix use linalg.eigh"
_PSEUDO = "use linalg.svd, or linalg.solve(A.mT @ A, A.mT)"
_EXPONENTIAL = "of a symmetric matrix use linalg.eigh: V @ diag(exp(L)) @ V.T"
_RANK = "count the linalg.svdvals above a tolerance"
_DIMENSIONS = "transform one dimension after the other, by the function without the last letter"

_QUANTIZED = "there are no quantized tensors"
_ON_NUMBERS = "use the function of numpy on x.numpy()"

# Functions of each element, at the top level and methods.
_OF_ELEMENTS = {
    "erfinv": "use scipy.special.erfinv on x.numpy()",
    "frexp": _ON_NUMBERS,
    "gcd": _ON_NUMBERS,
    "isreal": "use x.imag == 0",
    "lcm": _ON_NUMBERS,
    "ldexp": "use x * 2.0**n",
    "logaddexp2": "use logaddexp(x * c, y * c) / c, where c is log(2)",
    "mvlgamma": "add up lgamma(x - i / 2) for all i below p, and p * (p - 1) / 4 * log(pi)",
    "nextafter": _ON_NUMBERS,
    "renorm": "multiply by (maxnorm / linalg.vector_norm(x, p, dims, keepdim=True)).clamp(max=1)",
    "sinc": "use sin(pi * x) / (pi * x), which is 1 at 0",
}

# Module without the package's name -> name of torch's there -> the way out.
_ABSENT: dict[str, dict[str, str]] = {
    "": {
        **_OF_ELEMENTS,
        "_dynamo": _COMPILER,
        "_inductor": _COMPILER,
        "ao": _QUANTIZED,
        "argwhere": "use nonzero",
        "bartlett_window": "use 1 - abs(2 * arange(n) / n - 1)",
        "blackman_window": _WINDOW,
        "cholesky": "use linalg.cholesky",
        "cholesky_inverse": "use linalg.inv of the matrix itself",
        "cholesky_solve": "use linalg.solve with the matrix itself",
        "compile": _COMPILER,
        "corrcoef": "divide by the norm of what is left without the mean, and multiply by matmul",
        "cov": "subtract the mean, and multiply by matmul",
        "cumulative_trapezoid": "cumsum of (y[1:] + y[:-1]) / 2 times the steps",
        "det": _DETERMINANT,
        "distributed": "use one process, or mpi4py on the arrays of tensor.numpy()",
        "distributions": "draw with autograd_cy.randn, multinomial, bernoulli and the like",
        "export": _GRAPHS,
        "futures": "use concurrent.futures",
        "fx": _GRAPHS,
        "gradient": "divide differences of slices by the steps",
        "hamming_window": _WINDOW,
        "hann_window": _WINDOW,
        "histogram": "use histc, or bincount",
        "hub": "load weights with autograd_cy.load",
        "istft": "use fft.irfft, and nn.functional.fold",
        "jit": _COMPILER,
        "library": "define an autograd.Function",
        "kaiser_window": "use i0(beta * sqrt(1 - (2 * arange(n) / n - 1) ** 2)) / i0(beta)",
        "lstsq": _LEAST_SQUARES,
        "masked": "use where",
        "matrix_exp": _EXPONENTIAL,
        "mode": "use bincount(x).argmax()",
        "nested": "pad, or use nn.utils.rnn.pack_sequence",
        "nanquantile": "use sort and lerp of x[~x.isnan()]",
        "onnx": "there is no exporter",
        "pinverse": _PSEUDO,
        "poisson": "use numpy.random.Generator.poisson of x.numpy()",
        "qr": _ORTHOGONAL,
        "quantile": "use sort and lerp, kthvalue, or median",
        "quantization": _QUANTIZED,
        "slogdet": _DETERMINANT,
        "sparse_coo_tensor": _DENSE,
        "sparse_csr_tensor": _DENSE,
        "stft": "use unfold, and fft.rfft",
        "svd": "use linalg.svd",
        "trapezoid": _AREA,
        "trapz": _AREA,
        "triangular_solve": _ONE_SOLVER,
        "unravel_index": "use // and % by the sizes",
        "vander": "use x[:, None] ** arange(n)",
    },
    "fft": {
        **{f"{kind}n": _DIMENSIONS for kind in ("fft", "ifft")},
        **{f"{kind}2": _DIMENSIONS for kind in ("fft", "ifft")},
        **{f"{kind}n": _DIMENSIONS for kind in ("rfft", "irfft")},
        **{f"{kind}2": _DIMENSIONS for kind in ("rfft", "irfft")},
        "fftshift": "use roll by half of the size",
        "hfft": "use irfft of x.conj(), times n",
        "ifftshift": "use roll by minus half of the size",
    },
    "linalg": {
        "cholesky_ex": "use linalg.cholesky, and catch LinAlgError",
        "cond": "divide the largest of linalg.svdvals by the least",
        "det": _DETERMINANT,
        "eig": _EIGEN,
        "eigvals": _EIGEN,
        "lstsq": _LEAST_SQUARES,
        "lu": _ONE_SOLVER,
        "lu_factor": _ONE_SOLVER,
        "lu_solve": _ONE_SOLVER,
        "matrix_exp": _EXPONENTIAL,
        "matrix_rank": _RANK,
        "pinv": _PSEUDO,
        "qr": _ORTHOGONAL,
        "slogdet": _DETERMINANT,
        "solve_triangular": _ONE_SOLVER,
    },
    "nn": {
        "DataParallel": "use the module itself; kernels use all threads",
        "parallel": "use one process, or mpi4py on the arrays of tensor.numpy()",
        **{
            f"Lazy{kind}": _LAZY
            for kind in (
                "Linear",
                *(
                    f"{layer}{dims}d"
                    for layer in ("Conv", "ConvTranspose", "BatchNorm", "InstanceNorm")
                    for dims in (1, 2, 3)
                ),
            )
        },
    },
    "nn.functional": {
        "conv_tbc": "use conv1d of x.permute(1, 2, 0)",
        "fractional_max_pool2d": "use adaptive_max_pool2d, whose windows are not random",
        "fractional_max_pool2d_with_indices": "use adaptive_max_pool2d with return_indices",
        "fractional_max_pool3d": "use adaptive_max_pool3d, whose windows are not random",
        "fractional_max_pool3d_with_indices": "use adaptive_max_pool3d with return_indices",
        "native_channel_shuffle": "use channel_shuffle",
    },
    "optim": {
        "SparseAdam": "gradients are dense; use optim.Adam",
    },
    "special": {
        "bessel_j0": "use scipy.special.j0 on x.numpy()",
        "bessel_j1": "use scipy.special.j1 on x.numpy()",
        "entr": "use -xlogy(x, x)",
        "erfinv": _OF_ELEMENTS["erfinv"],
        "multigammaln": _OF_ELEMENTS["mvlgamma"],
        "ndtr": "use (1 + erf(x / 2**0.5)) / 2",
        "ndtri": "use scipy.special.ndtri on x.numpy()",
        "sinc": _OF_ELEMENTS["sinc"],
        "xlog1py": "use x * log1p(y)",
    },
    "utils": {
        "benchmark": "use timeit, or autograd_cy.profiler",
        "cpp_extension": "write Cython that cimports autograd_cy._C",
        "model_zoo": "load weights with autograd_cy.load",
        "tensorboard": "give tensor.item() and tensor.numpy() to a package such as tensorboardX",
    },
}

# What only methods have; the others are those of the top level.
_METHODS = {
    "cauchy_": "use uniform_, and tan of pi * (x - 0.5)",
    "geometric_": "use uniform_, and ceil of log(x) / log(1 - p)",
    "log_normal_": "use normal_, and exp_",
    "lu": _ONE_SOLVER,
    "lu_solve": _ONE_SOLVER,
    **dict.fromkeys(("pin_memory", "record_stream", "xpu"), _ONE_DEVICE),
    **dict.fromkeys(("dequantize", "int_repr", "q_scale", "q_zero_point", "qscheme"), _QUANTIZED),
    **dict.fromkeys(("coalesce", "dense_dim", "indices", "is_coalesced", "sparse_dim"), _DENSE),
    **dict.fromkeys(("sparse_mask", "to_dense", "to_sparse", "to_sparse_coo"), _DENSE),
    **dict.fromkeys(("to_sparse_csr", "values"), _DENSE),
}


def no_attribute(module: str, name: str) -> AttributeError:
    """
    The error of a module without this name; it says what to do where torch has it.

    Examples
    --------
    >>> print(no_attribute("autograd_cy", "onnx"))
    module 'autograd_cy' has no attribute 'onnx': it has no counterpart of torch.onnx (there ...
    """
    hint = _counterpart(module, name)
    return AttributeError(f"module {module!r} has no attribute {name!r}{hint}")


def no_module(path: str) -> ModuleNotFoundError | None:
    """
    The error of an import of what torch has by this name, or None where nothing is known of it.

    It has no ``name``: importlib drops errors of ``from package import name`` that carry it.

    Examples
    --------
    >>> print(no_module("autograd_cy.onnx"))
    cannot import autograd_cy.onnx: it has no counterpart of torch.onnx (there is no exporter)
    >>> no_module("autograd_cy.nothing")
    """
    hint = _counterpart(*path.rpartition(".")[::2])
    return ModuleNotFoundError(f"cannot import {path}{hint}") if hint else None


def _counterpart(module: str, name: str) -> str:
    """What an error adds where torch's module has this name: the way out."""
    inner = module.partition(".")[2]
    way_out = _ABSENT.get(inner, {}).get(name)
    theirs = ".".join(filter(None, ("torch", inner, name)))
    return f": it has no counterpart of {theirs} ({way_out})" if way_out else ""


def no_method(tensor: Any, owner: type, name: str) -> AttributeError:
    """
    The error of a tensor, or of its class, without this name, which torch's tensors have.

    Examples
    --------
    >>> import autograd_cy as torch
    >>> print(no_method(torch.ones(2), torch.Tensor, "lu"))
    'autograd_cy.Tensor' object has no attribute 'lu': it has no counterpart of torch.Tensor.lu ...
    """
    kind = "autograd_cy.Tensor" if owner.__name__ == "Tensor" else owner.__name__
    which = f"type object {kind!r}" if tensor is None else f"{kind!r} object"
    plain = name.rstrip("_")  # "add_" is told what "add" is
    way_out = _METHODS.get(name) or _ABSENT[""][plain]
    return AttributeError(
        f"{which} has no attribute {name!r}: it has no counterpart of torch.Tensor.{name} "
        f"({way_out})",
        name=name,
        obj=owner if tensor is None else tensor,
    )
