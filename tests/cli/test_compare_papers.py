"""tools/compare-papers on the program, as far as small settings go.

CTest: validate (cli_test_configs)
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tools/python")]
import gpumc  # noqa: E402
from gpumc import hard_disks  # noqa: E402
import paper_figures  # noqa: E402
from gpumc import papers_published  # noqa: E402
from paper_figures import anderson2013, weigel2012  # noqa: E402
from support import cases, device  # noqa: E402
from support.program import PROGRAM, ProgramCase  # noqa: E402


class ComparePapers(ProgramCase):
    def compare(self, *arguments, code=0):
        environment = dict(os.environ, MPLCONFIGDIR=str(self.directory))
        words = [sys.executable, ROOT / "tools" / "compare-papers", "--quick", "--folder", "here",
                 "--device", device.NAME, "--program", PROGRAM, *arguments]
        process = subprocess.run(list(map(str, words)), capture_output=True, text=True,
                                 cwd=self.directory, env=environment)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process

    def assert_picture(self, paper, name="comparison.png"):
        picture = self.path(f"here/results/quick/{paper}/{name}")
        self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_annealing(self):
        shown = self.compare("barash2017", "--only", "example", "errors-spin", "errors-multispin",
                             "families", "resampling")
        self.assertRegex(shown.stdout, r"\nenergy, beta = 0\.4 +-[0-9.]+ \(exact\) +-[0-9.]+\([0-9.]+\)\n")
        self.assertRegex(shown.stdout, r"1 \(table 1\), L = 128 +[0-9.]+, L = 16\n")
        self.assertRegex(shown.stdout, r"population, systematic +- +0\.00 %")
        self.assert_picture("barash2017")
        again = self.compare("barash2017", "--only", "example", "errors-spin", "errors-multispin",
                             "families", "resampling", "--read")
        self.assertEqual(again.stdout, shown.stdout)

    def test_spin_glass_and_tempering(self):
        shown = self.compare("weigel2012", "--only", "spin-glass-times", "tempering-times")
        self.assertRegex(shown.stdout, r"samples = 128 +- +[0-9.]+ ps per flip")
        self.assertRegex(shown.stdout, r"exchange in 10 sweeps, L = 32 +- +[0-9.]+ ps per flip")
        self.assert_picture("weigel2012")

    def test_autocorrelation(self):
        names = [f"autocorrelation-k{hits}" for hits in (1, 10, 100)]
        shown = self.compare("weigel2012", "--only", *names)
        self.assertRegex(shown.stdout, r"energy, k = 1, beta = 0\.4 +- +[0-9.]+ sweeps\n")
        self.assertRegex(shown.stdout, r"k = 100, .* sweeps \(some series not converged\)\n")
        self.assert_picture("weigel2012")

    def test_generators(self):
        shown = self.compare("weigel2012", "--only", "table1")
        self.assertRegex(shown.stdout, r"lcg32, energy .* -1\.0944121\(14\) \(\+8259\.05\), L = 1024 .*, L = 32\n")
        self.assertRegex(shown.stdout, r"philox, specific_heat .* - +[0-9.]+\([0-9.]+\) \([+-]")

    def test_heisenberg(self):
        shown = self.compare("weigel2012", "--only", "heisenberg-times", "heisenberg-drift")
        self.assertRegex(shown.stdout, r"Metropolis, double, least +1940 ps per flip \(GTX 480\) +[0-9.e+]+ ps per flip\n")
        longest = {match[0]: float(match[1]) for match in
                   re.findall(r"\|, (\w+, \w+) +- +([0-9.e-]+) in 50000 sweeps", shown.stdout)}
        self.assertLess(max(longest[f"{move}, float"] for move in weigel2012.MOVES), 2e-6)
        self.assertLess(max(longest[f"{move}, double"] for move in weigel2012.MOVES), 1e-14)
        self.assert_picture("weigel2012")

    def test_multicanonical_convergence(self):
        """The reference stays on the CPU, and each campaign runs once though several panels read it."""
        shown = self.compare("gross2018", "--only", "convergence", "convergence-cpu")
        self.assertEqual(re.findall(r"gross2018, (\S+)", shown.stderr), ["convergence-cpu", "convergence"])
        self.assertRegex(shown.stdout, r"\niterations, L = 12, W = 24 +- +[0-9.]+\([0-9.]+\)\n")
        self.assertRegex(shown.stdout, r"time to converge, L = 8, best W +- +[0-9.]+\([0-9.]+\) s, W = ")
        self.assertRegex(shown.stdout, r"speedup in time, L = 12, largest median +25 ")
        self.assertRegex(shown.stdout, r"speedup in updates of a walker, L = 12, .* \([0-9.]+ to [0-9.]+\), W = ")
        for path in self.path("here/results/quick/gross2018/convergence-cpu").glob("*.h5"):
            self.assertEqual(gpumc.read(path).provenance["kernel_device"], "cpu")
        self.assert_picture("gross2018")

    def test_density_of_states(self):
        shown = self.compare("gross2018", "--only", "spin-flip-times", "density", "thermalization")
        self.assertRegex(shown.stdout, r"time per flip, L = 12, least +0\.16 .* ns, W = [0-9]+\n")
        self.assertRegex(shown.stdout, r"ground states, L = 16 +0\.6931 \(exact\) +0\.[0-9]+\([0-9]+\)\n")
        self.assertRegex(shown.stdout, r"iterations to cover the range, f = 30 +about 70, L = 32 +[0-9]+, L = 16\n")
        late = {float(factor): float(size) for factor, size in
                re.findall(r"iterations later and after, f = ([0-9.]+) .* ([0-9.e-]+)\n", shown.stdout)}
        self.assertGreater(late[1], 5 * late[30], "without thermalization weights do not oscillate")
        self.assert_picture("gross2018")

    def test_hard_disks(self):
        """A sweep makes at most 4 trials for each disk, and less than 4 as some disks share a cell."""
        shown = self.compare("anderson2013")
        self.assertEqual(re.findall(r"anderson2013, (\S+)", shown.stderr), ["equation-of-state", "disk-shuffling",
                                                                                 "trial-rates"])
        self.assertEqual(len(re.findall(r"P\*, N = 256, phi = 0\.[67]\d+ +- +[89]\.\d+\(\d+\)", shown.stdout)), 6)
        self.assertRegex(shown.stdout, r"minus P\* with it, phi = 0\.708 +0\.00546\(10\), N = 65536 +\S+, N = 256\n")
        self.assertRegex(shown.stdout, r"trial moves per second, N = 4096 +- +[0-9.]+e\+")
        paths = list(self.path("here/results/quick/anderson2013/trial-rates").glob("*.h5"))
        self.assertEqual(len(paths), 4)
        for path in paths:
            result = gpumc.read(path)
            algorithm = result.config["algorithm"]
            updates_of_disks = (algorithm["thermalization"] + algorithm["sweeps"]) * hard_disks.number_of(result)
            trials = anderson2013.trials_a_second(result) * result.provenance["seconds_sweep"] / updates_of_disks
            self.assertTrue(3.4 < trials < 4, f"{path}: {trials} trials for each disk in a sweep")
            self.assertFalse(3.4 < 3.4 * trials < 4, "trials that are counted twice would pass")
        self.assert_picture("anderson2013")

    def test_nothing_there(self):
        shown = self.compare("barash2017", "--only", "example", "--read", code=1)
        self.assertIn("no finished result", shown.stderr)

    def test_quick_results_are_apart(self):
        self.compare("barash2017", "--only", "families")
        self.assertEqual({path.name for path in self.path("here/results").iterdir()}, {"quick"})
        self.assertEqual({path.name for path in self.path("here/results/quick/barash2017").iterdir()},
                         {"families", "comparison.png"})


class Names(ProgramCase):
    def test_every_campaign_is_shown(self):
        for paper, panels in paper_figures.PANELS.items():
            configs = {path.stem for path in (ROOT / "configs" / "papers" / paper).glob("*.yaml")}
            self.assertEqual(configs, {name for names, _ in panels for name in names})
            self.assertIn(paper, papers_published.NOTES)

    def test_every_campaign_has_its_results_in_their_folder(self):
        """As --quick reads it from the text."""
        for config in sorted((ROOT / "configs" / "papers").glob("*/*.yaml")):
            self.assertRegex(config.read_text(), r"(?m)^output: results/papers/\S+$", config.name)


if __name__ == "__main__":
    device.require()
    cases.main()
