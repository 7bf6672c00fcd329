"""What programs for torch ask for and this package does not have, and what to use instead.

Modules ask here when a name isn't found, so nothing of this is read by a program that runs.
"""

from __future__ import annotations

__all__ = ["no_attribute"]

_COMPILER = "run the function as it is"
_ONE_DEVICE = "tensors are on the CPU"
_GRAPHS = "there is no graph of the program; run it as it is"
_LAZY = "give the number of inputs, and use the module without Lazy"

# Module without the package's name -> name of torch's there -> the way out.
_ABSENT: dict[str, dict[str, str]] = {
    "": {
        "accelerator": _ONE_DEVICE,
        "compile": _COMPILER,
        "distributed": "use one process, or mpi4py on the arrays of tensor.numpy()",
        "distributions": "draw with autograd_cy.randn, multinomial, bernoulli and the like",
        "export": _GRAPHS,
        "fx": _GRAPHS,
        "hub": "load weights with autograd_cy.load",
        "jit": _COMPILER,
        "mps": _ONE_DEVICE,
        "nested": "pad, or use nn.utils.rnn.pack_sequence",
        "onnx": "there is no exporter",
        "quantization": "there are no quantized tensors",
        "xpu": _ONE_DEVICE,
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
    "optim": {
        "SparseAdam": "gradients are dense; use optim.Adam",
    },
    "utils": {
        "cpp_extension": "write Cython that cimports autograd_cy._C",
        "model_zoo": "load weights with autograd_cy.load",
        "tensorboard": "give tensor.item() and tensor.numpy() to a package such as tensorboardX",
    },
}


def no_attribute(module: str, name: str) -> AttributeError:
    """
    The error of a module without this name; it says what to do where torch has it.

    Examples
    --------
    >>> print(no_attribute("autograd_cy", "onnx"))
    module 'autograd_cy' has no attribute 'onnx': it has no counterpart of torch.onnx (there ...
    """
    inner = module.partition(".")[2]
    way_out = _ABSENT.get(inner, {}).get(name)
    theirs = ".".join(("torch", inner, name) if inner else ("torch", name))
    return AttributeError(
        f"module {module!r} has no attribute {name!r}"
        + (f": it has no counterpart of {theirs} ({way_out})" if way_out else "")
    )
