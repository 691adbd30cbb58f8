"""Grade each file in a container of its own, with podman or docker: without network, over a read-only course."""

import contextlib
import csv
import io
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from clearcheck.author.loading import AuthoringError, ExerciseNotFound, authoring_folder, load_exercise
from clearcheck.notebooks.escaping import file_stem
from clearcheck.notebooks.file import MAX_NOTEBOOK
from clearcheck.own_course import own_course
from clearcheck.report.no_grade import grader_failure

from clearclass.one_file import AGAIN, NOT_YOUR_WORK, TOLD, Job, grader_version, refusal_record

IMAGE = "clearcheck-grader"
RECIPE = "tools/grader.Containerfile"
ENGINES = ("podman", "docker")
LIB = Path(__file__).resolve().parents[1]

# Of one container, all processes in it together.
MEMORY = "6g"
PROCESSES = 256
TEMPORARY = "1g"  # in memory, and counted there
SECONDS = 1800  # until the container is ended from outside; the clocks of the grader inside end long before
MOST_OUTPUT = 64 * 2**20  # bytes of a record
MOST_SAID = 10_000  # bytes of what else was written, the last ones
PART = 2**16  # bytes that are read at once
LEFT_SECONDS = 10.0  # from the end of the engine until all that it wrote is read


class NoContainer(RuntimeError):
    """No container can be started; the text says what to install or to build."""


@dataclass(frozen=True)
class Container:
    """Grades a file in a container that is started for it and removed after it."""

    engine: str
    image: str
    seconds: float = SECONDS

    def __call__(self, job: Job) -> dict:
        """A record, as `grade_file` gives it."""
        try:
            return _check_record(self._run(job), job)
        except subprocess.TimeoutExpired:
            sentence = f"{job.file} was not graded in {self.seconds:g} s, and its container was ended."
        except Exception as error:
            sentence = grader_failure(job.file, error)
        return {**refusal_record(job.file, sentence), "grader": grader_version()}

    def _run(self, job: Job) -> dict:
        path, name = Path(job.file), f"clearcheck-{secrets.token_hex(8)}"
        inside = f"{file_stem(path.stem) or 'notebook'}.ipynb"
        if not path.is_file() or path.stat().st_size > MAX_NOTEBOOK:
            raise ValueError("it is no file, or too large")
        with tempfile.TemporaryDirectory(prefix="clearcheck-") as folder:
            copied = Path(shutil.copyfile(path, Path(folder) / inside))
            copied.chmod(0o644)
            Path(folder).chmod(0o755)
            asked = json.dumps({"file": f"/submission/{inside}", "exercise": job.exercise, "seed": job.seed})
            try:
                status, record, said = _outputs(
                    command(self.engine, self.image, name, Path(folder), authoring_folder(own_course())),
                    asked.encode(),
                    self.seconds,
                )
            finally:
                with contextlib.suppress(OSError, subprocess.SubprocessError):
                    subprocess.run([self.engine, "rm", "--force", name], capture_output=True, timeout=60)
        if len(record) > MOST_OUTPUT:
            raise ValueError(f"its container wrote more than {MOST_OUTPUT:,} bytes, where a record has some thousands")
        if status:
            last = said.decode("utf-8", "replace").strip().splitlines()[-1:]
            raise ValueError(f"its container ended with {status}: {' '.join(last)}")
        return json.loads(record)


def _outputs(engine: list[str], asked: bytes, seconds: float) -> tuple[int, bytearray, bytearray]:
    """The exit code, the record, which ends the process where it grows too long, and the end of what else was said:
    code in the container may write without end, and this machine has to hold what is kept.

    Raises: OSError, subprocess.TimeoutExpired.
    """
    process = subprocess.Popen(engine, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stdin, stdout, stderr = (cast(BinaryIO, pipe) for pipe in (process.stdin, process.stdout, process.stderr))
    record, said = bytearray(), bytearray()

    def take_record():
        with stdout:
            while len(record) <= MOST_OUTPUT and (part := os.read(stdout.fileno(), PART)):
                record.extend(part)
        if len(record) > MOST_OUTPUT:
            process.kill()

    def take_said():
        with stderr:
            while part := os.read(stderr.fileno(), PART):
                said.extend(part)
                del said[:-MOST_SAID]

    # Each closes its pipe itself, at the end of it: a process that the engine has left may hold it open for longer.
    takers = [threading.Thread(target=take, daemon=True) for take in (take_record, take_said)]
    try:
        for taker in takers:
            taker.start()
        with contextlib.suppress(OSError), stdin:  # an engine that fails has not read it
            stdin.write(asked)
        status = process.wait(seconds)
    finally:
        process.kill()
        process.wait()
    for taker in takers:
        taker.join(LEFT_SECONDS)
    return status, record, said


def command(engine: str, image: str, name: str, submission: Path, authoring: Path) -> list[str]:
    """The container of one submission. The seed comes by standard input, where nobody reads it off a command line."""
    mounts = {LIB: "/course/lib", authoring: "/course/exercises/authoring", submission: "/submission"}
    return [
        engine,
        "run",
        "--rm",
        "--interactive",
        f"--name={name}",
        "--network=none",
        "--read-only",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--user=65534:65534",
        f"--pids-limit={PROCESSES}",
        f"--memory={MEMORY}",
        f"--memory-swap={MEMORY}",
        "--ulimit=nofile=1024:1024",
        "--ulimit=nproc=4096:4096",
        "--ulimit=core=0:0",
        *(f"--mount={_mount(source, target)}" for source, target in mounts.items()),
        f"--tmpfs=/tmp:rw,nosuid,nodev,size={TEMPORARY},mode=1777",
        "--workdir=/course",
        "--env=HOME=/tmp",
        "--env=PYTHONPATH=/course/lib",
        "--env=PYTHONDONTWRITEBYTECODE=1",
        image,
        "python",
        "-m",
        "clearclass.one_file",
    ]


def container(image: str = IMAGE) -> Container:
    """With the first engine that is here and has the image, by its whole path: who runs it may have another `PATH`.

    Raises: NoContainer.
    """
    engines = {engine: path for engine in ENGINES if (path := shutil.which(engine))}
    if not engines:
        raise NoContainer(f"Neither {' nor '.join(ENGINES)} is installed: a container needs one of them.")
    for path in engines.values():
        asked = subprocess.run([path, "image", "inspect", image], capture_output=True)
        if asked.returncode == 0:
            return Container(path, image)
    build = f"{next(iter(engines))} build --tag {IMAGE} --file {RECIPE} ."
    raise NoContainer(f"{' and '.join(engines)}: no image named {image}. In the folder of the course: {build}")


def _mount(source: Path, target: str) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(["type=bind", f"src={source}", f"dst={target}", "readonly"])
    return line.getvalue()


def _check_record(record: dict, job: Job) -> dict:
    """The record, if it could be true: code in the container may have written it instead of the grader.

    Raises: ValueError, TypeError, KeyError where it cannot.
    """
    if "error" in record:
        sentence = str(record["error"]).replace(str(record["file"]), job.file)
        again, told = record.get(AGAIN) is True, NOT_YOUR_WORK if record.get(TOLD) == NOT_YOUR_WORK else ""
        return {**refusal_record(job.file, sentence, again, told), "grader": record["grader"]}
    with contextlib.suppress(ExerciseNotFound, AuthoringError):
        exercise = load_exercise(str(record["exercise"]), own_course()).exercise
        expected = [(question.id, question.points, len(question.checks)) for question in exercise.questions]
        if _has_shape(record, RECORD) and expected == [
            (q["id"], q["max_points"], len(q["checks"])) for q in record["questions"]
        ]:
            points = [(q["points"], q["max_points"]) for q in record["questions"]]
            fits = all(0 <= came <= most for came, most in points) and record["max_points"] == exercise.points
            if fits and record["points"] == sum(came for came, _ in points) and record["seed"] == job.seed:
                isolation = ", ".join(filter(None, ["container", record["isolation"]]))
                return {**record, "file": job.file, "isolation": isolation}
    raise ValueError("what its container wrote is no grade of an exercise")


def _has_shape(value, shape) -> bool:
    """Whether a value has a shape: a type, a list of one shape, a dict of them, or a tuple of alternatives."""
    if isinstance(shape, tuple):
        return any(_has_shape(value, one) for one in shape)
    if isinstance(shape, list):
        return type(value) is list and all(_has_shape(item, shape[0]) for item in value)
    if isinstance(shape, dict) and str in shape:
        return type(value) is dict and all(type(key) is str and _has_shape(it, shape[str]) for key, it in value.items())
    if isinstance(shape, dict):
        return type(value) is dict and all(key in value and _has_shape(value[key], shape[key]) for key in shape)
    return type(value) is shape


DIAGNOSIS = {"mistake": str, "message": str, "section": str}
NUMBERS = {"points": int, "max_points": int}
CHECK = {
    **NUMBERS,
    "name": str,
    "passed": bool,
    "message": str,
    "remark": str,
    "diagnosis": (type(None), DIAGNOSIS),
}
RECORD = {
    **NUMBERS,
    "exercise": str,
    "seed": int,
    "questions": [{**NUMBERS, "id": str, "title": str, "status": str, "leaning": str, "checks": [CHECK]}],
    "notes": [str],
    "isolation": str,
    "uses": [str],
    "page": {"title": str, "read": {str: [str]}},
    "grader": str,
}
