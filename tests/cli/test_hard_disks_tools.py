"""tools/hard_disks.py, tools/check-disks, tools/export-gsd and the pictures of tools/plot, on files of hard disks that the program writes.

CTest: release (tools of Python; runs of gpumc: cli_test_hard_disks_profiles), cases 4 s
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

import numpy as np
from scipy import spatial

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
import gpumc  # noqa: E402
from gpumc import hard_disks  # noqa: E402
from gpumc.plot import disks, draw  # noqa: E402
from support import cases, device  # noqa: E402
from support.edited_result import edited  # noqa: E402
from support.program import ProgramCase  # noqa: E402

CONFIG = """\
gpumc: 1
title: disks
seed: 20131205
model: {{name: hard_disks, particles: 216, packing_fraction: 0.7, aspect: 1.5}}
algorithm: {{name: mpmc, replicas: 2, thermalization: 100, sweeps: 400, interval: 20{more}}}
output: {output}
"""
ASKED = ", bond_order: true, series: true, configurations: {every: 200}"
GAS = """\
gpumc: 1
seed: 20131411
model: {{name: hard_disks, particles: {number}, packing_fraction: {fraction}, aspect: {aspect}}}
algorithm: {{name: mpmc, thermalization: 20, sweeps: 40, interval: 10, replicas: 1, bond_order: true, configurations: {{every: 10}}}}
output: gas.h5
"""
HAS_GSD = importlib.util.find_spec("gsd") is not None


def order_by_scipy(places, box):
    """psi_6 of each disk by its neighbours in the Voronoi diagram of all copies."""
    shifts = sorted(((u, v) for u in range(-2, 3) for v in range(-2, 3)), key=lambda shift: shift != (0, 0))
    copies = np.concatenate([places + np.array(shift) * box for shift in shifts])
    diagram = spatial.Voronoi(copies)
    total, number = np.zeros(len(places), complex), np.zeros(len(places))
    for pair, ends in zip(diagram.ridge_points, diagram.ridge_vertices):
        if -1 not in ends and np.hypot(*(diagram.vertices[ends[0]] - diagram.vertices[ends[1]])) < 1e-9 * box.max():
            continue
        for i, j in (pair, pair[::-1]):
            if i < len(places):
                away = complex(*(copies[j] - copies[i]))
                total[i] += (away / abs(away))**6
                number[i] += 1
    return total / number


class Tools(ProgramCase):
    def setUp(self):
        super().setUp()
        self.gpumc("run", self.write("c.yaml", CONFIG.format(more=ASKED, output="disks.h5")))
        self.file = str(self.path("disks.h5"))

    def tool(self, name, *arguments, code=0):
        environment = dict(os.environ, MPLCONFIGDIR=str(self.directory))
        process = subprocess.run([sys.executable, ROOT / "tools" / name, *arguments], capture_output=True, text=True,
                                 cwd=self.directory, env=environment)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process


class Reading(Tools):
    def test_configurations(self):
        disks = hard_disks.read(self.file)
        self.assertEqual(disks.sweeps.tolist(), [200, 400])
        self.assertEqual(disks.positions.shape, (2, 2, 216, 2))
        np.testing.assert_allclose(disks.box[..., 1] / disks.box[..., 0], 1.5, rtol=1e-5)
        np.testing.assert_allclose(216 * np.pi / 4 / disks.box.prod(axis=-1), 0.7, rtol=1e-6)
        self.assertTrue((disks.positions >= 0).all() and (disks.positions < disks.box[:, :, None]).all())
        for box, positions in zip(disks.box.reshape(-1, 2), disks.positions.reshape(-1, 216, 2)):
            away = positions[:, None] - positions
            away -= box * np.rint(away / box)
            self.assertGreaterEqual(np.sort((away ** 2).sum(axis=-1).ravel())[216], 1)

    def test_disks_are_in_the_order_of_cells(self):
        """Cells that are counted are those of the kernel; control: with the corner elsewhere they are not."""
        disks = hard_disks.read(self.file, sweep=400)
        for box, corner, positions in zip(disks.box[0], disks.corner[0], disks.positions[0]):
            cells = hard_disks.cells_of(positions, box, corner)
            self.assertTrue((np.diff(cells) >= 0).all())
            self.assertLessEqual(np.bincount(cells).max(), 4)
            self.assertEqual(hard_disks.occupied_cells(positions, box, corner), len(set(cells.tolist())))
            self.assertFalse((np.diff(hard_disks.cells_of(positions, box, corner + 0.5)) >= 0).all())

    def test_order_is_that_of_the_program(self):
        disks, series = hard_disks.read(self.file), gpumc.read(self.file).runs[0]
        for t, sweep in enumerate(disks.sweeps):
            row = series["sweep"].tolist().index(sweep)
            for r in range(2):
                psi = hard_disks.local_order(disks.positions[t, r], disks.box[t, r])
                self.assertAlmostEqual(psi.mean().real, series["psi6_real"][row, r], delta=1e-8)
                self.assertAlmostEqual(psi.mean().imag, series["psi6_imag"][row, r], delta=1e-8)
                self.assertAlmostEqual(np.abs(psi).mean(), series["psi6_local"][row, r], delta=1e-8)

    def test_order_of_a_crystal(self):
        """One in direction 0, six neighbours each; turned by a quarter turn it is -1."""
        x, y = np.meshgrid(np.arange(8.0), np.arange(6))
        places = np.stack([(x + y % 2 / 2).ravel(), (y * np.sqrt(3) / 2).ravel()], axis=1) + 0.25
        box = np.array([8, 3 * np.sqrt(3)])
        np.testing.assert_allclose(hard_disks.local_order(places, box), 1, atol=1e-12)
        np.testing.assert_allclose(hard_disks.local_order(places[:, ::-1], box[::-1]), -1, atol=1e-12)

    def test_order_of_gases(self):
        """By scipy's Voronoi construction of the disks and their copies in the 24 boxes around; cells that touch in a point
        are no neighbours."""
        random = np.random.default_rng(20131410)
        for number, box in ((1, (5, 9)), (1, (4, 4)), (2, (20, 20)), (3, (50, 47)), (3, (3, 50)), (10, (100, 10)), (60, (90, 60)),
                            (100, (20, 200)), (150, (17, 11))):
            box = np.array(box, float)
            places = random.random((number, 2)) * box
            with self.subTest(number=number, box=box):
                np.testing.assert_allclose(hard_disks.local_order(places, box), order_by_scipy(places, box), atol=1e-10)

    def test_order_of_dilute_runs_is_that_of_the_program(self):
        for number, fraction, aspect in ((1, 0.05, 2), (2, 0.02, 1), (7, 0.001, 3), (150, 0.02, 1), (150, 0.1, 1), (150, 0.3, 0.5)):
            with self.subTest(number=number, fraction=fraction):
                self.gpumc("run", "--fresh", self.write("g.yaml", GAS.format(number=number, fraction=fraction, aspect=aspect)))
                disks, summary = hard_disks.read(self.path("gas.h5")), gpumc.read(self.path("gas.h5")).summary
                psi = np.array([order_by_scipy(disks.positions[t, 0], disks.box[t, 0]) for t in range(4)])
                self.assertAlmostEqual(summary["psi6_real"][()], psi.mean().real, delta=1e-8)
                self.assertAlmostEqual(summary["psi6_local"][()], np.abs(psi).mean(), delta=1e-8)
                self.assertAlmostEqual(summary["psi6"][()], np.abs(psi.mean(axis=1)).mean(), delta=1e-8)

    def test_files_without_disks_are_refused(self):
        self.gpumc("run", self.write("n.yaml", CONFIG.format(more="", output="none.h5")))
        with self.assertRaisesRegex(gpumc.ResultError, "none.h5: no configurations; request them with algorithm.configurations"):
            hard_disks.read(self.path("none.h5"))
        with self.assertRaisesRegex(gpumc.ResultError, "disks.h5: no configurations of sweep 3"):
            hard_disks.read(self.file, sweep=3)
        with self.assertRaisesRegex(gpumc.ResultError, "disks.h5: .* model hard_disks are not stored as one bit per site"):
            gpumc.configurations(self.file)


class Checking(Tools):
    """tools/check-disks finds what is wrong in files that were changed on purpose, and nothing else."""

    def check(self, *arguments, code=0):
        return self.tool("check-disks", *arguments, code=code).stdout

    def module(self):
        loader = importlib.machinery.SourceFileLoader("check_disks", str(ROOT / "tools/check-disks"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_disks", loader))
        loader.exec_module(module)
        return module

    def change(self, change):
        """change(box, positions), of sweep 400, replica 1."""
        with edited(self.path("disks.h5")) as file:
            rows = file["configurations/bytes"]
            state = rows[3].view("<f8")
            change(state[:2], state[4:].reshape(-1, 2))
            rows[3] = state.view("u1")

    def test_a_result_is_right(self):
        disks = hard_disks.read(self.file)
        least = np.inf
        for box, positions in zip(disks.box.reshape(-1, 2), disks.positions.reshape(-1, 216, 2)):
            away = positions[:, None] - positions
            away -= box * np.rint(away / box)
            least = min(least, np.sqrt(np.sort((away ** 2).sum(axis=-1).ravel())[216]))
        self.assertRegex(self.check(self.file), rf"disks.h5: 4 configurations of 216 disks: least distance {least:.9f} "
                         r"\(sweep \d00, replica [01], disks \d+ and \d+\), no overlaps, all disks are there\n$")
        self.assertIn(": 2 configurations of", self.check(self.file, "--sweep", "200"))

    def test_a_disk_on_another(self):
        self.change(lambda box, positions: positions.__setitem__(5, positions[160]))
        found = self.check(self.file, code=1)
        self.assertRegex(found, r"sweep 400, replica 1: 1 pair of disks overlaps, the closest being disks (5 and 160|160 and 5) at a "
                         r"distance of 0\.000000000\n")
        self.assertRegex(found, r"4 configurations .*, WRONG\n$")
        self.assertEqual(found.count("overlap"), 1)

    def test_disks_in_contact(self):
        """A quantum closer than a diameter they overlap, else not; also through the sides of the box and its corner."""
        box, tool = np.array([8.0, 10.0]), self.module()
        grid = np.stack(np.meshgrid([1.0, 3, 5, 7], [1.0, 3, 5, 7, 9]), axis=-1).reshape(-1, 2)
        corner = np.array([8 - 0.5**23, 10 - 0.5**23])
        for place in np.array([2.0, 4.0]), np.array([0.0, 6.0]), np.array([4.0, 0.0]), np.zeros(2), corner:
            for toward in [1, 0], [-1, 0], [0, 1], [0, -1]:
                for distance, overlaps in (1 - 0.5**23, 1), (1.0, 0):
                    positions = grid.copy()
                    positions[[3, 8]] = place, (place + distance * np.array(toward)) % box
                    away = positions[:, None] - positions
                    away -= box * np.rint(away / box)
                    close = (away ** 2).sum(axis=-1) + 9 * np.eye(20)
                    least, flaws = tool.check_state(np.concatenate([box, [0, 0], positions.ravel()]), 20, 80)
                    self.assertEqual(least[0], np.sqrt(close.min()))
                    self.assertEqual(flaws == [], not (close < 1).any())
                    self.assertEqual(close[3, 8] < 1, overlaps == 1)

    def test_a_disk_that_is_missing(self):
        with edited(self.path("disks.h5")) as file:
            rows = file["configurations/bytes"][()][:, :-16]
            del file["configurations/bytes"]
            file["configurations/bytes"] = rows
        self.assertIn("sweep 200, replica 0: 215 disks in the box instead of 216\n", self.check(self.file, code=1))

    def test_a_disk_that_is_nowhere(self):
        for place in [np.nan, 3.0], [-10.0, -10.0], [3.0, 1e3]:
            self.gpumc("run", "c.yaml", "--fresh")
            self.change(lambda box, positions: positions.__setitem__(9, place))
            self.assertRegex(self.check(self.file, code=1), r"sweep 400, replica 1: disk 9 is at .* not in the box of .*\n"
                             ".*: 215 disks in the box instead of 216\n")

    def test_another_box(self):
        self.change(lambda box, positions: box.__setitem__(0, box[0] * (1 + 1e-4)))
        self.assertRegex(self.check(self.file, code=1), "replica 1: a box of .* instead of an area of ")

    def test_small_boxes(self):
        """Pairs are counted once where cells are few: against all pairs."""
        random = np.random.default_rng(3)
        tool = self.module()
        for box in [2.2, 2.2], [2.2, 7.5], [7.5, 2.9], [3.0, 3.0], [4.7, 3.3], [12.0, 1.5]:
            box = np.array(box)
            places = random.random((30, 2)) * box
            away = places[:, None] - places
            away -= box * np.rint(away / box)
            close = (away ** 2).sum(axis=-1) < 1
            found = np.zeros((30, 30), int)
            for one, other, square in tool.near_pairs(places, np.arange(30), box):
                np.add.at(found, (one[square < 1], other[square < 1]), 1)
            np.testing.assert_array_equal(found + found.T, close & ~np.eye(30, dtype=bool))

    def test_checkpoints(self):
        self.one_unit("c.yaml", "--set", "algorithm.sweeps=4000000", "-o", "long.h5")
        self.assertIn("2 configurations of 216 disks: least distance 1.0", self.check("long.h5.ckpt"))

    def test_what_has_no_disks(self):
        self.gpumc("run", self.write("n.yaml", CONFIG.format(more="", output="none.h5")))
        for words, says in (["none.h5"], "no configurations; request them with algorithm.configurations"), (["absent.h5"], "No such file"), \
                ([self.file, "--sweep", "3"], "no configurations of sweep 3"), (["c.yaml"], "c.yaml"):
            self.assertIn(says, self.tool("check-disks", *words, code=2).stderr)


class Disks256:
    """Of a result what the equation of state is drawn from."""

    def __init__(self, fraction, pressure, trusted):
        self.path, self.title, self.is_complete = "made up", "", True
        self.config = {"model": {"name": "hard_disks", "particles": 256, "packing_fraction": fraction}, "algorithm": {}}
        self.summary = {"pressure": pressure, "pressure_error": 0.01}
        self.remarks = {"trusted": int(trusted)}


class Loops(unittest.TestCase):
    def test_of_a_known_curve(self):
        """P = 9 + 0.1 sin: areas of 0.1 w/pi, w the width of both, to the width of the grid; none of a straight line."""
        fraction = np.linspace(0.69, 0.73, 41)
        volume = np.pi / 4 / fraction
        middle, width = (volume[0] + volume[-1]) / 2, 0.6 * (volume[0] - volume[-1])
        away = volume - middle
        curve = 9 + 0.1 * np.where(np.abs(away) < width / 2, np.sin(2 * np.pi * away / width), -away / width * 2 * np.pi)
        curve += 0.1 * np.where(np.abs(away) < width / 2, 0, np.sign(away) * np.pi)
        level, area, *ends = hard_disks.equal_areas(fraction, curve)
        self.assertAlmostEqual(level, 9, delta=2e-3)
        self.assertAlmostEqual(area / (0.1 * width / np.pi), 1, delta=0.05)
        np.testing.assert_allclose(ends, np.pi / 4 / (middle + width * np.array([0.5, -0.5])), atol=2e-4)
        self.assertRegex(hard_disks.loop_line(1024, hard_disks.loop(1024, fraction, curve, 1e-4 * np.ones(41))),
                         r"equal areas at P\* = (8\.999|9\.00)\d*\(\d+\), each 1\.2\d+\(\d+\) kT in all")
        self.assertIsNone(hard_disks.loop(1024, fraction, 9 + 10 * fraction, 1e-4 * np.ones(41)))
        self.assertEqual(hard_disks.loop_line(1024, None), "N = 1024: no loop resolved")

    def test_of_a_picture(self):
        """A dashed line of equal areas between the cuts, and open symbols where results are not trusted: only there."""
        fraction = [0.69, 0.695, 0.70, 0.705, 0.71, 0.715, 0.72, 0.725, 0.73]
        pressure = [8.955, 9.135, 9.095, 9.046, 8.945, 9.016, 9.071, 9.367, 9.656]  # measured
        for slope, loops in (0, 1), (200, 0):
            results = [Disks256(x, y + slope * x, trusted=x != 0.71) for x, y in zip(fraction, pressure)]
            figure, lines = draw("equation-of-state", results), disks.pressure_words(results).splitlines()
            axes, = figure.axes
            cuts = [collection.get_segments() for collection in axes.collections
                    if np.isclose(collection.get_linewidth(), 1).all() and collection.get_linestyle()[0][1] is not None]
            self.assertEqual(len(cuts), loops)
            if loops:
                (left, level), (right, same) = cuts[0][0]
                self.assertEqual(level, same)
                self.assertRegex(lines[-1], rf"equal areas at P\* = {level:.2f}")
                slope_there = (pressure[1] - pressure[0]) / 0.005  # the larger one; volumes are on a grid
                np.testing.assert_allclose(np.interp([left, right], fraction, pressure), level, rtol=0,
                                           atol=slope_there * 0.04 / hard_disks.FINE * 1.1)
            opened = [line.get_xydata().tolist() for line in axes.lines if line.get_markerfacecolor() == "white"]
            self.assertIn([[0.71, pressure[4] + slope * 0.71]], opened)
            self.assertEqual(sum(map(len, opened)), 1)
            self.assertIn("not trusted", [text.get_text() for text in axes.get_legend().get_texts()])
            self.assertEqual([line.endswith(", not trusted") for line in lines[:9]], [x == 0.71 for x in fraction])


class Export(Tools):
    @unittest.skipIf(HAS_GSD, "the package gsd is installed")
    def test_without_the_package(self):
        self.assertIn("pip install gsd", self.tool("export-gsd", self.file, code=1).stderr)
        self.assertFalse(self.path("disks.gsd").exists())

    @unittest.skipUnless(HAS_GSD, "needs the package gsd")
    def test_read_back(self):
        import gsd.hoomd
        self.tool("export-gsd", self.file, "--replica", "1")
        disks = hard_disks.read(self.file)
        with gsd.hoomd.open(str(self.path("disks.gsd"))) as frames:
            self.assertEqual([frame.configuration.step for frame in frames], [200, 400])
            for t, frame in enumerate(frames):
                box, positions = disks.box[t, 1], disks.positions[t, 1]
                np.testing.assert_allclose(frame.configuration.box, [*box, 0, 0, 0, 0], rtol=1e-7)
                self.assertEqual((frame.configuration.dimensions, frame.particles.N), (2, 216))
                self.assertEqual(frame.particles.position.dtype, np.float32)
                np.testing.assert_allclose(frame.particles.position[:, :2], positions - box / 2, atol=1e-6)
                half = frame.configuration.box[:2] / 2
                self.assertTrue((frame.particles.position[:, :2] >= -half).all() and (frame.particles.position[:, :2] < half).all())
                self.assertTrue((frame.particles.position[:, 2] == 0).all())
                self.assertTrue((frame.particles.diameter == 1).all())
                self.assertEqual(frame.particles.type_shapes, [{"type": "Sphere", "diameter": 1.0}])

    @unittest.skipUnless(HAS_GSD, "needs the package gsd")
    def test_one_frame(self):
        self.tool("export-gsd", self.file, "--sweep", "400", "-o", "last.gsd")
        self.assertTrue(self.path("last.gsd").exists())

    def test_places_are_in_the_box(self):
        """In single precision as well, at both of its ends and in its middle; control: plain differences are not."""
        outside = 0
        for box in np.random.default_rng(20131412).uniform(2, 3e4, (200, 2)):
            box = np.rint(box * 2**23) / 2**23
            places = np.concatenate([np.arange(20), np.arange(-20, 0) + box[:1] * 2**23, np.rint(box[:1] * 2**22) + np.arange(2)]) / 2**23
            places = np.stack([places, np.clip(places / box[0] * box[1], 0, box[1] - 2**-23)], axis=1)
            found, half = hard_disks.centred(places, box), np.float32(box) / 2
            self.assertEqual(found.dtype, np.float32)
            self.assertTrue((found >= -half).all() and (found < half).all())
            away = found - (places - box / 2)
            self.assertLess(np.abs(away - box * np.rint(away / box)).max(), 1e-7 * box.max())
            outside += int((np.float32(places - box / 2) >= half).sum())
        self.assertGreater(outside, 1000)

    def test_mistakes(self):
        self.assertIn("no replica 2; replicas are numbered 0 to 1", self.tool("export-gsd", self.file, "--replica", "2", code=1).stderr)
        self.assertIn("absent.h5", self.tool("export-gsd", "absent.h5", code=1).stderr)


class Pictures(Tools):
    def test_bond_order(self):
        shown = self.tool("plot", "--bond-order", self.file, self.file, "-o", "order.png")
        self.assertRegex(shown.stdout, r"disks.h5: sweep 400, replica 0: \|psi_6\| = 0\.\d{4} of all disks, 0\.\d{4} locally\n")
        self.assertEqual(self.path("order.png").read_bytes()[:4], b"\x89PNG")

    def test_equation_of_state(self):
        self.gpumc("run", "c.yaml", "--set", "model.packing_fraction=0.6", "-o", "other.h5")
        shown = self.tool("plot", "--equation-of-state", self.file, "other.h5", "-o", "eos.png")
        self.assertRegex(shown.stdout, r"N = 216, phi = 0\.6: P\* = \d\.\d+\([0-9.]+\), not trusted\nN = 216, phi = 0\.7: P\* = ")
        self.assertEqual(self.path("eos.png").read_bytes()[:4], b"\x89PNG")

    def test_without_an_option(self):
        """Single numbers are no curves: what can be drawn instead is named."""
        said = self.tool("plot", self.file, code=1).stderr
        for words in "only single numbers, which 'gpumc info' prints", "--bond-order", "--equation-of-state":
            self.assertIn(words, said)
        self.assertNotIn("of runs with algorithm.configurations", said)
        self.gpumc("run", self.write("n.yaml", CONFIG.format(more="", output="none.h5")))
        self.assertIn("of runs with algorithm.configurations", self.tool("plot", "none.h5", code=1).stderr)

    def test_others_are_refused(self):
        self.gpumc("run", self.write("i.yaml", "gpumc: 1\nseed: 1\nmodel: {name: ising2d, shape: [4, 4]}\n"
                                     "algorithm: {name: canonical, beta: {values: [0.3]}, thermalization: 10, sweeps: 200}\n"
                                     "output: ising.h5\n"))
        for option, says in ("--bond-order", "no hard disks"), ("--equation-of-state", "requires results of hard disks"):
            self.assertIn(says, self.tool("plot", option, "ising.h5", code=1).stderr)


if __name__ == "__main__":
    device.require()
    cases.main()
