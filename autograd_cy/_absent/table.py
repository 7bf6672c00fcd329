"""Names that torch has and this package has not, and what to use instead.

Those that can be imported all the same, and raise when used, are in ``stand_in_names.py``.

A name that a record or a module comes to define is found, and its row here is without effect.
Whether a function is a method, too, is said by the dict that its row is in.
"""

from __future__ import annotations

__all__ = ["ABSENT", "WITHOUT_DEVICE"]

_COMPILER = "run the function as it is"
_ONE_DEVICE = "tensors are on the CPU or on NVIDIA's GPUs"
_LAZY = "give the number of inputs, and use the module without Lazy"
_DENSE = "there are dense tensors only"
_WINDOW = "compute it from cos(arange(n) * (2 * pi / n))"
_AREA = "add up (y[1:] + y[:-1]) / 2 times the steps"
_LEAST_SQUARES = "of full rank use linalg.solve(A.mT @ A, A.mT @ b), else linalg.svd"
_ORTHOGONAL = "use linalg.svd, whose U is orthogonal, too"
_ONE_SOLVER = "use linalg.solve"
_DETERMINANT = (
    "where it is known to be positive use logdet(A).exp(), else numpy.linalg.slogdet of A.numpy()"
)
_EIGEN = "of a symmetric matrix use linalg.eigh"
_PSEUDO = "use linalg.svd, or of full rank linalg.solve(A.mT @ A, A.mT)"
_EXPONENTIAL = "of a symmetric matrix use linalg.eigh: V @ diag(exp(L)) @ V.T"
_RANK = "count the linalg.svdvals above a tolerance"
_EACH = "transform one dimension after the other, by fft.fft or fft.ifft"
_REAL = "use fft.rfft along the last dimension, then fft.fft along each of the others"
_BACK_TO_REAL = "use fft.ifft along all dimensions but the last, then fft.irfft along that"

_NO_SUCH_DTYPE = "convert to a dtype that is here, as by .float()"
_FUSED = "kernels run one after the other; leave the layers as they are"
_QUANTIZED = "there are no quantized tensors"
_ON_NUMBERS = "use the function of numpy on x.numpy()"

_STORAGES = (
    "BFloat16 Bool Byte Char ComplexDouble ComplexFloat Double Float Half Int Long Short"
).split()

# Functions of lists of tensors; most have an in-place form.
_ON_LISTS = (
    "abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp"
    " expm1 floor frac lerp lgamma log log10 log1p log2 maximum minimum mul neg pow reciprocal"
    " round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc"
).split()

# Functions of the top level that are methods, too.
_METHODS_TOO = {
    "argwhere": "use nonzero",
    "cholesky": "use linalg.cholesky",
    "cholesky_inverse": "use linalg.inv of the matrix itself",
    "cholesky_solve": "use linalg.solve with the matrix itself",
    "corrcoef": "use d @ d.T, where d is x - x.mean(1, keepdim=True) divided by the norms of rows",
    "cov": "use d @ d.T / (n - 1), where d is x - x.mean(1, keepdim=True)",
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
    "svd": "use linalg.svd(A, full_matrices=False), which returns V transposed (Vh)",
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
        **dict.fromkeys(
            [f"_foreach_{name}{end}" for name in _ON_LISTS for end in ("", "_") if name != "mul"]
            + [f"_foreach_{name}" for name in ("clone", "copy_", "max", "mm", "mul", "zero_")],
            "call the function of each tensor",
        ),
        **dict.fromkeys(
            ["Storage", *(f"{kind}Storage" for kind in _STORAGES)], "use UntypedStorage"
        ),
        "binomial": "use numpy.random.Generator.binomial of x.numpy()",
        "bartlett_window": "use 1 - abs(2 * arange(n) / n - 1)",
        "blackman_window": _WINDOW,
        "cumulative_trapezoid": "cumsum of (y[1:] + y[:-1]) / 2 times the steps",
        "chalf": _NO_SUCH_DTYPE,
        "complex32": _NO_SUCH_DTYPE,
        "cond": "use if of Python",
        "empty_permuted": "use empty, and permute",
        **dict.fromkeys(("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2"), _NO_SUCH_DTYPE),
        **dict.fromkeys(("float8_e5m2fnuz", "float8_e8m0fnu"), _NO_SUCH_DTYPE),
        "gradient": "divide differences of slices by the steps",
        "hamming_window": _WINDOW,
        "hann_window": _WINDOW,
        "library": "define an autograd.Function",
        "kaiser_window": "use i0(beta * sqrt(1 - (2 * arange(n) / n - 1) ** 2)) / i0(beta)",
        **dict.fromkeys(("lu", "lu_solve", "lu_unpack"), _ONE_SOLVER),
        "lstsq": _LEAST_SQUARES,
        "masked": "use where",
        "nested": "pad, or use nn.utils.rnn.pack_sequence",
        "nonzero_static": "use nonzero, and pad",
        **dict.fromkeys(("orgqr", "ormqr"), _ORTHOGONAL),
        "pca_lowrank": "use linalg.svd of what is left without the mean",
        "poisson": "use numpy.random.Generator.poisson of x.numpy()",
        **dict.fromkeys(("qint32", "qint8", "quint8"), _QUANTIZED),
        **dict.fromkeys(("quantize_per_channel", "quantize_per_tensor"), _QUANTIZED),
        "segment_reduce": "use scatter_reduce",
        "signal": _WINDOW,
        **dict.fromkeys(("sparse_bsr_tensor", "sparse_compressed_tensor"), _DENSE),
        **dict.fromkeys(("sparse_coo", "sparse_csc_tensor", "sparse_csr"), _DENSE),
        "svd_lowrank": "use linalg.svd, and the first columns",
        **dict.fromkeys(("uint16", "uint32", "uint64"), _NO_SUCH_DTYPE),
        "sparse_coo_tensor": _DENSE,
        "spmm": "use mm of dense tensors",
        "sparse_csr_tensor": _DENSE,
        "trapezoid": _AREA,
        "trapz": _AREA,
        "while_loop": "use while of Python",
        "unravel_index": "use // and % by the sizes",
        "vander": "use linalg.vander(x), and flip(-1) for powers that fall",
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
        **dict.fromkeys(("xpu",), _ONE_DEVICE),
        **dict.fromkeys(
            ("dequantize", "int_repr", "q_scale", "q_zero_point", "qscheme"), _QUANTIZED
        ),
        **dict.fromkeys(("coalesce", "dense_dim", "indices", "is_coalesced", "sparse_dim"), _DENSE),
        **dict.fromkeys(("sparse_mask", "to_dense", "to_sparse", "to_sparse_coo"), _DENSE),
        **dict.fromkeys(("to_sparse_csr", "values"), _DENSE),
    },
    "fft": {
        **dict.fromkeys(("fft2", "fftn", "ifft2", "ifftn"), _EACH),
        **dict.fromkeys(("rfft2", "rfftn"), _REAL),
        **dict.fromkeys(("irfft2", "irfftn"), _BACK_TO_REAL),
        "fftshift": "use roll by half of the size",
        "hfft": "use irfft of x.conj(), times n",
        "ihfft": "use rfft of x, divided by n, and conj",
        "ifftshift": "use roll by minus half of the size",
    },
    "jit": {
        "freeze": _COMPILER,
        "load": "make the module by its class, and load its weights",
        "save": "save the weights: autograd_cy.save(module.state_dict(), path)",
        **dict.fromkeys(("ScriptFunction", "optimize_for_inference", "fuser"), _COMPILER),
        "fork": "call the function, or use concurrent.futures",
        "wait": "call the function, or use concurrent.futures",
    },
    "linalg": {
        "householder_product": _ORTHOGONAL,
        "inv_ex": "use linalg.inv, and catch LinAlgError",
        **dict.fromkeys(("ldl_factor", "ldl_factor_ex", "ldl_solve", "lu_factor_ex"), _ONE_SOLVER),
        "solve_ex": "use linalg.solve, and catch LinAlgError",
        "tensorinv": "use linalg.inv of a matrix made by reshape",
        "tensorsolve": "use linalg.solve of a matrix made by reshape",
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
        "CrossMapLRN2d": "use nn.LocalResponseNorm",
        "FractionalMaxPool2d": "use nn.AdaptiveMaxPool2d, whose windows are not random",
        "FractionalMaxPool3d": "use nn.AdaptiveMaxPool3d, whose windows are not random",
        "LinearCrossEntropyLoss": "use nn.Linear, and nn.CrossEntropyLoss",
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
    "nn.utils": {
        "fuse_conv_bn_eval": _FUSED,
        "fuse_conv_bn_weights": _FUSED,
        "fuse_linear_bn_eval": _FUSED,
        "fuse_linear_bn_weights": _FUSED,
        "fusion": _FUSED,
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
        "Adafactor": "use optim.Adam, or optim.AdamW",
        "Muon": "use optim.AdamW",
        "SparseAdam": "gradients are dense; use optim.Adam",
    },
    "func": {
        "functionalize": "functions may write in place; leave it out",
        "replace_all_batch_norm_modules_": "use nn.GroupNorm, or track_running_stats=False",
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
        **{
            name: f"use scipy.special.{of} on x.numpy()"
            for name, of in {
                "airy_ai": "airy",
                "bessel_y0": "y0",
                "bessel_y1": "y1",
                "chebyshev_polynomial_t": "eval_chebyt",
                "chebyshev_polynomial_u": "eval_chebyu",
                "erfcx": "erfcx",
                "hermite_polynomial_h": "eval_hermite",
                "hermite_polynomial_he": "eval_hermitenorm",
                "laguerre_polynomial_l": "eval_laguerre",
                "legendre_polynomial_p": "eval_legendre",
                "log_ndtr": "log_ndtr",
                "modified_bessel_k0": "k0",
                "modified_bessel_k1": "k1",
                "scaled_modified_bessel_k0": "k0e",
                "scaled_modified_bessel_k1": "k1e",
                "spherical_bessel_j0": "spherical_jn",
                "zeta": "zeta",
            }.items()
        },
        "modified_bessel_i0": "use special.i0",
        "modified_bessel_i1": "use special.i1",
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
    },
}

# Modules that lack all names but those that they define -> what to do instead.
WITHOUT_DEVICE = {
    "accelerator": _ONE_DEVICE,
    "mps": f"{_ONE_DEVICE}; leave device='mps' out",
    "xpu": f"{_ONE_DEVICE}; leave .xpu() and device='xpu' out",
}
