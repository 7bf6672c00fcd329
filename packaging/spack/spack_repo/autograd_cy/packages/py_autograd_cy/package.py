# Copyright Spack Project Developers. See COPYRIGHT file for details.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyAutogradCy(PythonPackage, CudaPackage):
    """Automatic differentiation for NumPy-style programs: torch.autograd's semantics, small
    and fast, on CPUs by OpenMP and on NVIDIA GPUs."""

    pypi = "autograd_cy/autograd_cy-0.2.0.tar.gz"

    maintainers("autograd-cy")

    license("BSD-3-Clause")

    tags = ["autodiff", "machine-learning"]

    version("0.2.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("openmp", default=True, description="Compute on several threads")
    variant("mpi", default=False, description="Compute in several processes")

    depends_on("c", type="build")
    # The host code of the GPU kernels, by nvcc
    depends_on("cxx", type="build", when="+cuda")

    with default_args(type=("build", "link", "run")):
        depends_on("python@3.10:3.14")

    with default_args(type=("build", "run")):
        depends_on("py-numpy@1.23:")
        depends_on("py-scipy@1.9:")

    with default_args(type="build"):
        depends_on("py-setuptools@77:")
        depends_on("py-cython@3.2:")

    with when("+cuda"):
        depends_on("cuda@11.8:", type=("build", "run"))
        # Loads the kernels and launches them
        depends_on("py-pycuda", type="run")
        # The kernels use instructions for bfloat16, which came with Ampere
        for _arch in CudaPackage.cuda_arch_values:
            if not _arch.isdigit():
                conflicts(
                    f"cuda_arch={_arch}",
                    msg=f"name the architecture without its suffix, as {_arch.rstrip('af')}",
                )
            elif int(_arch) < 80:
                conflicts(
                    f"cuda_arch={_arch}", msg="the kernels need compute capability 8.0 or later"
                )

    with when("+mpi"):
        # Loaded when a program asks for several processes
        depends_on("py-mpi4py@4:", type="run")
        # Its launcher
        depends_on("mpi", type="run")

    conflicts("platform=darwin", msg="only Linux is supported")
    conflicts("platform=windows", msg="only Linux is supported")

    # The others are imported by these when they are needed
    import_modules = [
        "autograd_cy",
        "autograd_cy.autograd",
        "autograd_cy.distributions",
        "autograd_cy.func",
        "autograd_cy.nn",
        "autograd_cy.optim",
        "autograd_cy.profiler",
    ]

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        env.set("MAX_JOBS", str(make_jobs))
        if self.spec.satisfies("~openmp"):
            env.set("AUTOGRAD_CY_OPENMP", "0")
        # 0 and 1, as a build without either would use an nvcc that happens to be there
        if self.spec.satisfies("~cuda"):
            env.set("AUTOGRAD_CY_CUDA", "0")
            return
        env.set("AUTOGRAD_CY_CUDA", "1")
        env.set("CUDA_HOME", self.spec["cuda"].prefix)
        if not self.spec.satisfies("cuda_arch=none"):
            archs = self.spec.variants["cuda_arch"].value
            env.set("AUTOGRAD_CY_CUDA_ARCHS", ",".join((*archs, "ptx")))

    def test_doctor(self):
        """look for the usual mistakes of an installation"""
        python("-m", "autograd_cy", "doctor")

    def test_gradient(self):
        """compute a gradient"""
        python("-c", GRADIENT)


GRADIENT = """
import autograd_cy as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
assert x.grad.tolist() == [2.0, 4.0]
"""
