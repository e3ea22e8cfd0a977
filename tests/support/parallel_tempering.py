"""Parallel tempering of ising2d, as several tests run it."""
import os

from support import gpumc_program as gpumc

BETAS = [0.30, 0.36, 0.40, 0.44, 0.48, 0.54]

CONFIG = """\
gpumc: 1
seed: 20260301
model: {{name: ising2d, shape: [{side}, {side}]}}
algorithm: {{name: pt, beta: {{values: {betas}}}, {more}}}
output: "{folder}/{{seed}}.h5"
campaign: {{seed: [{seeds}]}}
"""


def run(seeds=(1,), side=8, betas=BETAS, **keys):
    """Returns the summaries of one run per seed."""
    more = ", ".join(f"{name}: {value}" for name, value in keys.items())
    with gpumc.folder() as folder:
        gpumc.run_config(CONFIG.format(folder=folder, side=side, betas=betas, more=more,
                                       seeds=", ".join(map(str, seeds))), folder)
        return [gpumc.summary(os.path.join(folder, f"{seed}.h5")) for seed in seeds]
