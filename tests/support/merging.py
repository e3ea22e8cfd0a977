"""Test cases that merge results."""
import h5py

from support.program import INVALID, ProgramCase


class MergeCase(ProgramCase):
    def merge(self, *paths, refused=None, code=INVALID):
        """Returns the merged file, open for reading; None if it must be refused with these words."""
        output = self.path("merged.h5")
        output.unlink(missing_ok=True)
        if refused is not None:
            self.assertIn(refused, self.gpumc("merge", output, *paths, code=code).err)
            self.assertFalse(output.exists())
            return None
        self.gpumc("merge", output, *paths)
        file = h5py.File(output, "r")
        self.addCleanup(file.close)
        return file
