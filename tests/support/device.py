"""The device that tests run jobs on:  GPUMC_TEST_DEVICE, "cpu" unless set.

If it is not available, a script ends with exit code 77, which CTest reports as skipped; with GPUMC_REQUIRE_CUDA=1 it
fails.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str(pathlib.Path(os.environ.get("GPUMC_PROGRAM", ROOT / "build/release/gpumc")).resolve())
NAME = os.environ.get("GPUMC_TEST_DEVICE") or "cpu"
MISSING = "cuda:99"  # no machine has it
DEVICE, SKIPPED = 3, 77
REQUIRED = os.environ.get("GPUMC_REQUIRE_CUDA") == "1"

TINY = """\
gpumc: 1
seed: 1
model: {name: ising2d, shape: [4, 4]}
algorithm: {name: pa, population: 64, sweeps: 1, beta: {from: 0, to: 0.2, step: 0.1}}
output: tiny.h5
"""


def lowest_level():
    """Returns the lowest level of the instruction set that the build has."""
    return json.loads(subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, text=True,
                                     check=False).stdout)["processor"]["isa_compiled"].split(", ")[0]


def run_tiny(name, program=PROGRAM, **more):
    """The finished process of a tiny job on a device; `more` goes to subprocess.run()."""
    with tempfile.TemporaryDirectory(prefix="gpumc-test-") as folder:
        (pathlib.Path(folder) / "tiny.yaml").write_text(TINY)
        return subprocess.run([program, "run", "tiny.yaml", "--device", name], cwd=folder, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, check=False, **more)


def require(*names):
    """Checks that jobs run on every device in `names`, or ends the script."""
    for name in names or [NAME]:
        if name == "cpu":
            continue
        done = run_tiny(name)
        if done.returncode == DEVICE:
            print("failed:" if REQUIRED else "skipped:", done.stderr.strip(), file=sys.stderr)
            sys.exit(1 if REQUIRED else SKIPPED)
        if done.returncode != 0:
            sys.exit(f"a tiny job on {name}: exit code {done.returncode}\n{done.stderr}")


def variants(name=NAME):
    """Returns the kernel variants of ising2d on a device, in the program's order."""
    done = subprocess.run([PROGRAM, "list", "--json"], capture_output=True, text=True, check=True)
    model, = (m for m in json.loads(done.stdout)["models"] if m["name"] == "ising2d")
    return [kernel["variant"] for kernel in model["kernels"]
            if kernel["device"] == name.split(":")[0]]


def served(*wanted):
    """Returns those of these variants that the device under test has."""
    there = variants()
    return [variant for variant in wanted if variant in there]


def on_gpus(variant):
    """Returns the variant if the device under test is a GPU; on CPUs its code is that of another variant."""
    return [variant] if NAME != "cpu" else []


def without_gpus():
    """Returns an environment in which CUDA shows no GPU."""
    return {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
