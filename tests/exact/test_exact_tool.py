"""gpumc.ising2d_exact: known densities of states, and its two halves against each other.

CTest: first, release (a tool of Python alone)
"""
import itertools
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
TOOL = os.path.join(ROOT, "tools", "python", "gpumc", "ising2d_exact.py")
sys.path.insert(0, os.path.join(ROOT, "tools", "python"))
from gpumc import ising2d_exact as exact  # noqa: E402


def counted(rows, columns):
    """The density of states of a tiny lattice by visiting every configuration."""
    sites = rows * columns
    states = [0] * (sites + 1)
    for spins in itertools.product((-1, 1), repeat=sites):
        bonds = sum(spins[r * columns + c] * (spins[(r + 1) % rows * columns + c] +
                                              spins[r * columns + (c + 1) % columns])
                    for r in range(rows) for c in range(columns))
        states[(2 * sites - bonds) // 4] += 1
    return states


class DensityOfStates(unittest.TestCase):
    def test_whole_of_4(self):
        half = [2, 0, 32, 64, 424, 1728, 6688, 13568, 20524]
        self.assertEqual(exact.density_of_states(4, 4), half + half[-2::-1])

    def test_beginning_of_8(self):
        self.assertEqual(exact.density_of_states(8, 8)[:8],
                         [2, 0, 128, 256, 4672, 17920, 145408, 712960])

    def test_by_counting(self):
        for shape in ((2, 2), (2, 4), (4, 2), (4, 4)):
            self.assertEqual(exact.density_of_states(*shape), counted(*shape), shape)

    def test_sum_and_symmetry(self):
        for rows, columns in ((2, 8), (6, 4), (6, 6), (10, 8), (16, 16), (32, 32)):
            states = exact.density_of_states(rows, columns)
            self.assertEqual(len(states), rows * columns + 1)
            self.assertEqual(sum(states), 2 ** (rows * columns))
            self.assertEqual(states, states[::-1])
            self.assertTrue(all(count >= 0 for count in states))
            self.assertEqual(states, exact.density_of_states(columns, rows))

    def test_c_constants(self):
        """The tables in tests/support are the ones computed here."""
        with open(os.path.join(ROOT, "tests", "support", "density_of_states.c")) as file:
            text = file.read()
        for side in (4, 8):
            body = re.search(rf"states_{side}\[\] = {{(.*?)}};", text, re.DOTALL).group(1)
            self.assertEqual([int(word) for word in re.findall(r"(\d+)u", body)],
                             exact.density_of_states(side, side))

    def test_refuses_odd_sides(self):
        with self.assertRaisesRegex(ValueError, "even"):
            exact.density_of_states(3, 4)
        with self.assertRaisesRegex(ValueError, "even"):
            exact.kaufman(4, 5, 0.1)


class Thermodynamics(unittest.TestCase):
    def test_agrees_with_density_of_states(self):
        betas = [0.0, 1e-3, 0.1, 0.4, 0.440686793509772, 0.5, 1.0, 2.0]
        for rows, columns in ((2, 2), (4, 4), (6, 10), (16, 16), (32, 32)):
            states = exact.density_of_states(rows, columns)
            curves = exact.kaufman(rows, columns, betas)
            for i, beta in enumerate(betas):
                for ours, theirs in zip((curve[i] for curve in curves),
                                        exact.canonical(states, beta)):
                    self.assertLessEqual(abs(ours - theirs), 1e-12, (rows, columns, beta))

    def test_coupling_is_an_energy_scale(self):
        log_z, energy, specific_heat = exact.kaufman(8, 8, 0.2, coupling=-2.0)
        same = exact.kaufman(8, 8, 0.4)
        self.assertAlmostEqual(log_z[0], same[0][0], 14)
        self.assertAlmostEqual(energy[0], 2 * same[1][0], 14)
        self.assertAlmostEqual(specific_heat[0], same[2][0], 14)


class CommandLine(unittest.TestCase):
    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, TOOL, *arguments], capture_output=True, text=True)

    def test_dos(self):
        lines = self.run_tool("dos", "4").stdout.splitlines()
        self.assertEqual((lines[0], lines[2], lines[-1], len(lines)), ("-32 2", "-24 32", "32 2", 17))

    def test_kaufman(self):
        row = self.run_tool("kaufman", "64", "0.4").stdout.split()
        for word, wanted in zip(row, (0.4, 0.879363835297562, -1.10608299247209, 0.861855083163)):
            self.assertAlmostEqual(float(word), wanted, 11)

    def test_refusal(self):
        result = self.run_tool("dos", "5")
        self.assertEqual(result.returncode, 2)
        self.assertIn("even", result.stderr)


if __name__ == "__main__":
    unittest.main()
