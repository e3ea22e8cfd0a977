"""docs/examples/snakemake: the tasks of a campaign as jobs of Snakemake. Skipped where it is not installed."""
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.device import PROGRAM, ROOT
from support.program import CAMPAIGN, STOPPED, ProgramCase


class Snakemake(ProgramCase):
    def snakemake(self, *words):
        done = subprocess.run(["snakemake", "--cores", "2", "--snakefile", ROOT / "docs/examples/snakemake/Snakefile",
                               "--config", "campaign=my campaign.yaml", f"gpumc={PROGRAM}", *words], check=False,
                              cwd=self.directory, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_every_task_is_run_once_and_continued_where_it_was_stopped(self):
        config = self.write("my campaign.yaml", CAMPAIGN)
        self.gpumc("run", config, "--task", 0)
        finished = self.path("out/1.h5").stat().st_mtime_ns
        self.gpumc("run", config, "--task", 1, "--max-time", "1 ms", code=STOPPED)
        self.assertIn("out/3.h5", self.snakemake("--dry-run"))
        self.snakemake()
        self.assertEqual(self.names("out/*"), ["out/1.h5", "out/2.h5", "out/3.h5"])
        self.assertEqual(self.path("out/1.h5").stat().st_mtime_ns, finished)
        self.assertIn("Nothing to be done", self.snakemake())


if __name__ == "__main__":
    if shutil.which("snakemake") is None:
        print("skipped: snakemake is not installed")
        sys.exit(77)
    unittest.main()
