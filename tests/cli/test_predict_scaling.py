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
                ("step", 100, "us"), ("per_replica", 10, "ns"), ("gpu_wait", 20, "us"), ("operation", 4, "us"),
                ("latency", 3, "us"), ("latency_node", 1, "us"), ("message", 0.5, "us"), ("network", 10, "GB/s"),
                ("host_copy", 20, "GB/s"), ("portable", 5, "GB/s"), ("families", 25, "ns"))},
            "populations": {"ising": {"bytes": 508, "variance": 1.0, "children": 0.2, "held": 0.1, "away": 0.5}}})

    def test_one_process_has_work_alone(self):
        parts = self.model.step("ising", 100000, 1)
        self.assertAlmostEqual(sum(parts.values()), 1.1e-3)

    def test_a_step_of_sixteen(self):
        parts = self.model.step("ising", 100000, 16)
        self.assertAlmostEqual(parts["waits"], 60e-6)
        reductions = 3 * (4e-6 + 4 * 3e-6) + 16 * (2 + 1 + 300) / 10e9
        gather = 2 * 4e-6 + 15 * 0.5e-6 + 5 * 3e-6 + 2 * 16 * 16 / 10e9
        self.assertAlmostEqual(parts["small"], reductions + gather)
        records = 0.1 * 100000 * 0.5 * 12
        told = 2 * 4e-6 + 15 * 0.5e-6 + 5 * 3e-6 + 2 * 8 * 16 * 16 / 10e9 + 4e-6 + 2 * 3e-6 + records / 10e9
        self.assertAlmostEqual(parts["families"], 100000 * 25e-9 + told - 1.1e-3)
        moved = (0.869 - 0.66 / 4) * math.sqrt(1.6e6)
        self.assertAlmostEqual(self.model.most_sent("ising", 100000, 16), moved)
        self.assertAlmostEqual(parts["migration"], 4e-6 + 3e-6 + moved * 512 * (2 / 20e9 + 2 / 5e9 + 1 / 10e9))

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
        for words, message in ((["pa"], "there is no table pa, but short, constants"), (["--set", "speed=3"], "there is no constant speed"),
                               (["--set", "gpu_wait"], "NAME=VALUE")):
            refused = run(*words)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(message, refused.stderr)


if __name__ == "__main__":
    unittest.main()
