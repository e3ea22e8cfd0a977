"""Two devices whose results must not differ: GPUMC_TEST_DEVICE_A and _B, "cpu" and "cuda" unless set."""
import os

from support import device
from support.program import ProgramCase
from support.results import assert_same_numbers, numbers

A = os.environ.get("GPUMC_TEST_DEVICE_A") or "cpu"
B = os.environ.get("GPUMC_TEST_DEVICE_B") or "cuda"


def require():
    device.require(A, B)


def settings(name):
    """Returns options for how the device works, which must not change any number."""
    if name == "cpu":
        return [["--threads", threads] for threads in (1, 2, 3)]
    return [[]] + [["--set", f"kernel.block_threads={threads}"] for threads in (32, 128, 256, 1024)]


def followers(variant, name):
    """Returns options for the device's other kernels that follow a variant's trajectory."""
    return [["--set", "kernel.variant=walker"]] * (variant == "spin" and "walker" in device.variants(name))


class TwoDevices(ProgramCase):
    device = None

    def compare(self, config, variant=None, title=None):
        """Checks that the numbers of a configuration with `output: out.h5` on A agree with those on B in all of B's
        settings and by every kernel that follows the variant's trajectory. Control: another seed gives different
        numbers."""
        self.gpumc("run", config, "--quiet", "--device", A, "-o", "first.h5")
        expected = numbers(self.path("first.h5"))
        self.path("first.h5").unlink()
        for options in settings(B) + followers(variant, B):
            with self.subTest(title, options=options):
                self.gpumc("run", config, "--quiet", "--device", B, *options)
                assert_same_numbers(self, expected, self.path("out.h5"))
                self.path("out.h5").unlink()
        self.gpumc("run", config, "--quiet", "--device", B, "--set", "seed=4")
        self.assertNotEqual(expected, numbers(self.path("out.h5")), "another seed goes unnoticed")
        self.path("out.h5").unlink()
        return expected
