"""Small jobs made from the configurations under configs/: same keys, smaller numbers."""
import yaml

# For shortened annealings: large enough that no single family takes over, or errors would be unknown.
POPULATION = 1000
PARTICLES = 100
LONG = 4000  # of thermalization, in sweeps


def shortened(config):
    """Returns --set options that turn it into a small job and change nothing else."""
    algorithm = config["algorithm"]
    if config["model"]["name"] == "hard_disks":
        changes = {"model.lattice": [8, 8]} if "lattice" in config["model"] else {"model.particles": PARTICLES}
    else:
        square = len(config["model"]["shape"]) == 2
        # A part or window of the energies has few levels in 4 x 4.
        parts = {"range", "windows"} & set(algorithm)
        changes = {"model.shape": shape(config, 8 if square and parts else 4)}
    if "population" in algorithm:
        changes["algorithm.population"] = POPULATION
    if algorithm["name"] in ("canonical", "mpmc"):
        changes.update(canonical(algorithm))
    elif algorithm["name"] == "pt":
        changes.update(parallel_tempering(algorithm))
    elif algorithm["name"] == "muca":
        changes.update({"algorithm.walkers": 64, "algorithm.production": {"updates": 20000, "measurements": 200},
                        "algorithm.iteration.maximum": 10})
        if "windows" in algorithm:
            changes["algorithm.windows.count"] = 2
        if "samples" in algorithm:
            changes["algorithm.samples"] = 8  # with fewer than 4 the errors are unknown
    elif "sweeps" in algorithm:
        changes["algorithm.sweeps"] = 2
    if "tile" in config.get("kernel", {}):
        changes["kernel.tile"] = 0
    if algorithm.get("runs", 1) > 2:
        changes["algorithm.runs"] = 2
    block = "control" if "control" in algorithm else "beta"
    moved = algorithm.get(block, {})
    if algorithm["name"] == "pa" and "step" in moved:
        reach = moved["to"] - moved.get("from", 0) * (block == "control")
        if config["model"]["name"] == "hard_disks":  # volumes are slow: later on, few families are left in such a small job
            reach /= 10
            changes[f"algorithm.{block}.to"] = moved["from"] + reach
        changes[f"algorithm.{block}.step"] = reach / 16
    if algorithm["name"] == "pa" and moved.get("thermalization", 0) > LONG:
        changes[f"algorithm.{block}.thermalization"] = 100
    if "overlap" in moved:
        changes[f"algorithm.{block}.overlap"] = 0.6
    if "campaign" in config:
        campaign = {key: values[:2] for key, values in config["campaign"].items()}
        if "model.shape" in campaign:
            campaign["model.shape"] = [shape(config, 4), shape(config, 8)]
        if "model.lattice" in campaign:
            campaign["model.lattice"] = [[8, 8], [16, 16]]
        if "model.particles" in campaign:
            campaign["model.particles"] = [PARTICLES, 4 * PARTICLES]
        if "algorithm.population" in campaign:
            campaign["algorithm.population"] = [POPULATION]
        for key in set(campaign) & set(changes):
            del changes[key]
        changes["campaign"] = campaign
    if "tile" in config.get("kernel", {}):
        changes["kernel.tile"] = 0
    texts = (yaml.safe_dump(value, default_flow_style=True, width=1000).split("\n...")[0].strip()
             for value in changes.values())
    return changes, [word for key, text in zip(changes, texts) for word in ("--set", f"{key}={text}")]


def shape(config, side):
    """For a small lattice; the packed kernel needs whole words in a row."""
    first = 64 if config.get("kernel", {}).get("variant") == "packed" else side
    return [first] + [side] * (len(config["model"]["shape"]) - 1)


def canonical(algorithm):
    """Long enough for errors: hundreds of measurements."""
    interval = min(algorithm.get("interval", 1), 10)
    changes = {"algorithm.thermalization": 100, "algorithm.sweeps": 400 * interval,
               "algorithm.interval": interval}
    if "samples" in algorithm:
        changes["algorithm.samples"] = 64
    if "every" in algorithm.get("configurations", {}):
        changes["algorithm.configurations.every"] = 100 * interval
    if "times" in algorithm.get("configurations", {}):
        changes["algorithm.configurations.times"] = [400 * interval]
    return changes


def parallel_tempering(algorithm):
    """Long enough for errors."""
    changes = {"algorithm.samples": 32, "algorithm.sweeps": 64 * algorithm["exchange_every"]}
    if "tune" in algorithm:
        changes["algorithm.tune.sweeps"] = 500
    if algorithm.get("thermalization", 0) > LONG:
        changes["algorithm.thermalization"] = 64 * algorithm["exchange_every"]
    return changes
