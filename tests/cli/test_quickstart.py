"""tools/quickstart waits for another apt, and tools/gpumc-python and the tools find a Python with their modules.

CTest: first
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A function of tools/quickstart, with an apt-get that is locked out twice.
WAITING = r"""
set -euo pipefail
source <(sed -n '/^say()/p; /^apt_update()/,/^}/p' tools/quickstart)
apt_wait=%s apt_pause=0.1
locked() {
  echo x >> "$COUNT"
  if [ "$(wc -l < "$COUNT")" -le 2 ]; then
    echo "%s" >&2
    return 100
  fi
  echo "Reading package lists..."
}
apt_update locked
"""
LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4242 (apt-get)"


class Files(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def put(self, name, text, mode=0o755):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path


class Apt(Files):
    def update(self, wait, message):
        environment = dict(os.environ, COUNT=str(self.folder / "count"))
        done = subprocess.run(["bash", "-c", WAITING % (wait, message)], capture_output=True, text=True,
                              cwd=ROOT, env=environment)
        return done, len((self.folder / "count").read_text().split())

    def test_waits_for_the_lock_and_says_so(self):
        done, calls = self.update(60, LOCKED)
        self.assertEqual((done.returncode, calls), (0, 3), done.stderr)
        self.assertEqual(done.stderr.count("Another apt is running; waiting up to"), 1)

    def test_not_for_ever(self):
        done, calls = self.update(0, LOCKED)
        self.assertEqual((done.returncode, calls), (100, 1), done.stderr)

    def test_other_errors_are_told_at_once(self):
        done, calls = self.update(60, "E: Unable to locate package")
        self.assertEqual((done.returncode, calls), (100, 1), done.stderr)
        self.assertIn("Unable to locate", done.stderr)


class Interpreters(Files):
    """With a `python3` first in PATH that has no modules but its own."""

    def setUp(self):
        super().setUp()
        self.put("python3", f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        self.environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}",
                                GPUMC_PYTHON=sys.executable)
        self.environment.pop("PYTHONPATH", None)

    def run_tool(self, *arguments):
        return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, cwd=self.folder,
                              env=self.environment)

    def test_the_control_has_no_modules(self):
        self.assertNotEqual(self.run_tool("python3", "-c", "import numpy").returncode, 0)

    def test_gpumc_python(self):
        script = self.put("look.py", "import sys, gpumc\nprint(gpumc.__name__, sys.argv[1:])\n")
        done = self.run_tool(ROOT / "tools" / "gpumc-python", script, "a b")
        self.assertEqual(done.stdout, "gpumc ['a b']\n", done.stderr)

    def test_tools_go_on_in_another_python(self):
        for name in ("plot", "compare-papers", "time-pa"):
            done = self.run_tool("python3", ROOT / "tools" / name, "--help")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("usage:", done.stdout)

    def test_none_has_them(self):
        only = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); import interpreter; "
        done = self.run_tool("python3", "-c", only + "interpreter.need('no_such_module')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("lacks no_such_module", done.stderr)
        self.assertIn("tools/quickstart install --tests", done.stderr)


if __name__ == "__main__":
    unittest.main()
