"""tools/release: what it refuses, with the remedy, the notes that it cuts from the changelog, and what it collects and prints; in a
tree with the files that it reads, and with stand-ins for all that takes minutes.

CTest: release (a tool of Python alone), methods 6 s
"""
import hashlib
import os
import pathlib
import runpy
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/unit"), str(ROOT / "tools")]
import test_versions  # noqa: E402
from support import cases  # noqa: E402

VERSION = test_versions.VERSION
READ = [".gitignore", "CMakeLists.txt", "pyproject.toml", "tools/interpreter.py", "tools/python/pyproject.toml", "tools/release",
        "tests/unit/test_versions.py", "tools/packaging/conda/variants.yaml", *test_versions.NAMED, *test_versions.OPTIONAL, *test_versions.documents()]
CHANGES = f"""\
# Changelog

## [{VERSION}] - 2030-01-02

The first one.

### Added

- This ([how](docs/a.md#b)), after [that](https://x.y/z).

## [0.0.1] - 2029-01-02

- Older.
"""

# Stand-ins: a wheel and a source archive, a Debian package and a site. The program says its version, and nothing else.
PROGRAM = '#!/bin/sh\necho "gpumc VERSION ($COMMIT, a compiler)"\n'
WHEEL = f"""#!{sys.executable}
import io, pathlib, subprocess, tarfile, zipfile
commit = subprocess.check_output(["git", "describe", "--always", "--dirty"], text=True).strip()
out = pathlib.Path("build/wheel/dist")
out.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(out / "gpumc-{VERSION}-py3-none-any.whl", "w") as wheel:
    info = "gpumc-{VERSION}.dist-info/"
    script = zipfile.ZipInfo("gpumc-{VERSION}.data/scripts/gpumc")
    script.external_attr = 0o100755 << 16
    wheel.writestr(script, {PROGRAM!r}.replace("VERSION", "{VERSION}").replace("$COMMIT", commit))
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: gpumc\\nVersion: {VERSION}\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "RECORD", "")
with tarfile.open(out / "gpumc-{VERSION}.tar.gz", "w:gz") as archive:
    text = b"Name: gpumc\\nVersion: {VERSION}\\n"
    entry = tarfile.TarInfo("gpumc-{VERSION}/PKG-INFO")
    entry.size = len(text)
    archive.addfile(entry, io.BytesIO(text))
"""
STAND_INS = {
    "tools/packaging/wheel": "#!/bin/sh\nexec tests/bin/wheel\n",
    "tests/bin/wheel": WHEEL,
    "tools/docs": "#!/bin/sh\nmkdir -p $1/.doctrees && echo site > $1/index.html && echo tree > $1/.doctrees/tree\n",
    "tests/bin/cmake": "#!/bin/sh\nexit 0\n",
    "tests/bin/cpack": f"#!/bin/sh\nmkdir -p build/package && echo package > build/package/gpumc_{VERSION}_amd64.deb\n",
    "tests/bin/dpkg-deb": "#!/bin/sh\nmkdir -p $3/usr/bin && cat > $3/usr/bin/gpumc << END\n"
                    + PROGRAM.replace("VERSION", VERSION).replace("$COMMIT", "${FAKE_COMMIT:-$(git describe --always --dirty)}")
                    + "END\nchmod +x $3/usr/bin/gpumc\n"}


class Release(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="gpumc-test-")
        self.addCleanup(holder.cleanup)
        self.tree = pathlib.Path(holder.name)
        for name in READ:
            if (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.tree / name)
        for name, text in STAND_INS.items():
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text)
            (self.tree / name).chmod(0o755)
        (self.tree / "CHANGELOG.md").write_text(CHANGES)
        self.git("init", "--quiet")
        self.commit("all of it")

    def git(self, *words):
        name = {f"GIT_{who}_{what}": "nobody" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return subprocess.run(["git", *words], cwd=self.tree, check=True, capture_output=True, text=True, env={**os.environ, **name}).stdout.strip()

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--no-gpg-sign", "-m", message)

    def change(self, name, old, new):
        text = (self.tree / name).read_text()
        self.assertIn(old, text)
        (self.tree / name).write_text(text.replace(old, new))

    def release(self, *words, code=0, **environment):
        done = subprocess.run([sys.executable, "tools/release", *words], cwd=self.tree, capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.tree}/tests/bin:{os.environ['PATH']}", **environment})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def refused(self, *texts):
        for words in [], ["--dry-run"]:
            said = self.release(*words, code=1).stderr
            for text in texts:
                self.assertIn(text, said)
        self.assertFalse((self.tree / "build").exists())

    def test_a_tree_that_is_not_clean_is_refused(self):
        (self.tree / "docs/new.md").write_text("new\n")
        self.change("CITATION.cff", "Monte Carlo", "Monte  Carlo")
        self.refused("the tree is not clean: commit these changes, or put them aside by `git stash --include-untracked`\n", " M CITATION.cff",
                     "?? docs/new.md")

    def test_a_file_with_another_version_is_refused(self):
        self.change("codemeta.json", VERSION, "9.9.9")
        self.commit("another version")
        self.refused(f"not every file names version {VERSION} of CMakeLists.txt", "'codemeta.json': {'9.9.9'}", "change the files that differ")

    def test_a_tag_of_another_commit_is_refused(self):
        self.git("tag", f"v{VERSION}")
        self.change("CHANGELOG.md", "Older", "Old")
        self.commit("after it")
        self.refused(f"the tag v{VERSION} is that of another commit: raise VERSION in CMakeLists.txt")

    def test_a_folder_of_others_is_refused(self):
        (self.tree / "results").mkdir()
        (self.tree / "results/mine.h5").write_text("mine")
        self.assertIn("results is not of an earlier release, and would be emptied: name another folder", self.release("results", code=1).stderr)
        self.assertEqual((self.tree / "results/mine.h5").read_text(), "mine")

    def test_a_changelog_without_the_version_is_refused(self):
        self.change("CHANGELOG.md", f"[{VERSION}]", "[0.0.2]")
        self.commit("no section")
        self.refused(f'CHANGELOG.md has no section {VERSION}: begin one with "## [{VERSION}] - YYYY-MM-DD"')

    def test_a_dry_run_prints_what_it_would_do(self):
        said = self.release("--dry-run", "--cuda").stdout
        for text in ["would run tools/packaging/wheel --cuda\n", "would run cpack ", "would run tools/docs build/site\n", "The first one.",
                     f"git tag -s v{VERSION}", f"gpumc-{VERSION}-*.whl"]:
            self.assertIn(text, said)
        self.assertFalse((self.tree / "build").exists())

    def test_all_of_it(self):
        said = self.release("out").stdout
        out = self.tree / "out"
        sums = dict(reversed(line.split("  ")) for line in (out / "SHA256SUMS").read_text().splitlines())
        self.assertEqual(set(sums), {f"gpumc-{VERSION}.tar.gz", f"gpumc-{VERSION}-py3-none-any.whl", f"gpumc_{VERSION}_amd64.deb", f"gpumc-{VERSION}-site.tar.gz"})
        self.assertEqual(sums, {name: hashlib.sha256((out / name).read_bytes()).hexdigest() for name in sums})
        shutil.unpack_archive(out / f"gpumc-{VERSION}-site.tar.gz", out)
        self.assertEqual([path.name for path in (out / f"gpumc-{VERSION}-site").iterdir()], ["index.html"])
        self.assertIn((out / "notes.md").read_text(), said)
        for text in [f'git tag -s v{VERSION} -m "gpumc {VERSION}" {self.git("rev-parse", "HEAD")}\n', f"git push origin v{VERSION}\n", "twine upload "]:
            self.assertIn(text, said)

    def test_recipes_have_the_checksum_of_the_archive(self):
        out = self.tree / "build/published"
        self.release()
        checksum = hashlib.sha256((out / f"gpumc-{VERSION}.tar.gz").read_bytes()).hexdigest()
        spack, conda = (pathlib.Path("recipes", name) for name in ("spack/package.py", "conda/recipe.yaml"))
        self.assertIn(f'    version("{VERSION}", sha256="{checksum}")\n', (out / spack).read_text())
        self.assertIn("    manual_download = True\n    url = f\"file://", (out / spack).read_text())
        source = yaml.safe_load((out / conda).read_text())["source"]
        self.assertEqual(source, {"path": f"../../gpumc-{VERSION}.tar.gz", "sha256": checksum})
        self.assertTrue((out / conda.parent / source["path"]).is_file())

        self.release("--address", "https://x.y/gpumc.tar.gz", "--homepage", "https://x.y/")
        checksum = hashlib.sha256((out / f"gpumc-{VERSION}.tar.gz").read_bytes()).hexdigest()
        text = (out / spack).read_text()
        self.assertIn('    homepage = "https://x.y/"\n    url = "https://x.y/gpumc.tar.gz"\n\n', text)
        self.assertIn(f'    version("{VERSION}", sha256="{checksum}")\n', text)
        self.assertNotIn("manual_download", text)
        recipe = yaml.safe_load((out / conda).read_text())
        self.assertEqual((recipe["source"], recipe["about"]["homepage"]), ({"url": "https://x.y/gpumc.tar.gz", "sha256": checksum}, "https://x.y/"))

    def test_recipes_of_another_form_are_refused(self):
        self.change("tools/packaging/conda/recipe.yaml", "  path: ../../..", "  git: ../../..")
        self.commit("another source")
        self.assertIn("tools/packaging/conda/recipe.yaml: expected one place for", self.release(code=1).stderr)

    def test_without_a_date_it_is_a_rehearsal(self):
        self.change("CHANGELOG.md", f"## [{VERSION}] - 2030-01-02\n\n", f"## [Unreleased]\n\nThe work towards {VERSION}. ")
        self.commit("not yet")
        said = self.release("--dry-run").stdout
        self.assertNotIn("git tag", said)
        self.assertIn(f'"## [Unreleased]" in CHANGELOG.md becomes "## [{VERSION}] - YYYY-MM-DD"', said)

    def test_a_program_of_another_commit_is_refused(self):
        said = self.release(code=1, FAKE_COMMIT="0ld").stderr
        self.assertIn(f"expected the program to be \"gpumc {VERSION} ({self.git('describe', '--always')}, ...)\", found \"gpumc {VERSION} (0ld,", said)
        self.assertFalse((self.tree / "build/published").exists())

    def test_a_failing_step_ends_it(self):
        (self.tree / "tools/docs").write_text("#!/bin/sh\nexit 3\n")
        self.commit("no site")
        self.assertIn("release: exit code 3: tools/docs build/site", self.release(code=1).stderr)


class Notes(unittest.TestCase):
    def test_are_the_section_of_the_version(self):
        date, notes = runpy.run_path(str(ROOT / "tools/release"))["notes_of"](VERSION, CHANGES)
        self.assertEqual(date, "2030-01-02")
        self.assertEqual(notes, f"# gpumc {VERSION}\n\nThe first one.\n\n### Added\n\n- This (how: `docs/a.md`), after [that](https://x.y/z).\n")

    def test_of_this_tree(self):
        notes = runpy.run_path(str(ROOT / "tools/release"))["notes_of"](VERSION, (ROOT / "CHANGELOG.md").read_text())[1]
        self.assertTrue(notes.startswith(f"# gpumc {VERSION}\n"))
        self.assertNotIn("](docs", notes)


if __name__ == "__main__":
    cases.main()
