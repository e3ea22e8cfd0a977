"""Couplings from files in every way that HDF5 can store them, and from damaged files: what a run simulates is
what another reader finds in the file, or the file is refused with a message that names it.

support/fuzz.py has the number of files that are drawn (a few by default) and the seed."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import unittest

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import cases, fuzz
from support.program import INVALID, OK, ProgramCase
from support.sanitizers import SANITIZED

FILES = fuzz.files(60)
ENOUGH = 20  # damaged files of which one is refused at least: of a few all may be read, as every second one of HDF5 is
SHAPE = (4, 6)
SITES = 24
LARGEST = 1e6
SECONDS = 20  # a file that takes longer hangs
CONFIG = """\
gpumc: 1
seed: 3
model: {name: ea, shape: [4, 6], couplings: file, file: c.in, write_couplings: true}
algorithm: {name: pa, population: 32, sweeps: 1, beta: {to: 0.1, step: 0.1}}
output: out.h5
"""
# Of another process, which HDF5 may crash.
READ = """\
import sys, h5py, numpy
with h5py.File("c.in") as file:
    group = file["disorder"] if "disorder" in file else file
    parts = [numpy.asarray(group[name][...], float) for name in ("shape", "couplings")]
    parts.append(numpy.asarray(group["fields"][...], float) if "fields" in group else numpy.empty(0))
numpy.savez("found.npz", *parts)
"""


# --- layouts: what makes a dataset `couplings` of the values, and whether its numbers are in the file

def plain(file, values, _):
    file["couplings"] = values


def of_another_type(file, values, rng):
    file.create_dataset("couplings", data=values, dtype=rng.choice(["<f4", ">f8", "i1", ">i4", "i8"]))


def chunked(file, values, rng):
    file.create_dataset("couplings", data=values, chunks=(1, rng.choice([1, 7, SITES]), 2), compression="gzip",
                        shuffle=rng.random() < 0.5, fletcher32=rng.random() < 0.5)


def extensible(file, values, _):
    file.create_dataset("couplings", data=values, maxshape=(None, SITES, 2))


def compact(file, values, _):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_layout(h5py.h5d.COMPACT)
    made = h5py.h5d.create(file.id, b"couplings", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(values.shape), creation)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values)


def behind_links(file, values, _):
    file["elsewhere/numbers"] = values
    file["alias"] = h5py.SoftLink("/elsewhere")
    file["couplings"] = h5py.SoftLink("/alias/numbers")


def never_written(file, values, rng):
    file.create_dataset("couplings", values.shape, "f8", fillvalue=rng.choice([0.0, 1.0]),
                        chunks=rng.choice([None, (1, SITES, 2)]))


def written_in_parts(file, values, _):
    made = file.create_dataset("couplings", values.shape, "f8", chunks=(1, SITES // 2, 2), fillvalue=1)
    made[:, :SITES // 2] = values[:, :SITES // 2]


def declared_only(file, values, rng):
    count = rng.choice([2 * 10**8, 2**40, 2**62 // SITES])
    made = file.create_dataset("couplings", (count, SITES, 2), "f8", chunks=(1, SITES, 2), maxshape=(None, SITES, 2))
    made[0] = values[0]


def external(file, values, rng):
    (pathlib.Path(file.filename).parent / "raw").write_bytes(values.tobytes())
    name = rng.choice([b"raw", b"absent", b"/etc/passwd", b"/dev/zero", b"fifo"])
    file.create_dataset("couplings", values.shape, "f8", external=[(name, 0, h5py.h5f.UNLIMITED)])


def virtual(file, values, rng):
    with h5py.File(pathlib.Path(file.filename).parent / "source.h5", "w") as source:
        source["couplings"] = values
    name = rng.choice([b".", b"c.in", b"source.h5", b"absent.h5", b"fifo", b"%b.h5"])
    grows = b"%b" in name or rng.random() < 0.5
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    extent = (h5py.h5s.UNLIMITED, SITES, 2)
    here, there = (h5py.h5s.create_simple(values.shape, extent if grows else values.shape) for _ in range(2))
    if grows:
        if b"%b" in name:
            there = h5py.h5s.create_simple((1, SITES, 2))
        for space in [here] if b"%b" in name else [here, there]:
            space.select_hyperslab((0, 0, 0), (h5py.h5s.UNLIMITED, 1, 1), (1, SITES, 2), (1, SITES, 2))
    creation.set_virtual(here, name, b"couplings", there)
    space = h5py.h5s.create_simple(values.shape, extent if grows else values.shape)
    h5py.h5d.create(file.id, b"couplings", h5py.h5t.IEEE_F64LE, space, creation)


def link_to_another_file(file, values, rng):
    with h5py.File(pathlib.Path(file.filename).parent / "source.h5", "w") as source:
        source["disorder/couplings"], source["disorder/shape"] = values, SHAPE
    name = rng.choice(["source.h5", "absent.h5", "fifo", "c.in"])
    if rng.random() < 0.3:
        file["out"] = h5py.ExternalLink(name, "/disorder")
        file["couplings"] = h5py.SoftLink("/out/couplings")
    elif rng.random() < 0.5:
        file["disorder"] = h5py.ExternalLink(name, "/disorder")
    else:
        file["couplings"] = h5py.ExternalLink(name, "/disorder/couplings")


def link_to_itself(file, _, __):
    file["couplings"] = h5py.SoftLink("/couplings")


def not_numbers(file, values, rng):
    file["couplings"] = rng.choice([np.array([b"x"]), values[0], values[..., :1], values != 0])


ACCEPTED = [plain, of_another_type, chunked, extensible, compact, behind_links]
REFUSED = {never_written: "was never written", written_in_parts: "was written only in part",
           declared_only: "", external: "external storage", virtual: "virtual dataset", link_to_another_file: "",
           link_to_itself: "", not_numbers: "must hold numbers"}


def damage(rng, data):
    kind = rng.randrange(4)
    if kind == 0 and len(data) > 1:
        del data[rng.randrange(1, len(data)):]
    elif kind == 1:
        at = rng.randrange(len(data))
        data[at:at + 16] = bytes(len(data[at:at + 16]))
    else:
        for _ in range(rng.choice([1, 1, 3])):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def number(word):
    """Of a text, as strtod has it."""
    word = word.lstrip("\v\f")
    if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", word):
        return float(word)
    if re.fullmatch(r"[+-]?0[xX][0-9a-fA-F.pP+-]+", word):
        return float.fromhex(word)
    raise ValueError(word)


def parse(text):
    """What the documentation says of text files: couplings and fields, or None for a file that is refused."""
    words = [word for line in text.removeprefix("\ufeff").split("\n") for word in
             re.split("[ \t\r]+", line.split("#")[0]) if word]
    if len(words) < 3 or words[0] != "shape" or "\0" in text:
        return None
    try:
        sides, at, couplings, fields = [number(word) for word in words[1:3]], 3, [], []
        while at < len(words):
            into, count = {"couplings": (couplings, 2 * SITES), "fields": (fields, SITES)}[words[at]]
            into.append([number(word) for word in words[at + 1:at + 1 + count]])
            if len(into[-1]) != count or (into is fields and len(fields) != len(couplings)):
                return None
            if into is couplings and len(couplings) > 1 and len(fields) not in (0, len(couplings) - 1):
                return None
            at += 1 + count
    except (KeyError, ValueError):
        return None
    numbers = np.array(couplings + fields, object)
    if sides != list(SHAPE) or not couplings or len(fields) not in (0, len(couplings)):
        return None
    if not all(abs(value) <= LARGEST for row in numbers for value in row):
        return None
    return np.array(couplings), np.array(fields)


class Fuzz(ProgramCase):
    def setUp(self):
        super().setUp()
        os.mkfifo(self.path("fifo"))
        self.config = self.write("c.yaml", CONFIG)
        self.rng = self.generator(0)
        numbers = np.random.default_rng(7)
        self.values = numbers.choice([-1.0, 1.0], size=(3, SITES, 2))
        self.fields = numbers.choice([-1.0, 1.0], size=(3, SITES))

    def generator(self, number):
        return fuzz.generator(20261124, number)

    def simulated(self):
        """Couplings and fields of sample 0 that a run took, or None, and the message."""
        self.path("out.h5").unlink(missing_ok=True)
        process = self.start("run", self.config, "--quiet", "--fresh")
        out, err = process.communicate(timeout=SECONDS)
        self.assertIn(process.returncode, [OK, INVALID], f"{out}{err}")
        if process.returncode == INVALID:
            return None, err
        with h5py.File(self.path("out.h5")) as file:
            group = file["disorder"]
            return (group["couplings"][0], group["fields"][0] if "fields" in group else np.zeros(SITES)), err

    def assert_close(self, found, couplings, fields):
        """But for the rounding to quanta."""
        fields = fields[0] if len(fields) else np.zeros(SITES)
        size = max(np.abs(couplings).max(), np.abs(fields).max(), 1.0)
        np.testing.assert_allclose(found[0].ravel(), couplings[0].ravel(), 0, 1e-6 * size)
        np.testing.assert_allclose(found[1], fields, 0, 1e-6 * size)

    def make(self, layout, fields=False, versions=None):
        self.path("c.in").unlink(missing_ok=True)
        # The newer format is that of HDF5 1.10: h5py may bring a library newer than the program's.
        versions = versions or self.rng.choice(["earliest", ("v110", "v110")])
        with h5py.File(self.path("c.in"), "w", libver=versions) as file:
            layout(file, self.values, self.rng)
            if "disorder" not in file:
                file["shape"] = SHAPE
            if fields:
                file["fields"] = self.fields

    def test_layouts(self):
        layouts = ACCEPTED + list(REFUSED)
        for number in cases.of(range(max(FILES, 3 * len(layouts)))):
            self.rng = self.generator(number)
            layout = layouts[number % len(layouts)]
            with self.subTest(number=number, layout=layout.__name__):
                self.make(layout, fields=layout in ACCEPTED and self.rng.random() < 0.3)
                found, message = self.simulated()
                if layout in ACCEPTED:
                    self.assertIsNotNone(found, message)
                    with h5py.File(self.path("c.in")) as file:
                        self.assert_close(found, file["couplings"][...], file.get("fields", np.empty(0))[...])
                else:
                    self.assertIsNone(found)
                    self.assertIn("c.in: ", message)
                    self.assertIn(REFUSED[layout], message)
                    self.assertNotIn("out of memory", message)

    def test_filter_that_is_missing(self):
        self.make(chunked, versions="earliest")  # the newer format has no names of filters
        with h5py.File(self.path("c.in"), "r+") as file:
            del file["couplings"]
            creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            creation.set_chunk((1, SITES, 2))
            creation.set_filter(h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FLAG_OPTIONAL)
            made = h5py.h5d.create(file.id, b"couplings", h5py.h5t.IEEE_F64LE,
                                   h5py.h5s.create_simple(self.values.shape), creation)
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, self.values)
        data = self.path("c.in").read_bytes()
        name = b"shuffle\0"
        at = data.index(name) - 8  # number of the filter, length of the name, flags, count of values
        self.assertEqual(data[at:at + 2], b"\x02\0")
        self.path("c.in").write_bytes(data[:at] + (31999).to_bytes(2, "little") + data[at + 2:])
        found, message = self.simulated()
        self.assertIsNone(found)
        self.assertIn("c.in: couplings is stored with filter 31999 (shuffle), which is unavailable here", message)

    def refused(self, data, told):
        self.path("c.in").write_bytes(data)
        found, message = self.simulated()
        self.assertIsNone(found)
        self.assertIn(f"c.in: {told}", message)

    def test_more_numbers_declared_than_stored(self):
        """HDF5 1.10 reads on, behind the end of what it holds in memory or of what the file has for them."""
        extent = b"".join(side.to_bytes(8, "little") for side in self.values.shape)
        for layout in compact, plain:
            for count in 2, 4, 2**61:
                with self.subTest(layout=layout.__name__, count=count):
                    with h5py.File(self.path("c.in"), "w", libver="earliest") as file:
                        layout(file, self.values, None)
                        file["shape"] = SHAPE
                    data = self.path("c.in").read_bytes()
                    self.assertEqual(data.count(extent), 2)  # the extent and its limit
                    self.refused(data.replace(extent, count.to_bytes(8, "little") + extent[8:]),
                                 "couplings is damaged: it does not declare as many bytes as are stored")

    def test_chunks_shorter_than_declared(self):
        """One chunk, and the extent of it that the layout has is larger than what is stored."""
        with h5py.File(self.path("c.in"), "w", libver="earliest") as file:
            file.create_dataset("couplings", data=self.values, maxshape=(None, SITES, 2), chunks=(3, SITES, 2))
            file["shape"] = SHAPE
        data = self.path("c.in").read_bytes()
        chunk = b"".join(side.to_bytes(4, "little") for side in (3, SITES, 2, 8))
        self.assertEqual(data.count(chunk), 1)
        self.refused(data.replace(chunk, chunk[:4] + (16384 + SITES).to_bytes(4, "little") + chunk[8:]),
                     "couplings is damaged: its chunks do not have the size that it declares")

    def test_names_that_cannot_be_read(self):
        """Fields that the damage hides are not fields that are absent."""
        with h5py.File(self.path("c.in"), "w", libver="earliest") as file:
            file["couplings"], file["shape"], file["fields"] = self.values, SHAPE, self.fields
            file["alias"] = file["elsewhere"] = file["shape"]  # the search for the others does not pass the fields
        data = self.path("c.in").read_bytes()
        table = data.index(b"SNOD") + 8  # a link takes 40 bytes, the first 8 the place of its name; in their order
        at = table + 3 * 40
        first = int.from_bytes(data[table:table + 8], "little")
        place = first + data.index(b"fields\0") - data.index(b"alias\0")
        self.assertEqual(int.from_bytes(data[at:at + 8], "little"), place)
        self.refused(data[:at] + (2**40).to_bytes(8, "little") + data[at + 8:], "cannot look for fields")

    def test_many_samples_of_which_few_are_needed(self):
        """Every number is there, in few bytes: 0.36 GiB of couplings, in the memory of one sample."""
        self.path("c.in").unlink(missing_ok=True)
        with h5py.File(self.path("c.in"), "w") as file:
            file["shape"] = SHAPE
            made = file.create_dataset("couplings", (10**6, SITES, 2), "i1", chunks=(10**5, SITES, 2), compression=9)
            for first in range(0, 10**6, 10**5):
                made[first:first + 10**5] = 1
        self.assertLess(self.path("c.in").stat().st_size, 10**6)

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        if SANITIZED:
            self.skipTest("sanitizers need more address space than the limit")
        process = self.start("validate", self.config, preexec_fn=limit)
        _, message = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, OK, message)

    def test_memory_goes_with_the_samples_that_are_needed(self):
        """Of a text in one line, too: 2e5 samples, one of them needed, among the last; the same numbers as
        where it is the only one."""
        sample = " ".join(f"{value:g}" for value in self.values[0].ravel())
        other = " ".join(["1 -1"] * SITES)
        wanted = 199000
        self.write("c.in", f"shape 4 6 couplings {(other + ' couplings ') * wanted}{sample}"
                   + f" couplings {other}" * (199999 - wanted))
        config = CONFIG.replace("c.in", f"c.in, sample: {wanted}")
        self.write("c.yaml", config)
        found, message = self.simulated()
        self.assertIsNotNone(found, message)
        self.assert_close(found, self.values, [])
        if SANITIZED:
            self.skipTest("sanitizers need more memory")

        def limit():  # all couplings take 73 MiB, and the text, one line, 27 MiB
            resource.setrlimit(resource.RLIMIT_DATA, (60 << 20, 60 << 20))
        process = self.start("validate", self.config, preexec_fn=limit)
        _, message = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, OK, message)

    def test_damaged_files_of_hdf5(self):
        taken = refused = 0
        for number in cases.of(range(FILES)):
            taken += 1
            self.rng = self.generator(number)
            layout = self.rng.choice(ACCEPTED)
            self.make(layout, fields=True)
            data = bytearray(self.path("c.in").read_bytes())
            damage(self.rng, data)
            self.path("c.in").write_bytes(data)
            with self.subTest(number=number, layout=layout.__name__):
                found, message = self.simulated()
                if found is None:
                    refused += 1
                    self.assertIn("c.in", message)
                    continue
                self.path("found.npz").unlink(missing_ok=True)
                subprocess.run([sys.executable, "-c", READ], cwd=self.directory, check=False, timeout=SECONDS,
                               stderr=subprocess.DEVNULL)
                with np.load(self.path("found.npz")) as read:
                    shape, couplings, fields = (read[f"arr_{i}"] for i in range(3))
                self.assertEqual(list(shape), list(SHAPE))
                self.assert_close(found, couplings, fields)
        if taken >= min(FILES, ENOUGH):
            self.assertGreater(refused, 0)

    def test_damaged_texts(self):
        good = "# two samples\nshape 4 6\n" + "".join(
            f"couplings\n{' '.join(f'{v:g}' for v in couplings.ravel())}\nfields {' '.join(f'{v:g}' for v in fields)}\n"
            for couplings, fields in zip(self.values[:2], self.fields))
        taken = refused = 0
        for number in cases.of(range(FILES)):
            taken += 1
            data = bytearray(good.encode())
            damage(self.generator(number), data)
            self.path("c.in").write_bytes(data)
            with self.subTest(number=number):
                expected = parse(data.decode("latin-1"))
                found, message = self.simulated()
                if expected is None:
                    refused += 1
                    self.assertIsNone(found)
                    self.assertIn("c.in", message)
                elif found is None:  # beyond what a quantum can hold, which is said
                    self.assertIn("quant", message)
                else:
                    self.assert_close(found, *expected)
        if taken >= min(FILES, ENOUGH):
            self.assertGreater(refused, 0)

    def test_text_that_declares_a_large_lattice(self):
        """Memory follows the numbers that are there: the message has the line at which they end."""
        config = self.write("large.yaml", CONFIG.replace("[4, 6]", "[20000, 20000]"))
        self.write("c.in", "shape 20000 20000\ncouplings\n" + "1 -1 " * 400)

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        if SANITIZED:
            self.skipTest("sanitizers need more address space than the limit")
        process = self.start("validate", config, preexec_fn=limit)
        _, message = process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, INVALID, message)
        self.assertIn("c.in:3: expected number 801 of the 800000000 couplings of sample 0, found the end", message)


if __name__ == "__main__":
    unittest.main()
