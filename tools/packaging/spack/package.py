# SPDX-License-Identifier: BSD-3-Clause
"""gpumc for Spack. In a repository of your own: `spack repo create ./mine`, this file as mine/packages/gpumc/package.py,
`spack repo add ./mine`, `spack install gpumc +openmpi`."""
from spack.package import *


class Gpumc(CMakePackage, CudaPackage):
    """Monte Carlo simulations for statistical physics from one configuration file: population annealing, parallel
    tempering, multicanonical sampling and averages at fixed temperatures, on CPUs and GPUs."""

    homepage = "https://example.org/gpumc"  # of whoever publishes the sources
    url = "https://example.org/gpumc/gpumc-0.2.0.tar.gz"

    license("BSD-3-Clause")

    version("0.2.0", sha256="0" * 64)  # of the published archive

    variant("openmpi", default=False, description="Build the module for Open MPI")
    variant("mpich", default=False, description="Build the module for MPICH")
    variant("nccl", default=False, when="+cuda", description="Build the module for NCCL")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libyaml")
    depends_on("hdf5@1.10.3:+hl~mpi")
    depends_on("zlib-api")
    depends_on("cjson")
    depends_on("random123", type=("build", "link"))
    depends_on("openmpi", when="+openmpi")
    depends_on("mpich", when="+mpich")
    depends_on("nccl", when="+nccl")
    depends_on("cuda@12:", when="+cuda")
    depends_on("cmocka", type="build", when="+tests")
    depends_on("python@3.10:", type=("build", "run"))

    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs: cuda_arch=80,90")
    conflicts("%gcc@:8", msg="C11 with levels of x86-64 needs GCC 9 or newer")

    def cmake_args(self):
        mpi = self.spec.satisfies("+openmpi") or self.spec.satisfies("+mpich")
        args = [
            self.define_from_variant("GPUMC_CUDA", "cuda"),
            self.define_from_variant("GPUMC_TESTS", "tests"),
            self.define_from_variant("GPUMC_NCCL", "nccl"),
            self.define("GPUMC_MPI", mpi),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("GPUMC_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_program(self):
        Executable(self.prefix.bin.gpumc)("--version")
