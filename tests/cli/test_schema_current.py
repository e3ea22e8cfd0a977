"""The committed schema and reference page are those of the program, and agree with the validator."""
import copy
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
import json
import yaml

PROGRAM = os.environ["GPUMC_PROGRAM"]
GOOD = {
    "gpumc": 1,
    "seed": 7,
    "model": {"name": "ising2d", "shape": [8, 8]},
    "algorithm": {"name": "pa", "population": 100, "beta": {"from": 0.0, "to": 1.0, "step": 0.1}},
    "output": "out.h5",
}
UNSET = object()

# (what is wrong, dotted path, value): both must reject it.
WRONG = [
    ("unknown key", "sede", 1),
    ("unknown key in a block", "algorithm.poulation", 5),
    ("wrong type", "seed", "seven"),
    ("no integer", "algorithm.population", 10.5),
    ("boolean for integer", "seed", True),
    ("text for a list", "model.shape", "8x8"),
    ("list too short", "model.shape", [8]),
    ("a value for a list of two", "model.shape", 8),
    ("list too long", "model.shape", [8, 8, 8]),
    ("below the range", "algorithm.population", 0),
    ("above the range", "seed", 2**48),
    ("no such choice", "rng", "mersenne"),
    ("wrong version", "gpumc", 2),
    ("missing key", "output", UNSET),
    ("missing key in a block", "algorithm.beta.to", UNSET),
    ("missing sweepable key", "model.shape", UNSET),
    ("missing block", "model", UNSET),
    ("unknown model", "model.name", "ising2e"),
    ("empty value", "title", None),
    ("number as title", "title", 2024),
    ("none of a group", "algorithm.beta.step", UNSET),
    ("two of a group", "algorithm.beta.overlap", 0.8),
    ("duration without unit", "checkpoint", {"every": 10}),
    ("bad duration", "checkpoint", {"every": "10 fortnights"}),
    ("zero duration", "checkpoint", {"every": "0 s"}),
    ("bad device", "kernel", {"device": "cuda:x"}),
    ("bad isa", "kernel", {"isa": "avx"}),
    ("half a warp", "kernel", {"block_threads": 48}),
    ("large block", "kernel", {"block_threads": 1056}),
    ("campaign over a fixed key", "campaign", {"rng": ["philox4x32-7"]}),
    ("campaign over an unknown key", "campaign", {"model.shap": [[8, 8]]}),
    ("campaign without values", "campaign", {"seed": []}),
    ("campaign with a wrong type", "campaign", {"model.shape": [8, 16]}),
]

# Both must accept it.
RIGHT = [
    ("as it is", None, None),
    ("integral real", "algorithm.population", 100.0),
    ("largest seed", "seed", 2**48 - 1),
    ("title", "title", "a title"),
    ("device", "kernel", {"device": "cuda:3", "variant": "auto", "isa": "auto",
                          "block_threads": 256}),
    ("duration", "checkpoint", {"every": "1.5 h"}),
    ("campaign", "campaign", {"model.shape": [[8, 8]], "seed": [3]}),
    ("campaign over one value", "campaign", {"seed": 3}),
    ("values without their last", "algorithm.beta", {"values": [0.5, 1.0]}),
    ("values with their last", "algorithm.beta", {"values": [0.5, 1.0], "to": 1.0}),
    ("a value for a list of one", "algorithm.beta", {"values": 1.0}),
]


def program(*arguments):
    result = subprocess.run([PROGRAM, *arguments], capture_output=True, check=True)
    return result.stdout


def validates(path):
    result = subprocess.run([PROGRAM, "validate", str(path)], capture_output=True, check=False)
    assert result.returncode in (0, 2), result.stderr.decode()
    return result.returncode == 0, result.stderr.decode()


def changed(dotted_key, value):
    config = copy.deepcopy(GOOD)
    if dotted_key is None:
        return config
    *blocks, key = dotted_key.split(".")
    block = config
    for name in blocks:
        block = block[name]
    if value is UNSET:
        del block[key]
    else:
        block[key] = value
    return config


def check_files():
    schema = program("schema")
    committed = pathlib.Path("schemas/gpumc.schema.json").read_bytes()
    assert schema == committed, "run: gpumc schema > schemas/gpumc.schema.json"
    reference = program("describe", "--markdown")
    committed = pathlib.Path("docs/config-reference.md").read_bytes()
    assert reference == committed, "run: gpumc describe --markdown > docs/config-reference.md"
    return json.loads(schema)


def check_configs(validator):
    for path in sorted(pathlib.Path("configs").rglob("*.yaml")):
        errors = [error.message for error in validator.iter_errors(yaml.safe_load(path.read_text()))]
        assert not errors, f"{path}: {errors}"
        good, message = validates(path)
        assert good, message


def check_controls(validator):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "config.yaml")
        for cases, wanted in ((RIGHT, True), (WRONG, False)):
            for what, dotted_key, value in cases:
                config = changed(dotted_key, value)
                path.write_text(yaml.safe_dump(config, sort_keys=False))
                good, message = validates(path)
                assert good == wanted, f"{what}: the validator says {good}\n{message}"
                assert validator.is_valid(config) == wanted, f"{what}: the schema says {not wanted}"


def check_campaign_supplies(validator):
    """A key that only the campaign gives is given."""
    config = changed("model.shape", UNSET)
    del config["seed"]
    del config["algorithm"]["beta"]["step"]
    config["output"] = "{model.shape}-{seed}-{algorithm.beta.overlap}.h5"
    config["campaign"] = {"model.shape": [[8, 8], [4, 4]], "seed": [1, 2],
                          "algorithm.beta.overlap": [0.7]}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "config.yaml")
        path.write_text(yaml.safe_dump(config, sort_keys=False))
        good, message = validates(path)
        if "algorithm.beta.overlap' in campaign" in message:
            return  # the algorithm does not let it vary
        assert good, message
        errors = [error.message for error in validator.iter_errors(config)]
        assert not errors, errors


def main():
    schema = check_files()
    assert jsonschema.validators.validator_for(schema) is jsonschema.Draft7Validator
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    check_configs(validator)
    check_controls(validator)
    check_campaign_supplies(validator)


if __name__ == "__main__":
    sys.exit(main())
