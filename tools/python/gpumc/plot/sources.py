"""The results that a picture is of: files, running ones, and all outputs of a configuration."""
import os
import warnings

from .. import files, program, reader
from .refusal import NotYet, Refusal

CONFIGURATION = (".yaml", ".yml")


def load(words, say=lambda text: None):
    """The results of `words`: result files, OUTPUT.partial of running tasks (also where OUTPUT is named and not there yet), and
    configurations, for which all their outputs stand. say() is called with what the user should know."""
    results = []
    for path in outputs(words, say):
        result = settled(path)
        for name, text in result.remarks.items():
            if name.endswith("warning"):
                say(f"{path}: warning: {text}")
        results.append(result)
    return results


def outputs(words, say):
    found = []
    for word in words:
        if not word.endswith(CONFIGURATION):
            if present(word) is None and os.path.exists(f"{word}.status"):
                raise NotYet(f"{word}: the run has not begun to write")
            found.append(present(word) or word)
            continue
        planned = outputs_of(word, say)
        ready = [path for path in map(present, planned) if path]
        if not ready:
            raise NotYet(f"{word}: none of its {len(planned)} results exists yet, such as {planned[0]}; 'gpumc run {word}' "
                         "produces them")
        if len(ready) < len(planned):
            say(f"{word}: {len(ready)} of its {len(planned)} results exist")
        found += ready
    return found


def present(path):
    """The file, else the working file of the task; None if there is neither."""
    return next((name for name in (path, f"{path}.partial") if os.path.exists(name)), None)


def outputs_of(config, say):
    """The result files of a configuration, as the program plans them, one for each task."""
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            planned = program.plan(config)["tasks"]
        for warning in heard:
            say(str(warning.message))
        return [task["output"] for task in planned]
    except FileNotFoundError as reason:
        raise Refusal(f"{config}: only the program can list the results of a configuration; {reason}") from None
    except program.ProgramError as reason:
        raise Refusal(f"{config}: {str(reason).splitlines()[0].removeprefix('gpumc: ')}") from None


def settled(path):
    """The result; that of a working file once more if it changed its name or grew while it was read."""
    for _ in range(3):
        try:
            return reader.read(path)
        except files.ResultError:
            finished = path.removesuffix(".partial")
            if path.endswith(".partial") and not os.path.exists(path) and os.path.exists(finished):
                return reader.read(finished)
            if not path.endswith(".partial") or not os.path.exists(path):
                raise
    return reader.read(path)
