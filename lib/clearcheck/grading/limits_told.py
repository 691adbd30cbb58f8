"""Which limit stopped a learner's code, how much it allows, and what may be meant: for calls, cells and notes alike."""

import re
import sys

from clearcheck.worker.limits import MAX_BYTES, MUCH_PRINTED, PROCESSES, SCRATCH_BYTES, Limits

IMPORT = re.compile(r"(?:from|import) ([\w.]+)")
LOOPS = "look for a loop that never ends, or for one over single entries or pairs that whole arrays do at once"
NO_MEMORY = re.compile(r"MemoryError|[Uu]nable to allocate|can't allocate|[Oo]ut of memory|[Cc]annot allocate")
TOO_LARGE_A_FILE = re.compile(r"\[Errno 27\]|File too large")
NO_SPACE = re.compile(r"\[Errno 28\]|No space left")
NO_PROCESS = re.compile(r"can't start new thread|\[Errno 11\]|Resource temporarily unavailable")
BY_FORCE = re.compile(r"signal (SIGKILL|SIGXCPU|9|24)$")
LARGE_RESULT = re.compile(r"more than \d+ MB|too many or too deeply nested|texts of more than")


def limit_told(reply: dict, limits: Limits | None = None) -> str:
    """A sentence on the limit that an error, an end of the process or a result ran into; an empty text for others."""
    limits = limits or Limits()
    text = f"{reply.get('type', '')} {reply.get('text', '')}"
    memory = f"The limit is {limits.memory / 2**30:g} GB of memory"
    if NO_MEMORY.search(text):
        return (
            f"{memory}: look for a table of all pairs with a further axis, such as N × N × D, where one of N × N or "
            "blocks of it are enough, and for what a loop keeps."
        )
    if TOO_LARGE_A_FILE.search(text):
        return f"The limit is {limits.file // 2**20} MB for a file: nothing here needs a larger one."
    if NO_SPACE.search(text):
        return f"The limit is {SCRATCH_BYTES // 2**20} MB for all files together: keep results in arrays."
    if NO_PROCESS.search(text):
        return f"The limit is {PROCESSES} processes and threads: the question needs one."
    if reply.get("type") == "RecursionError":
        return f"The limit is {sys.getrecursionlimit()} calls within one another: look for the call that ends them."
    if reply["kind"] == "ended" and BY_FORCE.search(reply.get("text", "")):
        return f"{memory}, and {limits.cpu} s for all processors together: one of the two may have been used up."
    return ""


def result_limit_told(what: str) -> str:
    """The limit for a result that is too large to be compared, to follow upon what came."""
    if not LARGE_RESULT.search(what):
        return ""
    return f" The limit for a result is {MAX_BYTES // 2**20} MB: look for an axis too many."


def time_told(reply: dict, seconds: float, advice: str = LOOPS) -> str:
    """Which limit of time stopped the code, in which line, and what to do: the `advice` where it computed all along."""
    line, waited = reply.get("line", ""), reply.get("waited")
    limit = f"had not ended after {waited:g} s" if waited else f"used more than {seconds:g} s of computing time"
    imported = IMPORT.match(line)
    if imported:
        advice = f"importing `{imported[1]}` took too long"
    elif waited:
        advice = "it sleeps, or waits for something that does not come, unless this computer is very busy"
    return f"{limit} and was stopped{in_the_line(reply)}: {advice}"


def printed_told(who: str, characters: int) -> str:
    """A note on output, where it is worth one; an empty text where it is not."""
    if characters <= MUCH_PRINTED:
        return ""
    told = f"{who} printed {characters:,} characters: the grader dropped them."
    return f"{told} More than {MUCH_PRINTED:,} are hardly meant: look for a `print` in a loop."


def in_the_line(reply: dict) -> str:
    return f" in the line `{reply['line']}`" if reply.get("line") else ""
