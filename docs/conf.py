"""The documentation site: `tools/docs` builds it with Sphinx and MyST from the Markdown files of the tree as they stand,
README.md being its start page. A page that is in no menu below, a link to nowhere and a missing anchor all fail the build."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
KERNELS = sorted(f"docs/kernels/{page.stem}" for page in (ROOT / "docs/kernels").glob("*.md") if page.stem != "README")
# The menus of the site, by the page that they belong to.
menus = {
    "README": {
        "Tutorials": ["docs/tutorial", "docs/tutorial-spin-glass", "docs/tutorial-density-of-states", "docs/tutorial-xy",
                      "docs/tutorial-critical-point", "docs/tutorial-hard-disks"],
        "Using gpumc": ["docs/cli", "docs/config-reference", "docs/moves", "docs/file-format", "docs/python", "docs/analysis", "docs/pictures",
                        "docs/report", "docs/merging"],
        "GPUs and clusters": ["docs/gpu", "docs/gpu-tests", "docs/processes", "docs/cluster", "docs/scaling"],
        "Results one can trust": ["docs/statistics", "docs/papers", "docs/performance", "docs/experiments"],
        "Inside": ["ARCHITECTURE", "docs/kernels/README", "docs/adding-a-model", "CONTRIBUTING",
                   "docs/images/README", "CHANGELOG"],
    },
    "docs/kernels/README": {"Kernels": KERNELS},
}

project = "gpumc"
author = "The gpumc developers"
release = re.search(r"^project\(gpumc VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.M).group(1)

# The root of the sources is that of the tree: links lead from page to page, and to files beside them, as in the tree.
extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
root_doc = "README"
include_patterns = ["*.md", "docs/**"]
myst_heading_anchors = 6
nitpicky = True
highlight_language = "text"  # drawings and formulas; code says what it is

html_theme = "furo"
html_title = f"gpumc {release}"
html_show_sphinx = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
copybutton_prompt_text = "$ "


def add_menus(app, page, text):
    """Adds the menus, which the pages as read elsewhere do without."""
    for caption, entries in menus.get(page, {}).items():
        text[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "".join(f"/{entry}\n" for entry in entries) + "```\n"


def add_index(app, failed):
    """The address of the site itself leads to its start page."""
    if not failed:
        pathlib.Path(app.outdir, "index.html").write_text(
            '<!doctype html><title>gpumc</title><meta http-equiv="refresh" content="0; url=README.html">\n', encoding="utf-8")


def setup(app):
    app.add_config_value("menus", {}, "env")  # other menus: all pages are read again
    app.connect("source-read", add_menus)
    app.connect("build-finished", add_index)
