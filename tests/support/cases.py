"""The cases of a test: as many as fit into its time, beginning with others at each commit.

    for shape, beta in cases.of(itertools.product(SHAPES, BETAS)):
        with self.subTest(shape=shape, beta=beta):
            ...

Started by hand, a test takes all cases of such a loop. Under CTest a loop goes on for the CPU seconds that the head of
the test states (tests/CMakeLists.txt), with one case at least, and NAME_all, label validate, takes all. They come in
PASSES: all cases whose number has one remainder, then those with another, so that any part of them has some of every
kind; of fewer cases each is a pass. The first remainder, and where a pass begins among its cases, follow from the number
of commits in steps of irrational numbers: each has its turn. A loop says which cases it took, and a case that fails how it
is repeated; its outcome must not depend on those before it. cases.h is the same for C.
"""
import atexit
import inspect
import os
import resource
import shlex
import signal
import sys
import time
import unittest

PASSES, STEP = 61, 23  # prime: no remainder means one shape, kind or device alone
GOLDEN = 0.6180339887498949
# Steps of the first pass and of the first case of each pass, for a loop, one within it, and so on; and of the first method. No two have a
# rational ratio, so that each case meets each place of what is around it: 0.618.., and fractions of roots of primes.
STEPS = (GOLDEN, 2**0.5 - 1), (7**0.5 - 2, 11**0.5 - 3), (13**0.5 - 3, 17**0.5 - 4)
METHODS = 3**0.5 - 1
SHOWN = 40  # numbers of cases that are printed
WAITING = 3  # seconds that may go by for each of the CPU's
STOPPED, SKIPPED = 75, 77  # exit codes

_share = float(os.environ.get("GPUMC_CASES_SHARE") or 1)  # of all these seconds: half under sanitizers
_seconds = float(os.environ.get("GPUMC_CASES_SECONDS") or "inf") * _share
_rotation = int(os.environ.get("GPUMC_ROTATION") or 0)
_methods_seconds = float(os.environ.get("GPUMC_METHODS_SECONDS") or os.environ.get("GPUMC_CASES_SECONDS") or "inf") * _share
_only = os.environ.get("GPUMC_CASES")  # LOOP:NUMBER, of loops within loops one after the other: LOOP:NUMBER,LOOP:NUMBER
_running: list[str] = []  # LOOP:NUMBER of the case at work, of loops within loops the innermost last
_found = False  # a case that the user asked for
_may_be_stopped, _was_stopped = "GPUMC_STOP_AFTER" in os.environ, False


def of(cases, seconds=None):
    """Yields cases. `seconds`: of this loop at most, where the head's would be too much."""
    loop = inspect.currentframe().f_back.f_code.co_name
    return _each(list(cases), loop, _seconds if seconds is None else min(seconds * _share, _seconds))


def main():
    """unittest.main() of a test whose methods are the cases, for one that has long ones: one after the other for the head's `methods N s`,
    beginning with another one at each commit. One that failed is repeated by GPUMC_METHODS=CLASS.METHOD. A test of which all is skipped
    is one that CTest skips."""
    try:
        result = _run(os.environ.get("GPUMC_METHODS"))
    except Stopped:  # between two methods
        sys.exit(STOPPED)
    failed = sorted({_name_of(test) for test, text in (*result.failures, *result.errors) if Stopped.__name__ not in text})
    for name in failed:
        print(f"{name}: repeated by {_command(f'GPUMC_METHODS={name}')}", file=sys.stderr)
    if _was_stopped and not failed:
        sys.exit(STOPPED)
    if result.testsRun == len(result.skipped) > 0:
        print(f"skipped: {result.skipped[0][1]}")
        sys.exit(SKIPPED)
    sys.exit(not result.wasSuccessful())


def _run(chosen):
    if _methods_seconds == float("inf") or _only or chosen or len(sys.argv) > 1:
        return unittest.main(verbosity=2, exit=False, failfast=_may_be_stopped, argv=[sys.argv[0], *chosen.split(",")] if chosen else None).result
    methods = _methods(unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    return unittest.TextTestRunner(verbosity=2, failfast=_may_be_stopped).run(_InTurn(methods, _methods_seconds))


class Stopped(BaseException):
    """The time of a test is up (support/measured.c). Unlike KeyboardInterrupt, unittest goes through its cleanups."""


def _stop(*_):
    global _was_stopped
    _was_stopped = True
    raise Stopped


def _name_of(test):
    """CLASS.METHOD, also of a subTest(); the class alone where its setup failed, nothing, which is all, where that of the module did."""
    names = getattr(test, "test_case", test).id()
    return names.removeprefix("__main__.") if "(" not in names else names.partition("(__main__.")[2].rstrip(")")


def _methods(suite):
    for test in suite:
        yield from _methods(test) if isinstance(test, unittest.TestSuite) else (test,)


class _InTurn(unittest.TestSuite):
    """As many of its tests as fit into the time. Those of a class stay together, with what the class sets up."""
    _cleanup = False  # it counts tests in the order in which they were given

    def __init__(self, tests, seconds):
        super().__init__(tests)
        self.seconds = seconds

    def __iter__(self):
        methods = list(super().__iter__())
        first = place(METHODS, len(methods))
        return _taken(methods, [*range(first, len(methods)), *range(first)], "methods", self.seconds, is_told=False)


def place(step, count, rotation=_rotation):
    """A place among `count` that moves from commit to commit."""
    return int(rotation * step % 1 * count)


def order(number, rotation=_rotation, depth=0):
    """The numbers 0 to `number` - 1 in the order of the passes, of a loop within `depth` others."""
    first_pass, first_case = STEPS[min(depth, len(STEPS) - 1)]
    passes = max(1, min(number, PASSES))
    step = STEP if passes % STEP != 0 else 1  # has no factor in common with the number of passes
    first, found = place(first_pass, passes, rotation), []
    for turn in range(passes):
        some = range((first + turn) * step % passes, number, passes)
        begin = place(first_case, len(some), rotation)
        found += [*some[begin:], *some[:begin]]
    return found


def _each(cases, loop, seconds):
    global _found
    if not cases:
        raise AssertionError(f"{loop}: no cases")
    if _only:
        wanted = [word.rpartition(":") for word in _only.split(",")]
        chosen = [int(number) for name, _, number in wanted if name == loop and int(number) < len(cases)]
        _found = _found or bool(chosen)
    else:
        chosen = range(len(cases)) if seconds == float("inf") else order(len(cases), _rotation, len(_running))
    return _taken(cases, chosen, loop, seconds)


def _taken(cases, chosen, loop, seconds, is_told=True):
    """Yields the chosen cases until the time is up."""
    begin, end, taken, longest = _cpu(), time.monotonic() + WAITING * seconds, [], (0.0, None)
    try:
        for number in chosen:
            if taken and (_cpu() - begin >= seconds or time.monotonic() >= end):
                break
            taken.append(number)
            before = _cpu()
            if is_told:
                _running.append(f"{loop}:{number}")
            yield cases[number]
            if is_told:
                _running.pop()
            longest = max(longest, (_cpu() - before, number), key=lambda case: case[0])
    except GeneratorExit:  # the case raised, or the loop was left
        if is_told:
            print(f"{loop}: left in case {taken[-1]}, repeated by {_repeating()}", file=sys.stderr)
            _running.pop()
        raise
    finally:
        if len(taken) < len(cases):
            shown = ", ".join(map(str, taken[:SHOWN])) + (", ..." if len(taken) > SHOWN else "")
            print(f"{loop}: {len(taken)} of {len(cases)} cases (rotation {_rotation}): {shown}{_told(longest)}", file=sys.stderr)


def _told(longest):
    return "" if longest[1] is None else f"; the longest, {longest[1]}, took {longest[0]:.1f} s"


def _repeating():
    """The command that repeats the case at work."""
    return _command(f"GPUMC_CASES={','.join(_running)}")


def _command(variable):
    words = [variable]
    if "GPUMC_TEST" in os.environ:
        words.append(f"ctest --test-dir {shlex.quote(os.environ.get('GPUMC_BUILD', 'build/release'))} -R '^{os.environ['GPUMC_TEST']}$' --output-on-failure")
    return " ".join(words)


def _cpu():
    """CPU seconds of this process and of those that it has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


_sub_test = unittest.TestCase.subTest


def _numbered(self, msg=unittest.case._subtest_msg_sentinel, **params):
    """subTest(), whose failures say how the case is repeated."""
    if _running:
        params["repeated by"] = _repeating()
    return _sub_test(self, msg, **params)


unittest.TestCase.subTest = _numbered


def _check_order():
    """A case that there is not has not passed."""
    if _only and not _found:
        print(f"GPUMC_CASES={_only}: no loop has such a case", file=sys.stderr)
        sys.stdout.flush()
        os._exit(1)


atexit.register(_check_order)
if _may_be_stopped:
    signal.signal(signal.SIGINT, _stop)
