"""The libraries that torch may compute with, of which none is needed here.

Programs ask whether they are there, which is answered, and set their switches, which are kept and
have no effect: results are float32 where tensors are, and the same in every run.
"""

from autograd_cy.backends import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
