"""Whatever is at a path of the user, no command hangs, no file of others is touched, and the message says what it is.

CTest: methods 5 s
"""
import itertools
import json
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases
from support.program import CAMPAIGN, FAILURE, INVALID, OK, SMALL, STOPPED, ProgramCase

SECONDS = 60  # much more than any of these commands needs, and less than for ever

# Files beside a result, and what is on its way to their names.
SUFFIXES = [".partial", ".partial.new", ".ckpt", ".ckpt.new", ".log", ".log.new", ".status", ".status.new", ".lock"]

# With a log.
LOGGED = SMALL.replace("  runs: 2\n", "  runs: 2\n  configurations: {betas: [0, 0.2]}\n")


def fifo(path):
    os.mkfifo(path)


def directory(path):
    path.mkdir()


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))


def device(path):
    path.symlink_to("/dev/zero")


def dangling(path):
    path.symlink_to("nowhere")


def looping(path):
    path.symlink_to(path.name)


def link_to_a_file(path):
    (path.parent / "target").write_text("mine")
    path.symlink_to("target")


def link_to_a_fifo(path):
    os.mkfifo(path.parent / "pipe")
    path.symlink_to("pipe")


KINDS = {fifo: "a FIFO", directory: "a directory", a_socket: "a socket", device: "a device", link_to_a_fifo: "a FIFO"}
LINKS = [dangling, looping, link_to_a_file]


def state(path):
    """A fingerprint of the file at a name: any change is seen."""
    found = os.lstat(path)
    link = os.readlink(path) if stat.S_ISLNK(found.st_mode) else None
    content = path.read_bytes() if stat.S_ISREG(found.st_mode) else None
    return stat.S_IFMT(found.st_mode), found.st_ino, link, content


class SpecialCase(ProgramCase):
    def setUp(self):
        super().setUp()
        before = os.getcwd()
        os.chdir(self.directory)  # names of sockets are short
        self.addCleanup(os.chdir, before)
        self.config = self.write("c.yaml", SMALL)

    def clear(self, *names):
        for path in list(self.directory.iterdir()):
            if path.name not in ("c.yaml", *names):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def quick(self, *arguments, code, **options):
        return self.gpumc(*arguments, code=code, timeout=SECONDS, **options)


class ReadPaths(SpecialCase):
    """Configurations, results, couplings."""

    def test_no_command_hangs_or_reads_it(self):
        commands = [["run", "X"], ["validate", "X"], ["plan", "X"], ["status", "X"], ["info", "X"]]
        for make, kind in KINDS.items():
            for command in commands:
                with self.subTest(kind=make.__name__, command=command[0]):
                    self.clear()
                    make(self.path("X"))
                    process = self.quick(*command, code=FAILURE)
                    self.assertIn(f"not a regular file but {kind}", process.err)

    def test_links_that_lead_nowhere(self):
        for make, says in [(dangling, "No such file"), (looping, "Too many levels of symbolic links")]:
            for command in ["run", "validate", "plan", "status", "info"]:
                with self.subTest(kind=make.__name__, command=command):
                    self.clear()
                    make(self.path("X"))
                    self.assertIn(says, self.quick(command, "X", code=FAILURE).err)

    def test_a_pipe_is_no_configuration(self):
        for path in ["/dev/stdin", "/dev/fd/0"]:
            process = self.start("validate", path, stdin=subprocess.PIPE)
            process.out, process.err = process.communicate(SMALL, timeout=SECONDS)
            self.assertEqual(process.returncode, FAILURE)
            self.assertIn("not a regular file but a FIFO", process.err)

    def test_couplings(self):
        config = self.write("c.yaml", SMALL.replace("name: ising2d", "name: ea\n  couplings: file\n  file: X"))
        for make, kind in KINDS.items():
            with self.subTest(kind=make.__name__):
                self.clear()
                make(self.path("X"))
                self.assertIn(f"cannot read X: not a regular file but {kind}",
                              self.quick("validate", config, code=INVALID).err)


class Output(SpecialCase):
    def refused(self, codes, says):
        """`run`, also --fresh, leaves it alone; `status` says that it would."""
        before = state(self.path("X"))
        for fresh in [[], ["--fresh"]]:
            process = self.start("run", self.config, "-o", "X", *fresh)
            process.out, process.err = process.communicate(timeout=SECONDS)
            self.assertIn(process.returncode, codes, process.err)
            self.assertIn(says, process.err)
            self.assertNotIn("damaged result", process.err)
            self.assertEqual(state(self.path("X")), before)
            self.assertEqual([name for name in self.names("X*") if name != "X"], [])
        task, = json.loads(self.quick("status", self.config, "-o", "X", "--json", code=OK).out)["tasks"]
        self.assertIn(task["state"], ["refused", "failed"])
        self.quick("plan", self.config, "-o", "X", code=OK)

    def test_special_files(self):
        for make, kind in KINDS.items():
            with self.subTest(kind=make.__name__):
                self.clear()
                make(self.path("X"))
                self.refused([FAILURE, INVALID], kind)

    def test_hdf5_of_others(self):
        """Closed, or left open by a writer that was killed; no damaged result of gpumc is any of them."""
        for library, value, is_open in cases.of(itertools.product(("earliest", "latest"), (None, "theirs", [1, 2]),
                                                                  (False, True))):
            with self.subTest(library=library, format=value, is_open=is_open):
                self.clear()
                with h5py.File(self.path("writing"), "w", libver=library) as file:
                    file["energy"] = [1.0, 2.0]
                    if value is not None:
                        file.attrs["format"] = value
                    file.flush()
                    shutil.copy(self.path("writing"), self.path("X"))
                if not is_open:
                    shutil.copy(self.path("writing"), self.path("X"))
                self.path("writing").unlink()
                said = "X: is an HDF5 file, but not a result of gpumc"
                self.assertIn(said, self.quick("info", "X", code=FAILURE).err)
                self.refused([INVALID], said)

    def test_links(self):
        for make, says in [(dangling, "leads nowhere"), (looping, "leads in a circle"), (link_to_a_file, "symbolic link")]:
            with self.subTest(kind=make.__name__):
                self.clear()
                make(self.path("X"))
                self.refused([INVALID], says)
        self.assertEqual(self.path("target").read_text(), "mine")

    def test_link_to_the_finished_result(self):
        """It is read, but never replaced."""
        self.gpumc("run", self.config, "-o", "kept.h5", "--quiet")
        self.path("X").symlink_to("kept.h5")
        before = state(self.path("X")), state(self.path("kept.h5"))
        self.assertIn("already complete", self.quick("run", self.config, "-o", "X", code=OK).err)
        self.assertIn("symbolic link", self.quick("run", self.config, "-o", "X", "--fresh", code=INVALID).err)
        self.quick("run", self.config, "-o", "X", "--set", "seed=12", code=INVALID)
        self.assertEqual((state(self.path("X")), state(self.path("kept.h5"))), before)

    def test_that_cannot_be_read(self):
        """No statement about the file, so no mistake of the configuration: exit 1."""
        self.gpumc("run", self.config, "-o", "X", "--quiet")
        self.path("X").chmod(0)
        self.directory.chmod(0o777)
        nobody = {"user": 65534} if os.getuid() == 0 else {}
        process = self.quick("run", self.config, "-o", "X", code=FAILURE, **nobody)
        self.assertIn("X: cannot open: Permission denied", process.err)


class Beside(SpecialCase):
    """At every name beside the result."""

    def check(self, name, before):
        for command in [["run", self.config], ["run", self.config, "--fresh"]]:
            process = self.quick(*command, code=FAILURE)
            self.assertIn(f"{name}: not a ", process.err)
            self.assertIn("left alone: move it away or choose another output", process.err)
            self.assertEqual(state(self.path(name)), before)
        task, = json.loads(self.quick("status", self.config, "--json", code=OK).out)["tasks"]
        self.assertEqual(task["state"], "failed")
        self.assertIn(name, task["message"])
        self.assertEqual([other for other in self.names("small.h5*") if other != name], [])

    def test_special_files_and_links(self):
        for suffix, make in cases.of(itertools.product(SUFFIXES, [*KINDS, *LINKS])):
            with self.subTest(suffix=suffix, kind=make.__name__):
                self.clear()
                make(self.path("small.h5" + suffix))
                self.check("small.h5" + suffix, state(self.path("small.h5" + suffix)))

    def test_files_of_others(self):
        self.gpumc("run", self.config, "-o", "other.h5", "--set", "seed=12", "--quiet")
        with h5py.File("plain.h5", "w", libver="latest") as file:
            file["x"] = range(1000)
        contents = {"text": b"mine\n", "json": b'{"state": "running"}', "zeros": bytes(1000), "number": b"4711 host\n",
                    "hdf5": self.path("plain.h5").read_bytes(), "result": self.path("other.h5").read_bytes()}
        files = list(itertools.product(SUFFIXES, contents))
        files.remove((".partial.new", "result"))  # a working file that became a result has no other name than .partial
        for suffix, kind in cases.of(files):
            with self.subTest(suffix=suffix, kind=kind):
                self.clear()
                path = self.path("small.h5" + suffix)
                path.write_bytes(contents[kind])
                self.check(path.name, state(path))

    def test_stay_when_the_run_ends_or_was_complete(self):
        """They come while the run works, or after it."""
        for suffix in SUFFIXES:
            with self.subTest(suffix=suffix):
                self.clear()
                self.gpumc("run", self.config, "--quiet")
                path = self.path("small.h5" + suffix)
                path.write_bytes(b"mine\n")
                self.assertIn("already complete", self.quick("run", self.config, code=OK).err)
                self.assertEqual(path.read_bytes(), b"mine\n")

    def test_a_copy_of_the_result_at_the_working_file(self):
        self.gpumc("run", self.config, "--quiet")
        shutil.copy(self.path("small.h5"), self.path("small.h5.partial"))
        before = state(self.path("small.h5.partial"))
        self.quick("run", self.config, code=OK)
        self.assertEqual(state(self.path("small.h5.partial")), before)
        self.assertIn("a finished or damaged result", self.quick("run", self.config, "--fresh", code=FAILURE).err)
        self.assertEqual(state(self.path("small.h5.partial")), before)

    def test_empty_files_are_no_obstacle(self):
        config = self.write("c.yaml", LOGGED)
        for suffix in SUFFIXES:
            if suffix == ".ckpt":
                continue  # says that one is damaged
            with self.subTest(suffix=suffix):
                self.clear()
                self.path("small.h5" + suffix).write_bytes(b"")
                self.quick("run", config, "--quiet", code=OK)
                self.assertEqual(self.names("small.h5*"), ["small.h5"])

    def test_of_an_unfinished_run(self):
        """The message names the file in the way; once it is moved away, the run continues."""
        config = self.write("c.yaml", LOGGED)
        for suffix in SUFFIXES:
            with self.subTest(suffix=suffix):
                self.clear()
                self.gpumc("run", config, "--max-time", "1 ms", code=STOPPED)
                path = self.path("small.h5" + suffix)
                ours = path.read_bytes() if path.exists() else None
                path.write_bytes(b"mine\n")
                self.quick("run", config, code=FAILURE)
                self.assertEqual(path.read_bytes(), b"mine\n")
                path.unlink()
                if ours is not None:
                    path.write_bytes(ours)
                self.assertIn("resuming", self.quick("run", config, code=OK).err)


class Campaigns(SpecialCase):
    """Tasks whose files would meet are refused before anything is written."""

    CONFIG = (SMALL.replace("name: ising2d", "name: ea\n  couplings: file\n  file: c").replace("[8, 8]", "[4, 4]")
              .replace("small.h5", "'q/{model.file}'"))

    def verdict(self, *files, code=INVALID):
        for name in files:
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text("shape 4 4\ncouplings " + "1 -1 " * 16 + "\n")
        config = self.write("c.yaml", self.CONFIG + f"campaign:\n  model.file: {json.dumps(files)}\n")
        return self.quick("validate", config, code=code).err

    def test_whose_files_meet(self):
        self.path("q/d").mkdir(parents=True)
        self.path("d").mkdir()
        self.path("q/e").symlink_to("d")
        self.path("e").symlink_to("d")
        for suffix in SUFFIXES:
            for files in [["c2", "c2" + suffix], ["a", "c2" + suffix, "c2"]]:
                with self.subTest(files):
                    self.assertIn(f"gives the file {suffix} next to its own result", self.verdict(*files))
        for files in [["c", "./c"], ["c", "d/../c"], ["d/c", "d//c"], ["d/c", "e/c"], ["d/c", "e/../d/./c"]]:
            with self.subTest(files):
                self.assertIn("would both write", self.verdict(*files))

    def test_whose_files_do_not_meet(self):
        for files in [["c", "c.h5"], ["c", "c.ckpt.ckpt"], ["c", "d/c"], ["c.ckpt", "d/c"]]:
            with self.subTest(files):
                self.assertNotIn("output", self.verdict(*files, code=OK))

    def test_with_directories_that_are_not_there(self):
        config = self.write("c.yaml", CAMPAIGN.replace("out/{seed}.h5", "out/{seed}/../x.h5"))
        self.assertIn("would both write", self.quick("validate", config, code=INVALID).err)


if __name__ == "__main__":
    cases.main()
