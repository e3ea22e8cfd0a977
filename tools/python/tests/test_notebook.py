"""run() in a real notebook: a bar that is updated, and no lines on the terminal. And the notebooks of the documents run."""
import json
import pathlib

import conftest
import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
import nbformat  # noqa: E402

NOTEBOOKS = sorted((pathlib.Path(__file__).resolve().parents[3] / "docs/notebooks").glob("*.ipynb"))


def execute(notebook, folder, monkeypatch):
    """What its cells have put out."""
    monkeypatch.chdir(folder)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def test_a_bar_is_shown_and_updated(tmp_path, monkeypatch):
    config = json.dumps(conftest.config_of("pt", tmp_path / "one.h5"))
    cell = (f"import json, gpumc\njob = gpumc.run(json.loads('''{config}'''), device='cpu', max_time='2 s', "
            "algorithm__sweeps=2**26)\njob.stopped")
    outputs = execute(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)]), tmp_path, monkeypatch)
    shown = [output for output in outputs if output.output_type == "display_data"]
    assert len(shown) == 1
    assert shown[0].data["text/html"].startswith("<progress")
    assert "value=\"0.0000\"" not in shown[0].data["text/html"]  # it was updated
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert outputs[-1].data["text/plain"] == "True"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_of_the_documents(path, tmp_path, monkeypatch):
    notebook = nbformat.read(path, as_version=4)
    assert not [cell for cell in notebook.cells if cell.get("outputs")]  # kept without outputs: then changes are readable
    outputs = execute(notebook, tmp_path, monkeypatch)
    assert [output for output in outputs if "image/png" in output.get("data", {})]
    assert not [output for output in outputs if output.get("name") == "stderr"]


def test_a_notebook_that_does_not_run_is_found(tmp_path, monkeypatch):
    notebook = nbformat.read(NOTEBOOKS[0], as_version=4)
    notebook.cells[1].source += "\ngpumc.no_such_function()"
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="no_such_function"):
        execute(notebook, tmp_path, monkeypatch)
