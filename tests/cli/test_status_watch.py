"""gpumc status --watch: a table that is drawn anew on a terminal, a line for each change elsewhere; it ends with the tasks, and
with Ctrl-C."""
import pathlib
import re
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support.device import PROGRAM
from support.program import CAMPAIGN, FAILURE, INVALID, LONG, SMALL, ProgramCase, stop, wait_for
from support.terminal import Terminal

OTHER_SCREEN, THIS_SCREEN, CURSOR = "\033[?1049h", "\033[?1049l", "\033[?25h"
STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  "


class Watch(ProgramCase):
    def terminal(self, *words, **options):
        return Terminal([PROGRAM, "status", *words], self.directory, **options)

    def last_screen(self, text):
        """What is left on the terminal, and what had been drawn on the other screen."""
        drawn, _, left = text.rpartition(THIS_SCREEN)
        return left.replace("\r\n", "\n"), drawn

    def test_it_ends_when_all_tasks_are_done(self):
        config = self.write("c.yaml", CAMPAIGN)
        terminal = self.terminal(config, "--watch=0.2", NO_COLOR="1")
        terminal.until("3 not started")
        self.gpumc("run", config)
        left, drawn = self.last_screen(terminal.end())
        self.assertEqual(terminal.process.returncode, 0)
        self.assertEqual(left, self.gpumc("status", config).out)
        self.assertTrue(drawn.startswith(OTHER_SCREEN))
        self.assertTrue(drawn.endswith(CURSOR + "\033[?7h"))
        self.assertRegex(drawn, STAMP + "3 tasks: 0 done")

    def test_a_task_that_failed_ends_it_with_1(self):
        config = self.write("c.yaml", SMALL)
        self.write("small.h5", "not a result\n")
        terminal = self.terminal(config, "--watch=0.2")
        left, _ = self.last_screen(terminal.end())
        self.assertEqual(terminal.process.returncode, FAILURE)
        self.assertRegex(left, "refused|failed")

    def test_progress_is_drawn_and_ctrl_c_ends_it_cleanly(self):
        config = self.write("c.yaml", LONG)
        run = self.start("run", config)
        self.assertTrue(wait_for(self.path("small.h5.status"), run))
        terminal = self.terminal(config, "--watch", "0.2")
        terminal.until("running")
        terminal.process.send_signal(signal.SIGINT)
        left, drawn = self.last_screen(terminal.end())
        self.assertEqual(terminal.process.returncode, -signal.SIGINT)
        self.assertIn("running", left)
        self.assertIn(CURSOR, drawn)
        self.assertIsNone(run.poll())  # what it looked at goes on
        stop(run)

    def test_a_window_that_is_too_low(self):
        config = self.write("c.yaml", CAMPAIGN.replace("[1, 2, 3]", str(list(range(40)))))
        terminal = self.terminal(config, "--watch=0.2", lines=12)
        terminal.until("a taller window shows the rest")
        terminal.process.send_signal(signal.SIGTERM)
        left, drawn = self.last_screen(terminal.end())
        frame = drawn.split("\033[H")[1].split("\033[J")[0]
        self.assertEqual(frame.count("\n"), 11)
        self.assertEqual(left.count("not started"), 41)

    def test_a_line_for_each_change_where_there_is_no_terminal(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.gpumc("run", config, "--task", "1")
        process = self.start("status", config, "--watch", "0.1")
        first = process.stdout.readline()
        self.assertRegex(first, f"^{STAMP}3 tasks: 1 done, 0 running, 0 resumable, 0 failed, 2 not started, 0 refused$")
        self.gpumc("run", config)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertNotIn("\033", out)
        self.assertNotIn("task 1", out)
        for task in 0, 2:
            changes = re.findall(rf"(?m)^{STAMP}task {task}: ([\w ]+) -> ([\w ]+)  (\S+)$", out)
            self.assertEqual(changes[0][0], "not started")
            self.assertEqual(changes[-1][1:], ("done", f"out/{task + 1}.h5"))
            for before, after in zip(changes, changes[1:]):
                self.assertEqual(before[1], after[0])

    def test_finished_tasks_are_read_once(self):
        config = self.write("c.yaml", CAMPAIGN)
        self.gpumc("run", config, "--task", "1")
        process = self.start("status", config, "--watch", "0.1")
        process.stdout.readline()
        self.path("out/2.h5").write_text("replaced\n")  # which would be refused by one who reads it again
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out, "")

    def test_output_that_cannot_be_written_ends_it(self):
        with open("/dev/full", "w") as full:
            process = self.start("status", self.write("c.yaml", SMALL), "--watch", "0.1", stdout=full)
            _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, FAILURE)
        self.assertIn("cannot write to standard output", err)

    def test_mistakes(self):
        config = self.write("c.yaml", SMALL)
        self.assertIn("--watch must be 0.1 to 86400 seconds", self.gpumc("status", config, "--watch=0", code=INVALID).err)
        self.assertIn("not 'often'", self.gpumc("status", config, "--watch=often", code=INVALID).err)
        self.assertIn("leave one of them out", self.gpumc("status", config, "--watch", "--json", code=INVALID).err)


if __name__ == "__main__":
    unittest.main()
