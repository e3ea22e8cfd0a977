# SPDX-License-Identifier: BSD-3-Clause
"""gpumc for Spack: README.md in the folder above has the commands."""

import os

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.python import PythonExtension, PythonPipBuilder

from spack.package import *


class Gpumc(CMakePackage, CudaPackage, PythonExtension):
    """Monte Carlo simulations for statistical physics from one configuration file: population
    annealing, parallel tempering, multicanonical sampling and averages at fixed temperatures, on
    CPUs and GPUs."""

    # The source archive in the working directory. tools/release writes a copy of this file with
    # the address and the checksum of the archive of a release.
    manual_download = True
    url = f"file://{os.getcwd()}/gpumc-0.2.0.tar.gz"

    license("BSD-3-Clause")

    version("0.2.0")

    variant("mpi", default=False, description="Build the module for Open MPI or MPICH")
    variant("nccl", default=False, when="+cuda", description="Build the module for NCCL")
    variant("python", default=True, description="Install the Python package")
    variant("plot", default=True, when="+python", description="Draw results with matplotlib")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("libyaml")
    depends_on("hdf5@1.10.3:+hl~mpi")
    depends_on("zlib-api")
    depends_on("cjson")
    depends_on("random123")
    depends_on("cuda@12.0:", when="+cuda")
    depends_on("nccl@2.17:", when="+nccl")
    depends_on("mpi", when="+mpi")
    requires(
        "^[virtuals=mpi] openmpi",
        "^[virtuals=mpi] mpich",
        policy="one_of",
        when="+mpi",
        msg="modules exist for Open MPI and MPICH",
    )

    with when("+python"):
        extends("python@3.10:", type=("build", "run"))
        depends_on("py-pip", type="build")
        depends_on("py-setuptools@68:", type="build")
        depends_on("py-wheel", type="build")
        depends_on("py-h5py@3.7:", type="run")
        depends_on("py-numpy@1.23:", type="run")
        depends_on("py-matplotlib@3.6:", type="run", when="+plot")

    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs: cuda_arch=80,90")
    for _arch in CudaPackage.cuda_arch_values:
        if int(_arch.rstrip("af")) < 80:
            conflicts(f"cuda_arch={_arch}", when="+cuda", msg="GPUs of 8.0 or newer: cuda_arch=80")
        else:
            depends_on(f"nccl cuda_arch={_arch}", when=f"+nccl cuda_arch={_arch}")
    conflicts("%gcc@:10", when="target=x86_64:", msg="x86-64-v2 to v4 need GCC 11 or newer")

    sanity_check_is_file = [
        join_path("bin", "gpumc"),
        join_path("share", "gpumc", "schemas", "gpumc.schema.json"),
        join_path("share", "gpumc", "configs", "ising2d", "first.yaml"),
    ]

    def cmake_args(self):
        args = [
            self.define("GPUMC_TESTS", False),
            self.define_from_variant("GPUMC_CUDA", "cuda"),
            self.define_from_variant("GPUMC_MPI", "mpi"),
            self.define("GPUMC_NCCL", self.spec.satisfies("+nccl")),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = self.spec.variants["cuda_arch"].value
            args.append(self.define("GPUMC_CUDA_ARCHITECTURES", architectures))
        return args

    @run_after("install")
    def install_python_package(self):
        if self.spec.satisfies("+python"):
            with working_dir(join_path(self.stage.source_path, "tools", "python")):
                pip(*PythonPipBuilder.std_args(self), f"--prefix={self.prefix}", ".")

    def test_version(self):
        """the program is of this version"""
        program = Executable(self.prefix.bin.gpumc)
        assert f"gpumc {self.version} " in program("--version", output=str.split, error=str.split)

    def test_first_example(self):
        """the first example runs, and its result is complete"""
        program = Executable(self.prefix.bin.gpumc)
        example = self.prefix.share.gpumc.configs.ising2d.join("first.yaml")
        program("run", example, "--quiet", "-o", "first.h5")
        assert "complete" in program("info", "first.h5", output=str.split, error=str.split)

    def test_imports(self):
        """the Python package opens the program"""
        if not self.spec.satisfies("+python"):
            raise SkipTest("the Python package is in the variant +python")
        python("-c", "import gpumc; print(gpumc.find())")
