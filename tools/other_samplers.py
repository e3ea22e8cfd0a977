"""Runs mcising or peapods at the critical point of the square Ising model, in the Python that has them: called by
tools/effective-samples with a task in JSON, whose series of m^2 goes to a file and whose times to standard output.

    {"sampler": "mcising swendsen_wang", "length": 64, "interval": 1, "seconds": 10, "threads": 2, "start": "spins.npy", "series": "m2.npy"}
"""
import concurrent.futures
import importlib.metadata
import json
import math
import sys
import time
import warnings

import numpy as np

T_C = 2 / math.log(1 + math.sqrt(2))
LEAST, MOST = 4, 2_000_000  # measurements
WARM_UP = 20  # of peapods, whose spins cannot be set, in sweeps; single flips have their own


def main():
    task = json.loads(sys.argv[1])
    program, move = task["sampler"].split()
    series, sweeps, seconds = {"mcising": mcising, "peapods": peapods}[program](task, move)
    np.save(task["series"], series)
    print(json.dumps({"sweeps": sweeps, "seconds": seconds, "version": importlib.metadata.version(program)}))


def timed(work):
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def planned(task, seconds, measurements):
    """How many measurements fill the time, if `measurements` took `seconds`."""
    return int(min(max(task["seconds"] * measurements / seconds, LEAST), MOST))


def mcising(task, move):
    """A lattice for each thread, from configurations in equilibrium. Series [measurement, chain]."""
    from mcising._core import IsingSimulation
    spins = np.load(task["start"])
    chains = []
    for chain in range(task["threads"]):
        chains.append(IsingSimulation(task["length"], 1.0, 0.0, 0.0, 0.0, 1 + chain, move, "square"))
        chains[-1].set_spins(spins[chain % len(spins)])
    with concurrent.futures.ThreadPoolExecutor(len(chains)) as pool:
        def run(measurements):
            return list(pool.map(lambda chain: chain.production_sweeps(measurements, task["interval"], temperature=T_C,
                                                                       store_configs=False)["magnetizations"], chains))

        measurements = planned(task, *pilot(run))
        series, seconds = timed(lambda: run(measurements))
    return np.array(series).T ** 2, measurements * task["interval"], seconds


def pilot(run):
    """(seconds, measurements) of a run long enough to be timed."""
    measurements = 2
    while True:
        _, seconds = timed(lambda: run(measurements))
        if seconds > 0.2 or measurements >= MOST:
            return seconds, measurements
        measurements *= 4


def peapods(task, move):
    """A replica for each thread; a cluster move follows each Metropolis sweep, which cannot be left out. One call is timed, and the
    series [measurement, 1], the mean of all replicas, is of calls of one sweep each, since there is no other."""
    from peapods import Ising
    warnings.simplefilter("ignore", RuntimeWarning)  # of averages that need several sweeps
    side = task["length"]
    model = Ising((side, side), temperatures=np.array([T_C]), n_replicas=task["threads"])
    clusters = {} if move == "metropolis" else {"cluster_update_interval": 1, "cluster_mode": {"swendsen_wang": "sw", "wolff": "wolff"}[move]}

    def run(sweeps):
        return model.sample(int(sweeps), "metropolis", warmup_ratio=0.0, **clusters)

    warm_up = WARM_UP if clusters else task["warm_up"]
    run(warm_up)
    sweeps = planned(task, *pilot(run))
    _, seconds = timed(lambda: run(sweeps))
    _, one = timed(lambda: run(1))
    series = [float(run(1)["mags2"][0]) for _ in range(planned(task, one, 1))]
    return np.array(series)[:, None], sweeps, seconds


if __name__ == "__main__":
    main()
