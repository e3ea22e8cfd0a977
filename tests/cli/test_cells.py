"""Each model x algorithm x kernel cell runs a tiny job, or is refused with the exact message.

CTest: long, cases 3 s
"""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.device import REQUIRED
from support.program import DEVICE, INVALID, OK, ProgramCase

# A new plugin adds its smallest job here, one that all its kernels take.
MODELS = {"ising2d": "shape: [64, 4]", "ising3d": "shape: [64, 4, 4]", "ea": "shape: [4, 4, 4]",
          "heisenberg": "shape: [4, 4]", "hard_disks": "particles: 8, packing_fraction: 0.3"}
ALGORITHMS = {"canonical": "thermalization: 2, sweeps: 8, beta: {values: [0.1, 0.2]}",
              "muca": "walkers: 32, iteration: {maximum: 2}, production: {updates: 100, measurements: 100}, "
                      "range: {from: -0.2, to: 0.2}",
              "mpmc": "thermalization: 2, sweeps: 8",
              "pa": "population: 64, sweeps: 1, beta: {from: 0, to: 0.2, step: 0.1}",
              "pt": "samples: 2, sweeps: 80, beta: {values: [0.1, 0.2]}"}
# The same in another control, of algorithms that move one.
IN_A_CONTROL = {"canonical": "thermalization: 2, sweeps: 8, control: {name: h, beta: 0.2, values: [-0.1, 0.2], "
                             "reweight: {from: -0.1, to: 0.1, step: 0.1}}",
                "muca": "walkers: 32, iteration: {maximum: 2}, production: {updates: 100, measurements: 100}, "
                        "control: {name: h, beta: 0.2, from: -0.1, to: 0.1, step: 0.1}",
                "pa": "population: 64, sweeps: 1, control: {name: h, beta: 0.2, from: -0.1, to: 0.1, step: 0.1, "
                      "thermalization: 2}",
                "pt": "samples: 2, sweeps: 80, control: {name: h, beta: 0.2, values: [-0.1, 0.2]}"}
# Of a model without a temperature the only ones.
PRESSED = {"canonical": "thermalization: 2, sweeps: 8, control: {name: beta_pressure, values: [1, 2]}",
           "pa": "population: 64, sweeps: 1, control: {name: beta_pressure, from: 1, to: 2, step: 0.5, thermalization: 2}",
           "pt": "samples: 2, sweeps: 80, control: {name: beta_pressure, values: [1, 2]}"}


def keys_of(model, algorithm, keys):
    return PRESSED.get(algorithm, keys) if model == "hard_disks" else keys


CONFIG = """\
gpumc: 1
seed: 1
model: {{name: {model}, {model_keys}}}
algorithm: {{name: {algorithm}, {algorithm_keys}}}
kernel: {{device: {device}, variant: {variant}}}
output: {model}-{algorithm}-{device}-{variant}.h5
"""


class Cells(ProgramCase):
    device = None

    def setUp(self):
        super().setUp()
        self.lists = json.loads(self.gpumc("list", "--json").out)

    def test_there_is_a_tiny_job_for_every_plugin(self):
        self.assertEqual(sorted(MODELS), sorted(m["name"] for m in self.lists["models"]))
        self.assertEqual(sorted(ALGORITHMS), sorted(a["name"] for a in self.lists["algorithms"]))

    def test_every_cell(self):
        for model in self.lists["models"]:
            for algorithm in self.lists["algorithms"]:
                for kernel in model["kernels"]:
                    names = (model["name"], algorithm["name"], kernel["device"], kernel["variant"])
                    with self.subTest("-".join(names)):
                        self.check(kernel, *names, keys_of(model["name"], algorithm["name"], ALGORITHMS[algorithm["name"]]))

    def test_every_cell_in_another_control(self):
        for model in self.lists["models"]:
            for algorithm, keys in IN_A_CONTROL.items():
                for kernel in model["kernels"]:
                    names = (model["name"], algorithm, kernel["device"], kernel["variant"])
                    with self.subTest("-".join(names)):
                        self.check(kernel, *names, keys_of(model["name"], algorithm, keys))

    def is_sampled(self, model, algorithm):
        """Whether one of the model's kernels has a move for the algorithm's target."""
        kernels, = (m["kernels"] for m in self.lists["models"] if m["name"] == model)
        return any("sample states of equal weight" not in k["algorithms"][algorithm]["missing"] and
                   "sample Boltzmann weights" not in k["algorithms"][algorithm]["missing"] for k in kernels)

    def check(self, kernel, model, algorithm, device, variant, keys):
        config = self.write("c.yaml", CONFIG.format(
            model=model, model_keys=MODELS[model], algorithm=algorithm,
            algorithm_keys=keys, device=device, variant=variant))
        cell = kernel["algorithms"][algorithm]
        if not self.is_sampled(model, algorithm):
            process = self.gpumc("run", config, code=INVALID)
            self.assertRegex(process.err, f"c.yaml:4:19: (algorithm {algorithm} gives all states the same weight, but model {model} "
                             f"weights them by their .*|model {model} has no temperature, from which algorithm {algorithm} computes weights.*): use ")
            return
        if kernel["absent"]:
            process = self.start("run", config)
            process.out, process.err = process.communicate(timeout=120)
            self.assertIn(process.returncode, (INVALID, DEVICE))
            if not cell["serves"] and "built without CUDA" not in process.err:
                self.assertIn(f"{variant} cannot {cell['missing']}", process.err)
            else:
                self.assertIn("built without CUDA", process.err)
            return
        if not cell["serves"]:
            self.assertNotEqual(cell["missing"], "")
            process = self.gpumc("run", config, code=INVALID)
            self.assertIn(f"can run algorithm {algorithm}: {variant} cannot {cell['missing']}",
                          process.err)
            return
        process = self.start("run", config)
        process.out, process.err = process.communicate(timeout=120)
        if device != "cpu" and process.returncode == DEVICE and not REQUIRED:
            self.skipTest(process.err)
        self.assertEqual(process.returncode, OK, process.err)
        result = json.loads(self.gpumc("info", f"{model}-{algorithm}-{device}-{variant}.h5",
                                       "--json").out)
        self.assertTrue(result["complete"])
        self.assertEqual(result["provenance"]["kernel"], variant)

    def test_auto_takes_one_that_serves(self):
        """Which of them, cli_test_auto_kernel has."""
        for model in self.lists["models"]:
            for algorithm in self.lists["algorithms"]:
                serving = [k["variant"] for k in model["kernels"] if k["device"] == "cpu" and
                           k["algorithms"][algorithm["name"]]["serves"]]
                if not serving:
                    continue
                names = dict(model=model["name"], algorithm=algorithm["name"])
                config = self.write("c.yaml", CONFIG.format(
                    model_keys=MODELS[names["model"]],
                    algorithm_keys=keys_of(model["name"], algorithm["name"], ALGORITHMS[algorithm["name"]]),
                    device="cpu", variant="auto",
                    **names))
                plan = json.loads(self.gpumc("plan", config, "--json").out)["tasks"][0]
                self.assertIn(plan["kernel"], serving)


if __name__ == "__main__":
    cases.main()
