"""The critical coupling of the three-dimensional Heisenberg model from configs/heisenberg/transition.yaml.

Null: Binder parameters and correlation lengths over L of neighbouring sizes cross at K_c = 0.693035(37), the value of
the literature, for L = 12 and 16, and for all pairs together, up to corrections to scaling of at most CORRECTION.
Bounds are three standard errors beyond that: three comparisons, false alarm 0.8 %, and errors are below 0.001. Control:
temperatures wrong by 1 %.

CTest: validate everywhere (exact_test_heisenberg_rings, cli_test_transition)
"""
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
import gpumc as reader  # noqa: E402
from gpumc.analysis import transition  # noqa: E402
from support import cases, device, gpumc_program as gpumc  # noqa: E402

CRITICAL, CORRECTION, LARGEST_ERROR = 0.693035, 3e-4, 1e-3


class Crossings(unittest.TestCase):
    def test_critical_coupling(self):
        with gpumc.folder() as folder:
            done = gpumc.run("run", ROOT / "configs/heisenberg/transition.yaml", "--quiet", "--device", device.NAME,
                             "--set", f"output={folder}/{{model.shape}}.h5", timeout=3000)
            self.assertEqual(done.returncode, 0, done.stderr)
            results = [reader.read(path) for path in sorted(pathlib.Path(folder).glob("*.h5"))]
            panels = transition.panels(results)
        print(transition.table(panels))
        found = [("all pairs", transition.common(panels))]
        found += [(panel.title, transition.crossings(panel)[-1]) for panel in panels]
        self.assertEqual(len(found), 3)
        for what, crossing in found:
            coupling, error = 1 / crossing.temperature, (1 / crossing.lower - 1 / crossing.upper) / 2
            print(f"{what}, L = {crossing.sides}: K = {coupling:.5f}({error:.5f})")
            self.assertLess(error, LARGEST_ERROR, what)
            self.assertLess(abs(coupling - CRITICAL), 3 * error + CORRECTION, what)
            self.assertGreater(abs(1.01 * coupling - CRITICAL), 3 * error + CORRECTION, what)


if __name__ == "__main__":
    device.require()
    cases.main()
