"""What torch has and this package has not, and what to use instead.

A name that a record or a module comes to define is found, and its row here is without effect.
Whether a function is a method, too, is said by the dict that its row is in.
"""

from __future__ import annotations

__all__ = ["ABSENT", "WITHOUT_DEVICE"]

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

# Functions of the top level that are methods, too.
_METHODS_TOO = {
    "argwhere": "use nonzero",
    "cholesky": "use linalg.cholesky",
    "cholesky_inverse": "use linalg.inv of the matrix itself",
    "cholesky_solve": "use linalg.solve with the matrix itself",
    "corrcoef": "divide by the norm of what is left without the mean, and multiply by matmul",
    "cov": "subtract the mean, and multiply by matmul",
    "det": _DETERMINANT,
    "frexp": _ON_NUMBERS,
    "histogram": "use histc, or bincount",
    "isreal": "use x.imag == 0",
    "istft": "use fft.irfft, and nn.functional.fold",
    "logaddexp2": "use logaddexp(x * c, y * c) / c, where c is log(2)",
    "matrix_exp": _EXPONENTIAL,
    "mode": "use bincount(x).argmax()",
    "nanquantile": "use sort and lerp of x[~x.isnan()]",
    "pinverse": _PSEUDO,
    "qr": _ORTHOGONAL,
    "quantile": "use sort and lerp, kthvalue, or median",
    "slogdet": _DETERMINANT,
    "stft": "use unfold, and fft.rfft",
    "svd": "use linalg.svd",
    "triangular_solve": _ONE_SOLVER,
}

# Those that have an in-place form, besides.
_IN_PLACE_TOO = {
    "erfinv": "use scipy.special.erfinv on x.numpy()",
    "gcd": _ON_NUMBERS,
    "lcm": _ON_NUMBERS,
    "ldexp": "use x * 2.0**n",
    "mvlgamma": "add up lgamma(x - i / 2) for all i below p, and p * (p - 1) / 4 * log(pi)",
    "nextafter": _ON_NUMBERS,
    "renorm": "multiply by (maxnorm / linalg.vector_norm(x, p, dims, keepdim=True)).clamp(max=1)",
    "sinc": "use sin(pi * x) / (pi * x), which is 1 at 0",
}

# Module without the package's name, or Tensor -> name of torch's there -> the way out.
ABSENT: dict[str, dict[str, str]] = {
    "": {
        **_METHODS_TOO,
        **_IN_PLACE_TOO,
        "_dynamo": _COMPILER,
        "_inductor": _COMPILER,
        "ao": _QUANTIZED,
        "bartlett_window": "use 1 - abs(2 * arange(n) / n - 1)",
        "blackman_window": _WINDOW,
        "compile": _COMPILER,
        "cumulative_trapezoid": "cumsum of (y[1:] + y[:-1]) / 2 times the steps",
        "distributed": "use one process, or mpi4py on the arrays of tensor.numpy()",
        "distributions": "draw with autograd_cy.randn, multinomial, bernoulli and the like",
        "export": _GRAPHS,
        "futures": "use concurrent.futures",
        "fx": _GRAPHS,
        "gradient": "divide differences of slices by the steps",
        "hamming_window": _WINDOW,
        "hann_window": _WINDOW,
        "hub": "load weights with autograd_cy.load",
        "jit": _COMPILER,
        "library": "define an autograd.Function",
        "kaiser_window": "use i0(beta * sqrt(1 - (2 * arange(n) / n - 1) ** 2)) / i0(beta)",
        "lstsq": _LEAST_SQUARES,
        "masked": "use where",
        "nested": "pad, or use nn.utils.rnn.pack_sequence",
        "onnx": "there is no exporter",
        "poisson": "use numpy.random.Generator.poisson of x.numpy()",
        "quantization": _QUANTIZED,
        "sparse_coo_tensor": _DENSE,
        "sparse_csr_tensor": _DENSE,
        "trapezoid": _AREA,
        "trapz": _AREA,
        "unravel_index": "use // and % by the sizes",
        "vander": "use x[:, None] ** arange(n)",
    },
    "Tensor": {
        **_METHODS_TOO,
        **_IN_PLACE_TOO,
        **{f"{name}_": way_out for name, way_out in _IN_PLACE_TOO.items()},
        "cauchy_": "use uniform_, and tan of pi * (x - 0.5)",
        "geometric_": "use uniform_, and ceil of log(x) / log(1 - p)",
        "log_normal_": "use normal_, and exp_",
        "lu": _ONE_SOLVER,
        "lu_solve": _ONE_SOLVER,
        **dict.fromkeys(("pin_memory", "record_stream", "xpu"), _ONE_DEVICE),
        **dict.fromkeys(
            ("dequantize", "int_repr", "q_scale", "q_zero_point", "qscheme"), _QUANTIZED
        ),
        **dict.fromkeys(("coalesce", "dense_dim", "indices", "is_coalesced", "sparse_dim"), _DENSE),
        **dict.fromkeys(("sparse_mask", "to_dense", "to_sparse", "to_sparse_coo"), _DENSE),
        **dict.fromkeys(("to_sparse_csr", "values"), _DENSE),
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
    "sparse": {
        "addmm": "use addmm of dense tensors",
        "as_sparse_gradcheck": "use autograd.gradcheck",
        "check_sparse_tensor_invariants": _DENSE,
        "log_softmax": "use log_softmax of a dense tensor",
        "mm": "use mm of dense tensors",
        "sampled_addmm": "use addmm of dense tensors, and where",
        "softmax": "use softmax of a dense tensor",
        "spdiags": "fill zeros(shape).diagonal(offset)",
        "spsolve": "use linalg.solve of dense tensors",
        "sum": "use sum of a dense tensor",
        "to_sparse_semi_structured": _DENSE,
    },
    "special": {
        "bessel_j0": "use scipy.special.j0 on x.numpy()",
        "bessel_j1": "use scipy.special.j1 on x.numpy()",
        "entr": "use -xlogy(x, x)",
        "erfinv": _IN_PLACE_TOO["erfinv"],
        "multigammaln": _IN_PLACE_TOO["mvlgamma"],
        "ndtr": "use (1 + erf(x / 2**0.5)) / 2",
        "ndtri": "use scipy.special.ndtri on x.numpy()",
        "sinc": _IN_PLACE_TOO["sinc"],
        "xlog1py": "use x * log1p(y)",
    },
    "utils": {
        "benchmark": "use timeit, or autograd_cy.profiler",
        "cpp_extension": "write Cython that cimports autograd_cy._C",
        "model_zoo": "load weights with autograd_cy.load",
        "tensorboard": "give tensor.item() and tensor.numpy() to a package such as tensorboardX",
    },
}

# Modules that lack all names but those that they define -> what to do instead.
WITHOUT_DEVICE = {
    "accelerator": _ONE_DEVICE,
    "cuda": f"{_ONE_DEVICE}; leave .cuda() and device='cuda' out",
    "mps": f"{_ONE_DEVICE}; leave device='mps' out",
    "xpu": f"{_ONE_DEVICE}; leave .xpu() and device='xpu' out",
}
