"""tools/predict-scaling: the tables of docs/scaling.md are what it prints, and its arithmetic by hand."""
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL, DOCUMENT, CONSTANTS = (ROOT / "tools" / "predict-scaling", ROOT / "docs" / "scaling.md", ROOT / "tools" / "scaling.json")
sys.path[:0] = [str(ROOT / "tools")]
import balance  # noqa: E402

loader = importlib.machinery.SourceFileLoader("predict_scaling", str(TOOL))
predict = importlib.util.module_from_spec(importlib.util.spec_from_loader("predict_scaling", loader))
loader.exec_module(predict)


def run(*arguments):
    return subprocess.run([sys.executable, TOOL, *map(str, arguments)], capture_output=True, text=True)


class Document(unittest.TestCase):
    def test_tables_are_those_of_the_tool(self):
        """tools/predict-scaling --write docs/scaling.md brings them up to date."""
        text = DOCUMENT.read_text(encoding="utf-8")
        model = predict.Model(json.loads(CONSTANTS.read_text()))
        tables = {name: make(model) for name, make in predict.TABLES.items()}
        self.assertEqual(predict.fill(text, tables), text)
        self.assertEqual(sorted(found[2] for found in predict.MARK.finditer(text)), sorted(tables))

    def test_empty_tables_are_filled_and_text_between_them_stays(self):
        text = "a\n<!-- predict-scaling: x -->\n<!-- end -->\nb\n<!-- predict-scaling: y -->\nold\n<!-- end -->\n"
        filled = "a\n<!-- predict-scaling: x -->\n1\n<!-- end -->\nb\n<!-- predict-scaling: y -->\n2\n<!-- end -->\n"
        self.assertEqual(predict.fill(text, {"x": "1", "y": "2"}), filled)

    def test_another_constant_makes_other_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "scaling.md")
            copy.write_text(DOCUMENT.read_text(encoding="utf-8"), encoding="utf-8")
            self.assertEqual(run("--write", copy).returncode, 0)
            self.assertEqual(copy.read_text(encoding="utf-8"), DOCUMENT.read_text(encoding="utf-8"))
            self.assertEqual(run("--write", copy, "--set", "gpu_wait=300").returncode, 0)
            self.assertNotEqual(copy.read_text(encoding="utf-8"), DOCUMENT.read_text(encoding="utf-8"))

    def test_every_constant_matters(self):
        plain = json.loads(CONSTANTS.read_text())
        for name, of in plain["constants"].items():
            other = predict.Model(json.loads(CONSTANTS.read_text()), [f"{name}={100 * of['value']}"])
            self.assertTrue(any(make(other) != make(predict.Model(plain)) for table, make in predict.TABLES.items() if table != "constants"),
                            name)

    def test_what_is_not_measured_says_so(self):
        constants = json.loads(CONSTANTS.read_text())["constants"]
        for name, of in constants.items():
            self.assertIn(of["quality"], ("measured", "estimated", "cited", "lower quality", "not measured yet"), name)
            if of["source"].startswith("assumed"):
                self.assertEqual(of["quality"], "not measured yet", name)
        table = predict.constants(predict.Model(json.loads(CONSTANTS.read_text())))
        self.assertEqual(table.count("**not measured yet**"),
                         sum(of["quality"] == "not measured yet" for of in constants.values()))


class Arithmetic(unittest.TestCase):
    def setUp(self):
        self.model = predict.Model({
            "constants": {name: {"value": value, "unit": unit} for name, value, unit in (
                ("step", 100, "us"), ("per_replica", 10, "ns"), ("gpu_wait", 20, "us"), ("host_copy", 20, "GB/s"),
                ("stranger", 30, "ns"), ("nccl", 7, "us"), ("nccl_hop", 0.5, "us"), ("nccl_ring_node", 1.5, "us"),
                ("nccl_ring", 3, "us"), ("nccl_tree", 6, "us"), ("operation", 4, "us"), ("latency", 3, "us"),
                ("latency_node", 1, "us"), ("host_message", 5, "GB/s"), ("message", 0.5, "us"), ("network", 10, "GB/s"),
                ("nvlink", 100, "GB/s"), ("tempering", 1, "ps"), ("averages", 1, "us"))},
            "populations": {"ising": {"bytes": 508, "variance": 1.0, "children": 0.2, "held": 0.1, "away": {"8": 0.25, "64": 0.5}}},
            "measured": {"pa": [{"replicas": 200000, "one": 2.0, "two": 1.6}]}})

    def test_one_process_has_work_alone(self):
        parts = self.model.step("ising", 100000, 1)
        self.assertAlmostEqual(sum(parts.values()), 1.1e-3)

    def test_a_step_of_two_on_one_host(self):
        parts = self.model.step("ising", 100000, 2)
        self.assertEqual(list(parts), predict.PARTS)
        self.assertAlmostEqual(parts["work"], 1.1e-3)
        self.assertAlmostEqual(parts["wait"], 20e-6)
        self.assertAlmostEqual(parts["small"], 7e-6 + 2 * 0.5e-6 + 2 * (7e-6 + 0.5e-6))
        self.assertAlmostEqual(parts["copies"], (4 * 100000 + 8 * 25000) / 20e9)
        moved = (0.869 - 0.66 / math.sqrt(2)) * math.sqrt(200000)
        self.assertAlmostEqual(parts["migration"], 7e-6 + 0.5e-6 + moved * 512 / 100e9)
        self.assertEqual(parts["host"], 0)

    def test_a_step_of_sixteen_on_two_hosts(self):
        """A ring has 14 hops within a host and one between them; a tree goes along 8 GPUs and over one level, and back."""
        parts = self.model.step("ising", 100000, 16)
        self.assertAlmostEqual(parts["wait"], 20e-6)
        largest = 7e-6 + 2 * (7 * 0.5e-6 + 6e-6)
        gather = 7e-6 + 14 * 1.5e-6 + 3e-6
        self.assertAlmostEqual(parts["small"], largest + 2 * gather)
        self.assertAlmostEqual(parts["copies"], (4 * 100000 + 8 * 50000) / 20e9)
        moved = (0.869 - 0.66 / 4) * math.sqrt(1.6e6)
        self.assertAlmostEqual(self.model.most_sent("ising", 100000, 16), moved)
        self.assertAlmostEqual(parts["migration"], 7e-6 + 3e-6 + moved * 512 / 10e9)

    def test_the_host_has_as_long_as_the_gpu(self):
        """50,000 strangers of 100,000 replicas in 5000 families: 30 ns each, two trades, a sum of 300 words."""
        trades = 2 * (4e-6 + 3e-6 + 15 * 0.5e-6) + (8 * 16 + 5000 * 12) / 10e9
        beside = 50000 * 30e-9 + trades + 4e-6 + 4 * 3e-6 + 16 * 300 / 10e9
        self.assertAlmostEqual(self.model.beside("ising", 50000, 16), beside)
        parts = self.model.step("ising", 100000, 16)
        of_gpu = sum(parts[name] for name in ("work", "small", "copies", "migration"))
        self.assertGreater(beside, of_gpu)
        self.assertAlmostEqual(parts["host"], beside - of_gpu)
        self.model.constants["stranger"]["value"] = 10
        self.assertEqual(self.model.step("ising", 100000, 16)["host"], 0)

    def test_a_step_as_proposed(self):
        parts = self.model.step("ising", 100000, 16, improved=True)
        self.assertAlmostEqual(parts["small"], 3 * (7e-6 + 2 * (7 * 0.5e-6 + 6e-6)))
        self.assertEqual(parts["copies"], 0)

    def test_strangers_are_those_of_the_next_number_that_was_simulated(self):
        self.assertEqual([self.model.away("ising", p) for p in (2, 8, 9, 64, 1024)], [0.25, 0.25, 0.5, 0.5, 0.5])

    def test_what_is_measured_stands_beside_what_is_predicted(self):
        """2.1 ms and 1.1 + 0.02 + 0.023 + 0.03 + 0.0084 for two."""
        line = predict.pa_measured(self.model).splitlines()[2]
        self.assertEqual(line, "| 200,000 | 2.100 | 2.000 | 1.181 | 1.600 | 1.78 | 1.25 |")

    def test_samples_that_are_divided(self):
        """4096 samples each, 20 temperatures, two copies of 512 sites: 10,000 sweeps take 0.839 s. Of 64 processes one
        has a temperature at most, and gets 12 sums of 63 * 4096 samples; 1024 have averages for longer than sweeps."""
        lines = {line.split(" | ")[0].strip("| "): line.strip("| ").split(" | ") for line in predict.pt(self.model).splitlines()[2:]}
        got = 12 * 63 * 4096 * 8
        self.assertEqual(lines["64"][2:], ["839", "1", "24.8 MB", predict.ms(4e-6 + 3e-6 + 63 * 0.5e-6 + got / 10e9),
                                           predict.ms(64 * 4096 * 1e-6), "100 %"])
        got = 12 * 1023 * 4096 * 8
        self.assertEqual(lines["1024"][-1], predict.percent(0.8388608 / (1024 * 4096e-6 + 7e-6 + 1023 * 0.5e-6 + got / 10e9)))
        self.assertEqual([lines[p][3] for p in ("1", "2", "8")], ["20", "10", "3"])
        self.assertEqual(lines["1"][4:6], ["0 B", "0"])

    def test_no_more_is_sent_than_there_are_children(self):
        self.assertEqual(self.model.most_sent("ising", 1000, 1024), 200)

    def test_the_largest_crossing_is_that_of_random_walks(self):
        """Of copies 0, 1 and 2 in random order, a sixth of them 0 and a sixth 2, so that their variance is 1/3: within five
        errors of 400 walks and 3 % for the formula, which is a fit."""
        random = np.random.default_rng(7)
        self.model.populations["ising"].update(variance=1 / 3, children=1.0)
        for processes in (2, 8, 64):
            share, most = 1536, []
            sixth = processes * share // 6
            for _ in range(400):
                parents, free, _ = balance.find_places(random.permutation(np.repeat([0, 1, 2], [sixth, 4 * sixth, sixth])))
                most.append(balance.transfers(parents, free, balance.divide(processes * share, processes)).crossing.max())
            expected = self.model.most_sent("ising", share, processes)
            self.assertLess(abs(np.mean(most) - expected), 5 * np.std(most) / 20 + 0.03 * expected)


class Program(unittest.TestCase):
    def test_tables_by_name(self):
        shown = run("pa-weak", "pt")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual([line for line in shown.stdout.splitlines() if line and not line.startswith("|")], ["pa-weak", "pt"])

    def test_what_is_not_there_is_refused(self):
        for words, message in ((["pa"], "no table pa; choose from short, constants"), (["--set", "speed=3"], "no constant speed"),
                               (["--set", "gpu_wait"], "NAME=VALUE")):
            refused = run(*words)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(message, refused.stderr)


if __name__ == "__main__":
    unittest.main()
