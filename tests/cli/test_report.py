"""gpumc-report: what stands on the page, and how a browser shows it (headless Chromium, where there is one).

CTest: release (a tool of Python alone, cli_test_reports), cases 4 s
"""
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
import gpumc  # noqa: E402
from gpumc import report, written  # noqa: E402
from gpumc.report import bibliography  # noqa: E402
from support import cases  # noqa: E402
from support.program import ProgramCase  # noqa: E402

PHONE, DESKTOP = 390, 1200  # pixels
LOOK = """<script>addEventListener("load", () => setTimeout(() => {
  const images = [...document.images], body = document.body;
  body.style.width = "WIDTHpx";
  document.documentElement.setAttribute("data-look", JSON.stringify({
    images: images.length, shown: images.filter(one => one.complete && one.naturalWidth > 0).length,
    named: images.filter(one => one.alt).length,
    overflow: body.scrollWidth - body.clientWidth,
    smallest: Math.min(...[...document.querySelectorAll("p, td, figcaption")].map(one => parseFloat(getComputedStyle(one).fontSize)))}));
}, 300));</script>"""

SMALL = {
    "pa": "model: {name: ising2d, shape: [8, 8]}\n"
          "algorithm: {name: pa, population: 300, runs: 2, sweeps: 2, beta: {to: 0.5, step: 0.01}, configurations: {every: 25}}\n",
    "disks": "model: {name: hard_disks, lattice: [8, 8], packing_fraction: 0.7}\n"
             "algorithm: {name: mpmc, replicas: 2, sweeps: 400, thermalization: 50, configurations: {every: 200}}\n",
    "muca": "model: {name: ising2d, shape: [4, 4]}\nalgorithm: {name: muca, walkers: 64, beta: {from: 0, to: 1, step: 0.1}}\n",
    "pt": "model: {name: ea, shape: [4, 4, 4], couplings: bimodal, disorder_seed: 1}\n"
          "algorithm: {name: pt, beta: {from: 0.5, to: 1.25, count: 5}, samples: 8, replicas: 2, sweeps: 512, exchange_every: 8}\n",
}


_holder = tempfile.TemporaryDirectory(prefix="gpumc-test-")
FOLDER = pathlib.Path(_holder.name)
_pages = {}


class ReportCase(ProgramCase):
    """Results and pages are made once."""

    def result(self, name, seed=1):
        """The path of a small result."""
        path = FOLDER / f"{name}-{seed}.h5"
        if not path.exists():
            self.write("c.yaml", f"gpumc: 1\ntitle: A small run of {name}\nseed: {seed}\n{SMALL[name]}output: {path}\n")
            self.gpumc("run", "c.yaml", "--quiet", "--device", "cpu")
        return path

    def page(self, *results, **options):
        made = str((results, options))
        if made not in _pages:
            report.write(list(results), self.path("report.html"), **options)
            _pages[made] = self.path("report.html").read_text()
        self.path("report.html").write_text(_pages[made])
        return _pages[made]


class Page(ReportCase):
    def assert_on(self, page, *texts):
        """Without the whole page in the message."""
        for text in texts:
            self.assertTrue(text in page, f"{text!r} is not on the page")

    def test_what_stands_on_it(self):
        path = self.result("pa")
        result, page = gpumc.read(path), self.page(self.result("pa"))
        self.assert_on(page, "<h1>A small run of pa</h1>")
        self.assert_on(page, "Not trusted")  # of so few replicas
        self.assert_on(page, gpumc.printable(result.remarks["warning"])[1:60])
        self.assert_on(page, "population: 300")  # the configuration as it was written
        self.assert_on(page, "beta 0 to 0.5")
        for name in ("git_commit", "compiler", "command_line"):
            self.assert_on(page, name)
        self.assert_on(page, "doi.org/10.1016/j.cpc.2017.06.020")
        self.assert_on(page, "M. Borovsk\u00fd")
        energy = gpumc.measured.text(result.summary["energy"][-1], result.summary["energy_error"][-1])
        self.assert_on(page, f">{energy}<")
        self.assertEqual(page.count("<tr><td class=\"number\">0.5</td>"), 2)  # a row of each table

    def test_signs_are_printed(self):
        self.assertEqual(report.page.prose("3D +-J glass"), "3D \u00b1J glass")

    def test_nothing_comes_from_elsewhere(self):
        page = self.page(self.result("pa"))
        sources = re.findall(r'(?:src|href)="([^"]*)"', page)
        self.assertTrue(sources)
        for source in sources:
            self.assertRegex(source, r"^(data:|https://doi\.org/|#)")
        self.assertFalse("<script" in page)
        self.assertIsNone(re.search(r"@import|url\(", page))

    def test_the_csv_has_every_number(self):
        path = self.result("pa")
        link = re.search(r'download="beta.csv" href="data:text/csv;base64,([^"]*)"', self.page(path)).group(1)
        lines = base64.b64decode(link).decode().split("\r\n")
        names = lines[0].split(",")
        rows = [[float(cell) for cell in line.split(",")] for line in lines[1:] if line]
        summary = gpumc.read(path).summary
        for name, column in zip(names, zip(*rows)):
            self.assertEqual(list(summary[name]), list(column), name)

    def test_texts_of_files_are_escaped(self):
        self.write("c.yaml", "gpumc: 1\ntitle: '<script>alert(1)</script> & \"more\"'\nseed: 1\n" + SMALL["muca"] + "output: t.h5\n")
        self.gpumc("run", "c.yaml", "--quiet", "--device", "cpu")
        page = self.page(self.path("t.h5"))
        self.assertFalse("<script" in page)
        self.assert_on(page, "&lt;script&gt;alert(1)")

    def test_every_algorithm(self):
        for name in SMALL:
            with self.subTest(name):
                page = self.page(self.result(name))
                self.assertTrue(re.search(r"Trusted|Not trusted", page))
                self.assertGreaterEqual(page.count("<figure>"), 1)
                self.assert_on(page, "Please cite")

    def test_pictures_are_svg(self):
        page = self.page(self.result("muca"))
        pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', page)
        self.assertGreater(len(pictures), 3)
        for picture in pictures:
            self.assertEqual(xml.dom.minidom.parseString(base64.b64decode(picture)).documentElement.tagName, "svg")

    def test_several_results(self):
        page = self.page(self.result("pa"), self.result("pa", seed=2), title="Two seeds")
        self.assert_on(page, "<h1>Two seeds</h1>")
        self.assert_on(page, "2 results: 0 trusted, 2 not trusted")
        for number in (1, 2):
            self.assert_on(page, f'href="#result-{number}"', f'id="result-{number}"')
        self.assert_on(page, "All results together")
        self.assertEqual(page.count("10.1016/j.cpc.2017.06.020</a>"), 1)  # cited once

    def test_sizes_that_make_no_common_picture(self):
        self.write("c.yaml", f"gpumc: 1\nseed: 1\n{SMALL['muca'].replace('[4, 4]', '[4, 6]')}output: other.h5\n")
        self.gpumc("run", "c.yaml", "--quiet", "--device", "cpu")
        self.assert_on(self.page(self.result("muca"), self.path("other.h5")), "2 results")

    def test_results_are_never_overwritten(self):
        path = self.result("muca")
        before = path.read_bytes()
        for output in (path, self.write("notes.txt", "mine"), self.directory):
            with self.assertRaisesRegex(written.Taken, "was left alone"):
                report.write([path], output)
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(self.names("*.new"), [])
        page = self.path("page.html")
        report.write([path], page, figures=False)
        report.write([path], page, figures=False)  # a page of before is replaced

    def test_reweighted_curves_have_a_table(self):
        self.write("c.yaml", f"gpumc: 1\nseed: 1\n{SMALL['pa'].replace('runs: 2', 'runs: 2, reweight: {from: 0.1, to: 0.4, step: 0.1}')}"
                             "output: r.h5\n")
        self.gpumc("run", "c.yaml", "--quiet", "--device", "cpu")
        page = self.page(self.path("r.h5"), figures=False)
        self.assert_on(page, "reweighted: energy per site", 'download="reweighted-beta.csv"', 'download="reweighted-level_energy.csv"')

    def test_a_run_that_is_not_finished(self):
        self.write("c.yaml", f"gpumc: 1\nseed: 1\n{SMALL['pt'].replace('sweeps: 512', 'sweeps: 67108864')}output: long.h5\n")
        self.gpumc("run", "c.yaml", "--quiet", "--device", "cpu", "--max-time", "2 s", code=75)
        page = self.page(self.path("long.h5.partial"))
        self.assert_on(page, "Not finished")
        self.assert_on(page, "<figure>")

    def test_the_program(self):
        done = subprocess.run([ROOT / "tools/report", self.result("muca"), "-o", self.path("sent.html")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, f"{self.path('sent.html')}\n"), done.stderr)
        done = subprocess.run([ROOT / "tools/report", self.path("none.h5")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^report: .*none.h5: No such file")
        self.assertFalse(self.path("none.html").exists())


class References(unittest.TestCase):
    def test_names_and_titles(self):
        entry, = bibliography.entries("@article{x,\n  author = {Borovsk{\\'y}, Michal and M{\\\"u}ller, J. K.},\n"
                                      "  title = {{GPU}s --- a {M}onte {C}arlo \\o},\n  pages = {1--2},\n  year = {2017}\n}\n")
        self.assertEqual(bibliography.authors(entry["author"]), "M. Borovsk\u00fd and J. K. M\u00fcller")
        self.assertEqual(entry["title"], "GPUs \u2014 a Monte Carlo \u00f8")
        self.assertEqual(entry["pages"], "1\u20132")


@unittest.skipUnless(shutil.which("chromium") or shutil.which("google-chrome"), "no Chromium")
class Browser(ReportCase):
    def browser(self, *arguments):
        program = shutil.which("chromium") or shutil.which("google-chrome")
        return subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                               f"--user-data-dir={self.path('profile')}", "--enable-logging=stderr", *map(str, arguments)],
                              capture_output=True, text=True, timeout=120)

    def look(self, page, width):
        """What a browser with a window of this width sees, and what it writes to its console."""
        self.path("looked.html").write_text(page.replace("</body>", LOOK.replace("WIDTH", str(width)) + "</body>"))
        done = self.browser(f"--window-size={width},900", "--virtual-time-budget=8000", "--dump-dom", self.path("looked.html").as_uri())
        found = re.search(r'data-look="([^"]*)"', done.stdout)
        self.assertIsNotNone(found, done.stderr[-2000:])
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return json.loads(found.group(1).replace("&quot;", '"')), console

    def test_pictures_are_shown_without_errors(self):
        page = self.page(self.result("pa"), self.result("disks"))
        for width in (PHONE, DESKTOP):
            seen, console = self.look(page, width)
            self.assertEqual(console, [])
            self.assertEqual((seen["shown"], seen["named"]), (seen["images"], seen["images"]))
            self.assertGreater(seen["images"], 8)
            self.assertLessEqual(seen["overflow"], 0)
            self.assertGreaterEqual(seen["smallest"], 12)

    def test_the_look_sees_what_is_wrong(self):
        """Control: a picture that is damaged, an error of a script, and a line that is wider than a phone."""
        page = self.page(self.result("muca"))
        page = page.replace("data:image/svg+xml;base64,", "data:image/svg+xml;base64,AAAA", 1)
        page = page.replace("</h1>", "</h1><div style='width: 900px'>wide</div><script>nothing()</script>", 1)
        seen, console = self.look(page, PHONE)
        self.assertEqual(seen["shown"], seen["images"] - 1)
        self.assertGreater(seen["overflow"], 0)
        self.assertTrue(console)

    def test_on_paper(self):
        self.page(self.result("pa"))
        self.browser("--no-pdf-header-footer", f"--print-to-pdf={self.path('report.pdf')}", self.path("report.html").as_uri())
        pdf = self.path("report.pdf").read_bytes()
        self.assertTrue(pdf.startswith(b"%PDF"))
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        self.assertTrue(2 <= pages <= 8, pages)


if __name__ == "__main__":
    cases.main()
