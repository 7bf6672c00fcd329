"""The operators that the host computes for tensors on a GPU."""

from __future__ import annotations

from autograd_cy.cuda import _start

__all__ = ["host_operators"]

# What NumPy computes for the CPU alone: its function makes it of others for devices.
_FOR_THE_CPU = {"_affine_grid"}


def host_operators() -> list[str]:
    """
    List the operators that GPUs have no kernel for.

    Their operands are copied to the host, which computes them, and the results are copied back.
    With ``AUTOGRAD_CY_CUDA_HOST=warn`` in the environment each of them warns at its first call, and
    with ``error`` it raises. What is made of other operators isn't listed, nor what is written in
    elementwise kernels, copies and views, which there are all of.

    Returns
    -------
    list of str
        Keys of the operator table, sorted: names with their overloads, as "max_dim".

    Examples
    --------
    >>> import autograd_cy as ag
    >>> operators = ag.cuda.host_operators()
    >>> "linalg_svd" in operators, "mm" in operators
    (True, False)
    """
    from autograd_cy._C import cuda_host

    without = cuda_host.KERNELS.keys() - _start.own_kernels().keys()
    slots = {key.removesuffix(".sizes") for key in without}
    by_numpy = set(cuda_host.NUMPY.values()) - _FOR_THE_CPU
    return sorted((slots - cuda_host.COMPOSED) | by_numpy)
