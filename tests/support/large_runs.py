"""Runs of pa that are each a batch of their own on one process because of their bytes, and yet anneal in a fraction of
a second."""
TEXT = """\
gpumc: 1
seed: 5
model: {{name: heisenberg, shape: [16, 16, 16]}}
algorithm: {{name: pa, population: 720, sweeps: 1, {beta}, runs: {runs}}}
output: run.h5
checkpoint: {{every: 10 min}}
"""


def large_runs(runs, beta="beta: {from: 0.0, to: 0.1, step: 0.02}"):
    return TEXT.format(runs=runs, beta=beta)
