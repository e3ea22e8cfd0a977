"""docs/examples/signac: state points as runs. Skipped where signac is not installed (it is in no package of Debian;
pip has it)."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.device import PROGRAM, ROOT
from support.gpumc_program import resolved, summary
from support.program import SMALL, ProgramCase


class Signac(ProgramCase):
    def project(self, *words):
        done = subprocess.run([sys.executable, ROOT / "docs/examples/signac/project.py", *words], check=False,
                              cwd=self.directory, capture_output=True, text=True, timeout=300,
                              env={**os.environ, "GPUMC_PROGRAM": str(PROGRAM)})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_state_point_is_run(self):
        self.write("base.yaml", SMALL)
        self.project("init")
        jobs = sorted(self.path("workspace").iterdir())
        self.assertEqual(len(jobs), 4)
        self.project("run", jobs[0].name)
        self.assertEqual([(job / "result.h5").exists() for job in jobs], [True, False, False, False])
        self.project("run")
        self.project("collect")
        for job in jobs:
            point = json.loads((job / "signac_statepoint.json").read_text())
            document = json.loads((job / "signac_job_document.json").read_text())
            config = resolved(job / "result.h5")
            self.assertEqual([config["seed"], config["model"]["shape"]], [point["seed"], point["model"]["shape"]])
            self.assertEqual(document["energy"], summary(job / "result.h5")["energy"][-1])


if __name__ == "__main__":
    if importlib.util.find_spec("signac") is None:
        print("skipped: signac is not installed")
        sys.exit(77)
    unittest.main()
