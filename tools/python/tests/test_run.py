"""run(): options, errors, interrupts, progress."""
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import conftest
import numpy
import pytest

import gpumc
from gpumc import program, progress


def config(folder, name="one.h5"):
    return conftest.config_of("muca", folder / name)


def test_run_and_open(tmp_path):
    with pytest.warns(UserWarning, match="weights have not converged after 30 iterations"):
        job = gpumc.run(config(tmp_path), device="cpu", threads=1, show=False, algorithm__walkers=32,
                        **{"algorithm.iteration.maximum": 30})
    assert job.outputs == [str(tmp_path / "one.h5")] and not job.stopped
    with job.open() as tree:
        resolved = json.loads(tree["config/resolved"].item())
        assert resolved["algorithm"]["walkers"] == 32 and resolved["algorithm"]["iteration"]["maximum"] == 30
        assert "energy" in tree["summary"]
    before = os.stat(job.outputs[0]).st_mtime_ns
    gpumc.run(config(tmp_path), device="cpu", show=False, algorithm__walkers=32, **{"algorithm.iteration.maximum": 30})
    assert os.stat(job.outputs[0]).st_mtime_ns == before  # a complete result is left alone


def test_errors(tmp_path):
    with pytest.raises(gpumc.ProgramError, match="did you mean 'walkers'") as caught:
        gpumc.run(config(tmp_path), algorithm__walker=32, show=False)
    assert caught.value.code == 2
    with pytest.raises(gpumc.ProgramError, match="nowhere.yaml"):
        gpumc.run("nowhere.yaml")
    with pytest.raises(FileNotFoundError, match="no such program"):
        gpumc.run(config(tmp_path), program="/nowhere/gpumc")


def test_mistakes_have_places(tmp_path):
    """Of a file its name, line and column; of a dictionary none, and not a path that is gone. All mistakes at once, of every function."""
    path = tmp_path / "bad.yaml"
    path.write_text("gpumc: 1\nseed: 1\nmodel: {name: isng2d, shape: [4, 4]}\nalgorithm: {name: pa, population: x, beta: {to: 1, step: 0.1}}\noutput: a.h5\n")
    bad = {"gpumc": 1, "seed": 1, "model": {"name": "isng2d", "shape": [4, 4]},
           "algorithm": {"name": "pa", "population": "x", "beta": {"to": 1, "step": 0.1}}, "output": "a.h5"}
    for called in gpumc.validate, gpumc.plan, gpumc.run, gpumc.status:
        with pytest.raises(gpumc.ConfigError) as caught:
            called(path)
        assert [(of.file, of.line, of.column) for of in caught.value.mistakes] == [(str(path), 3, 15), (str(path), 4, 35)]
        assert "did you mean 'ising2d'" in caught.value.mistakes[0].message and str(caught.value).startswith(f"{path}:3:15: model.name")
        with pytest.raises(gpumc.ConfigError) as caught:
            called(bad)
        assert [of.file for of in caught.value.mistakes] == [None, None] and "config.yaml" not in str(caught.value)
        assert caught.value.code == 2


def test_validate(tmp_path):
    assert gpumc.validate(config(tmp_path)) == []
    told, = gpumc.validate(conftest.config_of("canonical", tmp_path / "two.h5"))
    assert "not trusted" in told
    assert os.listdir(tmp_path) == []


def test_status(tmp_path):
    assert gpumc.status(config(tmp_path))["tasks"][0]["state"] == "not started"
    gpumc.run(config(tmp_path), device="cpu", show=False)
    found = gpumc.status(config(tmp_path))
    assert found["tasks"][0] == {**found["tasks"][0], "state": "done", "output": str(tmp_path / "one.h5")} and found["counts"]["done"] == 1
    assert gpumc.status(config(tmp_path), seed=2)["tasks"][0]["state"] == "refused"  # the result of another configuration


def test_describe():
    found = gpumc.describe("ising2d")
    assert {"shape", "J", "h"} <= {key["name"] for key in found["keys"]} and found["kind"] == "model"
    assert any(key["name"] == "seed" for key in gpumc.describe("config")["keys"])
    with pytest.raises(gpumc.ProgramError, match="unknown name 'isng2d'"):
        gpumc.describe("isng2d")


def test_what_is_not_gpumc_is_named(tmp_path):
    for program_, message in (("/bin/echo", "/bin/echo: it printed .*is it gpumc"), ("/bin/true", "/bin/true: it printed ''")):
        with pytest.warns(UserWarning, match="is version unknown"), pytest.raises(gpumc.ProgramError, match=message):
            gpumc.plan(config(tmp_path), program=program_)
    script = tmp_path / "script"
    script.write_bytes(b"\x7fELF")
    script.chmod(0o755)
    with pytest.raises(gpumc.ProgramError, match="cannot be started"):
        gpumc.plan(config(tmp_path), program=script)


def test_numbers_of_numpy(tmp_path):
    task, = gpumc.plan({**config(tmp_path), "seed": numpy.int64(3)}, algorithm__walkers=numpy.int64(64))["tasks"]
    assert task["lattices"] == 64


def test_a_task_that_is_not_there(tmp_path):
    with pytest.raises(gpumc.ProgramError, match="--task"):
        gpumc.run(config(tmp_path), task=99, show=True)


def test_an_error_of_the_display_stops_the_program(tmp_path, monkeypatch):
    """No program is left behind; its checkpoint is."""
    def broken(outputs):
        if os.path.exists(outputs[0] + ".status"):
            raise RuntimeError("no display")
        return ""

    monkeypatch.setattr(progress, "line", broken)
    with pytest.raises(RuntimeError, match="no display"):
        gpumc.run(config(tmp_path), device="cpu", show=True, **{"algorithm.production": {"updates": 10**10, "measurements": 10**6}})
    assert json.loads((tmp_path / "one.h5.status").read_text())["state"] == "stopped"


def test_plan(tmp_path):
    task, = gpumc.plan(config(tmp_path), output=tmp_path / "other.h5")["tasks"]
    assert task["output"] == str(tmp_path / "other.h5") and task["sites"] == 16


def test_an_interrupt_stops_with_a_checkpoint(tmp_path):
    """And the same call continues the run."""
    script = textwrap.dedent(f"""
        import json, gpumc
        job = gpumc.run(json.loads({json.dumps(json.dumps(config(tmp_path)))}), device="cpu", show=False,
                        **{{"algorithm.production": {{"updates": 10**10, "measurements": 10**6}}}})
        print(job.stopped)
        """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    deadline = time.time() + 60
    while time.time() < deadline and not (tmp_path / "one.h5.status").exists():
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "True\n"
    assert (tmp_path / "one.h5.ckpt").exists() and not (tmp_path / "one.h5").exists()


def test_progress(tmp_path, monkeypatch, capsys):
    outputs = [str(tmp_path / f"{k}.h5") for k in range(3)]
    (tmp_path / "0.h5").touch()
    (tmp_path / "1.h5.status").write_text(json.dumps({"state": "running", "fraction": 0.5, "seconds": 100,
                                                      "remaining_seconds": 300, "message": "", "updated": 0}))
    assert progress.line(outputs) == "1 of 3 tasks done, 50 %, 5 min left of this task"
    assert progress.line(outputs[1:2]) == "50 %, 5 min left"
    with progress.shown(outputs, True) as look:
        look()
    assert "1 of 3 tasks done" in capsys.readouterr().err
    shown = []

    class Handle:
        def update(self, bar):
            shown.append(bar._repr_html_())

    monkeypatch.setattr(progress, "_notebook", lambda: lambda bar, display_id: Handle())
    with progress.shown(outputs) as look:
        look()
    assert 'value="0.5000"' in shown[0]


def test_other_versions_are_named(tmp_path):
    other = tmp_path / "gpumc"
    other.write_text(f"#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'gpumc 9.1.0 (x)'; else exec '{program.find()}' \"$@\"; fi\n")
    other.chmod(0o755)
    with pytest.warns(UserWarning, match="is version 9.1.0, and this package is"):
        gpumc.plan(config(tmp_path), program=str(other))
