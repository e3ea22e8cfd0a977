"""run() in a real notebook: a bar that is updated, and no lines on the terminal."""
import json

import conftest
import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
import nbformat  # noqa: E402


def test_a_bar_is_shown_and_updated(tmp_path, monkeypatch):
    config = json.dumps(conftest.config_of("pt", tmp_path / "one.h5"))
    cell = (f"import json, gpumc\njob = gpumc.run(json.loads('''{config}'''), device='cpu', max_time='2 s', "
            "algorithm__sweeps=2**26)\njob.stopped")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    monkeypatch.chdir(tmp_path)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = notebook.cells[0].outputs
    shown = [output for output in outputs if output.output_type == "display_data"]
    assert len(shown) == 1
    assert shown[0].data["text/html"].startswith("<progress")
    assert "value=\"0.0000\"" not in shown[0].data["text/html"]  # it was updated
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert outputs[-1].data["text/plain"] == "True"
