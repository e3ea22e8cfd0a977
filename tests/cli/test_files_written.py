"""Files that commands and tools write for their user: a name that is taken is left alone, by links too, what the same
command wrote is replaced, and a full disk leaves nothing.

CTest: methods 5 s
"""
import contextlib
import io
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools/python")]
import gpumc  # noqa: E402
from gpumc import plot, report, written  # noqa: E402
from gpumc.analysis import critical  # noqa: E402
from gpumc.plot.main import main as plot_main  # noqa: E402
from support.device import PROGRAM  # noqa: E402
from support import cases, simulated_sizes  # noqa: E402
from support.program import FAILURE, SMALL, ProgramCase  # noqa: E402

# Commands of the program that write `made`, as the last words.
COMMANDS = {
    "bash": (["completion", "bash", "-o", "made"], True), "zsh": (["completion", "zsh", "-o", "made"], True),
    "fish": (["completion", "fish", "-o", "made"], True), "init": (["init", "ising2d", "pa", "-o", "made"], False),
}
PAGES = ["man", "-d", "pages"]
MINE = "# mine\n"
QUICK = {"report": ("--no-figures",), "plot": ("--quantities", "energy")}


def full_after(most):
    """For a process whose files may have at most so many bytes, as on a disk that is full then."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    return limit


class OfTheProgram(ProgramCase):
    def all_files(self):
        return {str(path.relative_to(self.directory)): path.read_bytes() for path in self.directory.rglob("*") if path.is_file()}

    def refused(self, command, says):
        before = self.all_files()
        err = self.gpumc(*command, code=FAILURE, timeout=60).err
        self.assertIn(says, err)
        self.assertEqual(self.all_files(), before)

    def clear(self):
        for path in self.directory.iterdir():
            path.unlink()

    def test_files_of_others_stay(self):
        for name, (command, _) in COMMANDS.items():
            with self.subTest(name):
                self.clear()
                self.write("made", MINE)
                self.refused(command, "made: already exists")
                self.write("target", MINE)
                self.path("made").unlink()
                os.symlink("target", self.path("made"))
                self.refused(command, "made: is a symbolic link, so it was left alone")
                self.path("target").unlink()
                self.refused(command, "made: is a symbolic link, so it was left alone")
                self.path("made").unlink()
                os.mkfifo(self.path("made"))
                self.refused(command, "made: not a regular file but a FIFO")

    def test_what_a_command_wrote_is_replaced(self):
        for name, (command, own) in COMMANDS.items():
            with self.subTest(name):
                self.clear()
                self.gpumc(*command)
                content = self.path("made").read_text()
                if not own:
                    self.refused(command, "made: already exists")
                    continue
                self.path("made").write_text(content[:300])  # of another version
                self.gpumc(*command)
                self.assertEqual(self.path("made").read_text(), content)

    def test_a_full_disk_leaves_nothing(self):
        for name, (command, own) in COMMANDS.items():
            for most in 0, 1000:
                with self.subTest(name, most=most):
                    self.clear()
                    if own:
                        self.gpumc(*command)
                    before = self.all_files()
                    err = self.gpumc(*command, code=FAILURE, preexec_fn=full_after(most)).err
                    self.assertIn("made: File too large", err)
                    self.assertEqual(self.all_files(), before)

    def test_pages_of_others_stay(self):
        """All pages or none."""
        self.write("pages/man1/gpumc-run.1", ".TH GPUMC-RUN 1\n.SH NAME\nby someone else\n")
        self.refused(PAGES, "gpumc-run.1: already exists")
        self.path("pages/man1/gpumc-run.1").unlink()
        self.write("target", MINE)
        os.symlink("../../target", self.path("pages/man1/gpumc-status.1"))
        self.refused(PAGES, "gpumc-status.1: is a symbolic link")
        self.path("pages/man1/gpumc-status.1").unlink()
        self.gpumc(*PAGES)
        pages = self.all_files()
        self.gpumc(*PAGES)
        self.assertEqual(self.all_files(), pages)
        self.assertIn("File too large", self.gpumc(*PAGES, code=FAILURE, preexec_fn=full_after(3000)).err)
        self.assertEqual(self.all_files(), pages)

    def test_no_pages_on_a_full_disk(self):
        self.gpumc(*PAGES, code=FAILURE, preexec_fn=full_after(3000))
        self.assertEqual(self.all_files(), {})

    def test_tables(self):
        self.gpumc("run", self.write("c.yaml", SMALL), "--quiet")
        export = ["export", "small.h5", "-o", "out"]
        self.gpumc(*export, code=FAILURE, preexec_fn=full_after(100))
        self.assertFalse(self.path("out").exists())
        self.write("out/summary.csv", MINE)
        self.refused(export, "out/summary.csv: already exists")
        self.gpumc(*export, "--fresh")
        before = self.all_files()
        self.gpumc(*export, "--fresh", code=FAILURE, preexec_fn=full_after(100))
        self.assertEqual(self.all_files(), before)


class OfTheTools(ProgramCase):
    """Pages, pictures and numbers of the Python tools."""

    def setUp(self):
        super().setUp()
        subprocess.run([PROGRAM, "run", self.write("c.yaml", SMALL), "--quiet", "--device", "cpu"], cwd=self.directory, check=True)
        self.result = self.path("small.h5")

    def quick(self, name, *words, code=0):
        """A tool in this process, with little to draw."""
        words += QUICK.get(name, ())
        with contextlib.chdir(self.directory), contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual({"report": report.main, "plot": plot_main, "critical": critical.main}[name]([str(word) for word in words]), code)
        return err.getvalue()

    def tool(self, name, *words, code=0, **options):
        process = subprocess.run([sys.executable, ROOT / "tools" / name, *map(str, words), *QUICK[name]], capture_output=True, text=True,
                                 cwd=self.directory, **options)
        self.assertEqual(process.returncode, code, process.stdout + process.stderr)
        return process.stderr

    def test_files_of_others_stay(self):
        for tool, name in (("report", "x.html"), ("plot", "x.png")):
            with self.subTest(name):
                for content in MINE, "<!DOCTYPE html>\n<p>of another program</p>", "<?xml version='1.0'?><svg/>":
                    self.write(name, content)
                    err = self.quick(tool, self.result, "-o", name, code=1)
                    self.assertIn(f"{name}: already exists and was not written by this program, so it was left alone", err)
                    self.assertIn("choose another name with -o", err)
                    self.assertEqual(self.path(name).read_text(), content)
                os.replace(self.path(name), self.path("target"))
                os.symlink("target", self.path(name))
                self.assertIn("is a symbolic link", self.quick(tool, self.result, "-o", name, code=1))
                self.assertEqual(self.path("target").read_text(), content)
                self.path(name).unlink()
                self.quick(tool, self.result, "-o", name)
                self.quick(tool, self.result, "-o", name)
                self.assertEqual(self.names("*.new"), [])

    def test_a_full_disk_leaves_nothing(self):
        for tool, name in (("report", "x.html"), ("plot", "x.png")):
            with self.subTest(name):
                err = self.tool(tool, self.result, "-o", name, code=1, preexec_fn=full_after(2000))
                self.assertIn(f"{name}: File too large", err)
                self.assertNotIn(".new", err)
                self.assertEqual(self.names("x*"), [])

    def test_a_folder_that_is_not_there(self):
        for tool in "report", "plot":
            err = self.quick(tool, self.result, "-o", "absent/x.png", code=1)
            self.assertIn("absent/x.png: No such file or directory", err)
            self.assertNotIn(".new", err)

    def test_pictures_know_their_own(self):
        for suffix in "png", "svg", "pdf", "eps":
            with self.subTest(suffix):
                figure = plot.draw("summary", gpumc.read(self.result), quantities=["energy"])
                for _ in range(2):
                    plot.save(figure, self.path(f"x.{suffix}"))

    def test_numbers_of_the_critical_point(self):
        self.write("x.json", MINE)
        for option in "--json", "-o":
            self.assertIn("x.json: already exists", self.quick("critical", self.result, option, "x.json", code=1))
        self.assertEqual(self.path("x.json").read_text(), MINE)

    def test_numbers_of_the_critical_point_are_replaced(self):
        """By the same version, and those of earlier ones, which began with doubts or T_c. Control: JSON of other programs, which begins in the same way."""
        found = critical.critical_point(simulated_sizes.sizes(1), replicates=20)
        path = self.path("x.json")
        with mock.patch.object(critical, "critical_point", return_value=found):
            for doubts in (), found.doubts:
                object.__setattr__(found, "doubts", doubts)
                for _ in range(2):
                    self.quick("critical", self.result, "--json", "x.json")
                text = path.read_text()
                marked = json.loads(text)
                self.assertRegex(marked.pop("written_by"), r"^gpumc-critical \d")
                self.assertEqual(list(marked)[0], "doubts")
                t_c_first = {**{name: marked[name] for name in ("t_c", "beta_c")}, **marked}
                for earlier in marked, t_c_first:
                    self.write("x.json", json.dumps(earlier, indent=1) + "\n")
                    self.quick("critical", self.result, "--json", "x.json")
                    self.assertEqual(path.read_text(), text)
            for other in {"doubts": []}, {"t_c": {"value": 2.3}}, {"written_by": "another program", **marked}:
                self.write("x.json", json.dumps(other, indent=1) + "\n")
                self.assertIn("x.json: already exists", self.quick("critical", self.result, "--json", "x.json", code=1))

    def test_names_taken_meanwhile_and_interrupts(self):
        with self.assertRaises(written.Taken), written.whole(self.path("x")) as name:
            pathlib.Path(name).write_text("ours")
            self.write("x", MINE)
        with self.assertRaises(KeyboardInterrupt), written.whole(self.path("y")) as name:
            raise KeyboardInterrupt
        self.assertEqual(self.path("x").read_text(), MINE)
        self.assertEqual(self.names("[xy]*"), ["x"])

    def test_pages_of_earlier_versions_are_replaced(self):
        """Which have the same generator, and the remainder in other words."""
        self.write("page.html", '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, '
                   'initial-scale=1">\n<meta name="generator" content="gpumc-report">\n<title>t</title>\n</head>\n<body></body>\n</html>\n')
        self.quick("report", self.result, "-o", "page.html")
        self.assertIn("small", self.path("page.html").read_text())

    def test_a_page_by_python(self):
        self.write("page.html", MINE)
        with self.assertRaises(written.Taken):
            report.write([self.result], self.path("page.html"))


if __name__ == "__main__":
    cases.main()
