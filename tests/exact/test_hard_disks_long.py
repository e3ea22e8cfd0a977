"""No disks overlap and none is lost in a billion trial moves (ten on a GPU), of one large system and of many small
ones: the last configurations are checked by tools/check-disks, which shares nothing with the program. `serial` makes
fewer. The control of the tool is in tests/cli/test_hard_disks_tools.py; here files are changed again, to show that it
examines all of these.

CTest: validate (exact_test_hard_disks_bits)
"""
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
import gpumc  # noqa: E402
from gpumc import hard_disks  # noqa: E402
from support import cases, device  # noqa: E402
from support.edited_result import edited  # noqa: E402
from support.program import ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 20131206
model: {{name: hard_disks, particles: {particles}, packing_fraction: {fraction}, start: lattice}}
algorithm: {{name: mpmc, replicas: {replicas}, thermalization: 0, sweeps: {sweeps}, interval: {interval}, configurations: {{every: {sweeps}}}}}
kernel: {{variant: {variant}}}
output: long.h5
"""
TRIALS = {"checkerboard": 10**9 if device.NAME == "cpu" else 10**10, "serial": 10**8}


class Long(ProgramCase):
    def run_long(self, variant, replicas, particles, fraction):
        of_a_sweep = replicas * particles * (1 if variant == "serial" else 3)  # at least
        sweeps = 100 * (TRIALS[variant] // (100 * of_a_sweep) + 1)
        self.gpumc("run", self.write("c.yaml", CONFIG.format(variant=variant, particles=particles, fraction=fraction,
                                                             replicas=replicas, sweeps=sweeps, interval=sweeps // 10)),
                   timeout=3000)
        self.assertGreater(self.trials(variant, sweeps), TRIALS[variant])
        self.assertGreater(gpumc.read(self.path("long.h5")).summary["move_acceptance"], 0.1)
        found = self.check(0)
        self.assertRegex(found, rf"^long.h5: {replicas} configurations? of {particles} disks: least distance 1\.0000.*, no overlaps, "
                         r"all disks are there\n$")
        print(f"{variant} on {device.NAME}, {self.trials(variant, sweeps):.3g} trials: {found.strip()}")
        self.control(replicas)

    def trials(self, variant, sweeps):
        """For `checkerboard` from the occupied cells of the last configuration; at other times about a hundredth more
        or fewer have disks."""
        disks = hard_disks.read(self.path("long.h5"), sweeps)
        positions, box, corner = disks.positions[0], disks.box[0], disks.corner[0]
        if variant == "serial":
            return sweeps * positions.shape[0] * positions.shape[1]
        return 0.99 * 4 * sweeps * sum(map(hard_disks.occupied_cells, positions, box, corner))

    def check(self, code):
        done = subprocess.run([sys.executable, ROOT / "tools/check-disks", "long.h5"], cwd=self.directory, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def control(self, replicas):
        """The last disk of the last replica is put at the place of the first one; then it is removed."""
        with edited(self.path("long.h5")) as file:
            rows = file["configurations/bytes"]
            state = rows[replicas - 1].view("<f8")
            state[-2:] = state[4:6]
            rows[replicas - 1] = state.view("u1")
        self.assertIn(f"replica {replicas - 1}: 1 pair of disks overlaps", self.check(1))
        with edited(self.path("long.h5")) as file:
            state[-2:] = -10
            file["configurations/bytes"][replicas - 1] = state.view("u1")
        self.assertIn("disks in the box instead of", self.check(1))

    def test_one_large_system(self):
        self.run_long("checkerboard", 1, 65536, 0.72)

    def test_many_small_systems(self):
        self.run_long("checkerboard", 1024, 256, 0.65)

    @unittest.skipUnless(device.NAME == "cpu", "on CPUs only")
    def test_one_disk_after_the_other(self):
        self.run_long("serial", 4, 4096, 0.7)


if __name__ == "__main__":
    device.require()
    cases.main()
