"""Configurations that take a second or two, including checkpoints, in which processes divide the work in all possible
ways."""
from support.program import LONG

# Runs of pa with histograms, where each process keeps those of its own runs until a checkpoint, and populations.
SECONDS = (LONG.replace("small.h5", "run.h5").replace("step: 0.0005", "step: 0.01")
           .replace("  runs: 2\n", "  runs: 2\n  configurations: {every: 20}\n  reweight: {from: 0.1, to: 0.4, step: 0.1}\n")
           + "checkpoint: {every: 100 ms}\n")
CHAINS = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [16, 16]}
algorithm: {name: canonical, beta: {from: 0.2, to: 0.5, count: 4}, thermalization: 1000, sweeps: 60000, replicas: 4}
output: run.h5
checkpoint: {every: 100 ms}
"""
# One value whose replicas are divided, and moves with steps whose proposals are counted.
DISKS = """\
gpumc: 1
seed: 5
model: {name: hard_disks, particles: 64, packing_fraction: 0.5}
algorithm: {name: mpmc, replicas: 9, thermalization: 2000, sweeps: 60000, interval: 50}
output: run.h5
checkpoint: {every: 100 ms}
"""
# Samples, in three groups, are divided among up to three processes, and temperatures among four. Units end within a
# bin.
TEMPERING = """\
gpumc: 1
seed: 5
model: {name: ea, shape: [16, 16, 16]}
algorithm: {name: pt, beta: {from: 0.3, to: 0.9, count: 6}, samples: 70, thermalization: 200, sweeps: 3200,
            exchange_every: 10, measure_every: 20, tune: {sweeps: 200, iterations: 2}}
output: run.h5
checkpoint: {every: 100 ms}
"""
# A run of pa whose places are divided, with histograms.
PLACES = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [32, 32]}
algorithm: {name: pa, population: 301, sweeps: 40, beta: {from: 0.0, to: 0.5, step: 0.002}, runs: 1, reweight: {from: 0.1, to: 0.4, step: 0.1},
  configurations: {every: 80}}
output: run.h5
checkpoint: {every: 100 ms}
"""
# Tables of two samples and two windows, in separate phases, started by Wang and Landau's scheme; and a production
# longer than everything before it, with jackknife parts that two processes share.
TABLES = """\
gpumc: 1
seed: 5
model: {name: ea, shape: [8, 8]}
algorithm:
  name: muca
  walkers: 250
  samples: 2
  range: {from: -1.0, to: 0.5}
  windows: {count: 2, overlap: 0.4}
  iteration: {divergence: 2.0e-3, start: wang_landau, write_weights: true}
  production: {updates: 1.0e+6}
output: run.h5
checkpoint: {every: 100 ms}
"""
PARTS = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [8, 8]}
algorithm:
  name: muca
  walkers: 4807
  iteration: {divergence: 1.0e-2}
  production: {updates: 3.0e+5}
output: run.h5
checkpoint: {every: 100 ms}
"""

ALL = {"pa": SECONDS, "pa_places": PLACES, "canonical": CHAINS, "mpmc": DISKS, "pt": TEMPERING, "muca": TABLES,
       "muca_parts": PARTS}
