"""The Python reader: whose fault an error is, what it reads of a file and how often.

CTest: release (cli_test_damaged_results, unit_test_result_info), methods 5 s
"""
import json
import os
import pathlib
import sys
from unittest import mock

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, device
from support.edited_result import edited
from support.program import LONG, STOPPED, ProgramCase

sys.path.insert(0, str(device.ROOT / "tools/python"))
import gpumc  # noqa: E402
from gpumc import files, probe, reader  # noqa: E402
from gpumc.plot import sources  # noqa: E402

CONFIG = """\
gpumc: 1
seed: 5
model: {name: ising2d, shape: [4, 4]}
algorithm: {name: canonical, beta: {values: [0.3, 0.5]}, replicas: 2, thermalization: 10, sweeps: 200,
            configurations: {every: 50}}
output: small.h5
"""


class Reader(ProgramCase):
    device = None

    def setUp(self):
        super().setUp()
        self.gpumc("run", self.write("c.yaml", CONFIG))
        self.result = self.path("small.h5")

    def take_seal_away(self):
        """As in version 1, which had none."""
        with h5py.File(self.result, "r+") as file:
            file.attrs["format_version"] = np.int64(1)

    def settled(self, seconds=0):
        return mock.patch.object(files, "_SETTLED_SECONDS", seconds)


class Faults(Reader):
    def test_mistakes_of_the_user_stay_theirs(self):
        for mistake in (KeyError("typo"), MemoryError(), FileNotFoundError("mine.txt"), ValueError(3)):
            with self.assertRaises(type(mistake)) as caught:
                with gpumc.opened(self.result):
                    raise mistake
            self.assertIs(caught.exception, mistake)
        with self.assertRaises(ValueError):
            gpumc.configurations(self.result, sweep="last")

    def test_mistakes_of_the_file_are_told(self):
        with h5py.File(self.result, "r+") as file:
            del file["config/resolved"]
            file["config/resolved"] = "{"
        gpumc.seal(self.result)
        for read in (gpumc.read, gpumc.configurations):
            with self.assertRaisesRegex(gpumc.ResultError, "small.h5: not in the form that gpumc writes"):
                read(self.result)

    def test_too_little_memory_is_no_damage(self):
        with mock.patch.object(reader, "_table", side_effect=MemoryError):
            with self.assertRaisesRegex(gpumc.ResultError, "not enough memory to read it$"):
                gpumc.read(self.result)


class Texts(Reader):
    """Of fixed length in attributes, of variable length where they are long, and everywhere before version 3."""

    def make_version_2(self):
        def rewrite(_, item):
            for name, value in gpumc.attributes(item).items():
                if isinstance(value, str) and name not in ("CLASS", "NAME"):  # those are HDF5's own
                    item.attrs[name] = value

        with edited(self.result) as file:
            rewrite("/", file)
            file.visititems(rewrite)
            file.attrs["format_version"] = np.int64(2)

    def test_version_2_reads_the_same(self):
        now, shown = gpumc.read(self.result), json.loads(self.gpumc("info", "small.h5", "--json").out)
        self.make_version_2()
        with h5py.File(self.result) as file:
            self.assertIsInstance(file["summary/energy"].attrs["long_name"], str)
        before = gpumc.read(self.result)
        self.assertEqual((now.format_version, before.format_version), (3, 2))
        for field in "title", "labels", "remarks", "run_labels", "config", "source", "provenance":
            self.assertEqual(getattr(before, field), getattr(now, field), field)
        again = json.loads(self.gpumc("info", "small.h5", "--json").out)
        self.assertEqual(again, {**shown, "format_version": 2})
        self.assertIn("already complete", self.gpumc("run", "c.yaml").err)

    def test_long_texts(self):
        """Up to the limit, and beyond it; also in the working file, which must be known for ours."""
        limit = files.LONGEST_FIXED_TEXT
        config = self.write("long.yaml", LONG)
        for length in limit, limit + 1, 40 * limit:
            self.result.unlink()
            title = ("β" * length)[:length // 2] + "x" * (length % 2)
            keys = ["--set", f"title={title}"]
            self.gpumc("run", config, *keys, "--max-time", "100ms", code=STOPPED)
            with h5py.File(self.path("small.h5.partial"), "r", swmr=True) as file:
                fixed = h5py.check_string_dtype(file.attrs.get_id("title").dtype).length is not None
                self.assertEqual(fixed, length <= limit)
                self.assertEqual(gpumc.attributes(file)["title"], title)
            self.gpumc("run", config, *keys, "--max-time", "100ms", code=STOPPED)
            self.assertIn("resumable", self.gpumc("status", config, *keys).out)
            self.gpumc("run", "c.yaml", *keys, "--fresh")
            self.assertEqual(gpumc.read(self.result).title, title)
            self.assertEqual(json.loads(self.gpumc("info", "small.h5", "--json").out)["title"], title)


class Vanishing(Reader):
    """A run that ends gives its working file the final name at any moment, also while it is read."""

    def read(self, act, once):
        """Reads the working file; act(moment) is called at the first call of each function of files.py from each other one, and
        where not `once` at every call."""
        seen = set()

        def look(frame, event, function):
            caller = frame if event == "c_call" else frame.f_back
            if event not in ("call", "c_call") or caller is None or caller.f_code.co_filename != files.__file__:
                return
            moment = (caller.f_code.co_name, function.__qualname__ if event == "c_call" else frame.f_code.co_name)
            if moment not in seen or not once:
                seen.add(moment)
                act(moment)

        files._known.clear()
        quick = mock.patch.object(files, "_PROBE", "print(flush=True)")  # which dies at once
        with quick, self.settled():
            sys.setprofile(look)
            try:
                return sources.settled(str(self.working))
            finally:
                sys.setprofile(None)

    def test_at_every_moment(self):
        """The picture is then that of the finished result; gpumc.read() has the numbers or says that there is no such file."""
        self.take_seal_away()  # so that the file is tried by a probe, as that of a run is
        self.working = self.path("small.h5.partial")
        os.rename(self.result, self.working)
        moments = []
        expected = self.read(moments.append, once=True)
        self.assertGreater(len(moments), 40)
        self.assertTrue({"_state", "_has_seal", "_try", "_follow", "_is_live"} <= {caller for caller, _ in moments})
        for moment in moments:
            def vanish(now, moment=moment):
                if now == moment and self.working.exists():
                    os.rename(self.working, self.result)

            with self.subTest(moment=moment):
                found = self.read(vanish, once=False)
                np.testing.assert_array_equal(found.summary["energy"], expected.summary["energy"])
                self.assertTrue(self.result.exists())
            if self.result.exists():
                os.rename(self.result, self.working)

    def test_without_a_result(self):
        for name in "none.h5", "none.h5.partial":
            with self.assertRaisesRegex(gpumc.ResultError, f"{name}: No such file or directory$"):
                gpumc.read(self.path(name))


class Parts(Reader):
    def test_a_file_is_verified_once(self):
        with self.settled(), mock.patch.object(files, "_sum", wraps=files._sum) as verified:
            for sweep in (50, 100, 150, 200):
                gpumc.configurations(self.result, sweep=sweep)
            self.assertEqual(verified.call_count, 1)
            gpumc.seal(self.result)
            gpumc.read(self.result)
            self.assertEqual(verified.call_count, 3)  # by seal() and read()

    def test_a_changed_file_is_verified_again(self):
        data = bytearray(self.result.read_bytes())
        with self.settled():
            gpumc.read(self.result)
            data[len(data) // 2] ^= 1
            self.result.write_bytes(data)
            with self.assertRaisesRegex(gpumc.ResultError, "damaged"):
                gpumc.read(self.result)

    def test_a_file_that_changed_just_now_is_not_remembered(self):
        """It may change again at what its file system takes for the same time."""
        with self.settled(3600), mock.patch.object(files, "_sum", wraps=files._sum) as verified:
            gpumc.read(self.result)
            gpumc.read(self.result)
            self.assertEqual(verified.call_count, 2)

    def test_files_without_a_checksum_are_tried_once(self):
        self.take_seal_away()
        with self.settled(), mock.patch.object(files, "_try", wraps=files._try) as tried:
            self.assertEqual(gpumc.read(self.result).format_version, 1)
            gpumc.read(self.result)
            self.assertEqual(tried.call_count, 1)
            times, spins = gpumc.configurations(self.result, sweep=100, temperature=1)
            self.assertEqual((list(times), spins.shape), ([100], (1, 1, 2, 4, 4)))
            self.assertEqual(tried.call_count, 2)

    def read_by_probe(self, *trial):
        """The datasets, each with how many of its rows were read."""
        rows = {}
        item = h5py.Dataset.__getitem__

        def spy(dataset, *arguments, **options):
            values = item(dataset, *arguments, **options)
            rows[dataset.name] = rows.get(dataset.name, 0) + len(np.atleast_1d(values))
            return values

        with mock.patch.object(h5py.Dataset, "__getitem__", spy), mock.patch.object(files, "is_probe", False):
            probe.main(str(self.result), *trial)
        return rows

    def test_only_what_is_read_is_tried(self):
        self.take_seal_away()
        every = self.read_by_probe()["/configurations/bytes"]
        self.assertNotIn("/configurations/bytes", self.read_by_probe("read"))
        self.assertIn("/summary/energy", self.read_by_probe("read"))
        part = self.read_by_probe("configurations", "[100, 1, null, null]")
        self.assertEqual(part["/configurations/bytes"], every // 8)
        self.assertNotIn("/summary/energy", part)

    def test_a_trial_that_takes_long_shows_no_damage(self):
        self.take_seal_away()
        with mock.patch.object(files, "_BEGIN_SECONDS", 0):
            with self.assertRaises(gpumc.ResultError) as caught:
                gpumc.read(self.result)
        self.assertIn("got no further for 0 s; try again", str(caught.exception))
        self.assertNotIn("damaged", str(caught.exception))


if __name__ == "__main__":
    cases.main()
