"""Two devices whose results must not differ: GPUMC_TEST_DEVICE_A and _B, "cpu" and "cuda" unless set."""
import os

from support import device

A = os.environ.get("GPUMC_TEST_DEVICE_A") or "cpu"
B = os.environ.get("GPUMC_TEST_DEVICE_B") or "cuda"


def require():
    device.require(A, B)


def settings(name):
    """Options that say how the device works, which no number may depend on."""
    if name == "cpu":
        return [["--threads", threads] for threads in (1, 2, 3)]
    return [[]] + [["--set", f"kernel.block_threads={threads}"] for threads in (32, 128, 256, 1024)]


def followers(variant, name):
    """Options for the other kernels of a device that follow a variant's trajectory."""
    return [["--set", "kernel.variant=walker"]] * (variant == "spin" and "walker" in device.variants(name))
