#!/usr/bin/env python3
"""A data space of signac whose jobs are runs of gpumc.

    project.py init       a job for each state point below
    project.py run        run, or continue, what is not done
    project.py collect    averages into the documents of the jobs

A state point has keys of the configuration, nested as there; base.yaml has all others. The result of a job is
result.h5 in its folder. In jobs of a cluster, `project.py run ID...` works on some of them.
"""
import os
import subprocess
import sys

import h5py
import signac

GPUMC = os.environ.get("GPUMC_PROGRAM", "gpumc")
STATE_POINTS = [{"model": {"shape": [size, size]}, "seed": seed} for size in (8, 16) for seed in (1, 2)]


def assignments(keys, prefix=""):
    """The state point as KEY=VALUE; flow style of YAML is that of Python for numbers and lists of them."""
    for name, value in keys.items():
        if hasattr(value, "items"):
            yield from assignments(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}={value}"


def run(job):
    """Whether the job is done; false: it was stopped, and the next call continues it."""
    settings = [word for text in assignments(job.statepoint()) for word in ("--set", text)]
    words = [GPUMC, "run", os.path.join(job.project.path, "base.yaml"), *settings, "-o", job.fn("result.h5"), "--quiet"]
    code = subprocess.run(words, check=False).returncode
    if code not in (0, 75):
        sys.exit(f"{job.id}: gpumc exited with code {code}")
    return code == 0


def collect(job):
    with h5py.File(job.fn("result.h5")) as result:
        job.document["energy"] = float(result["summary/energy"][-1])
        job.document["energy_error"] = float(result["summary/energy_error"][-1])


def main(command, *ids):
    project = signac.init_project()
    if command == "init":
        for state_point in STATE_POINTS:
            project.open_job(state_point).init()
        return
    for job in [project.open_job(id=number) for number in ids] or project:
        if command == "run":
            run(job)
        elif job.isfile("result.h5"):
            collect(job)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("init", "run", "collect"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
