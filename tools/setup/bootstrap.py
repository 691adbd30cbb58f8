"""Create .venv and install Clearformer into it, or say in one sentence why that cannot be done.

Standard library only. A stamp in .venv tells a finished set-up from an interrupted one, and notices when
pyproject.toml, constraints.txt or the place of the project has changed. Of two set-ups in one folder the second waits.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from tools import ROOT
from tools.setup.locks import wait_for_lock
from tools.setup.pythons import ADVISED, OLDEST, format_version, python_of, span, warning_for

EXTRAS = "course,book,test,dev"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
OPTIONS = ("--no-compile", "--retries", "2")
GIGABYTE = 1024**3
CPU_BYTES, CUDA_BYTES = 4 * GIGABYTE, 8 * GIGABYTE  # installed 1.7 and 5.5; the rest is for what is downloaded
STAMP = "clearformer-stamp"  # in .venv
LOCATION_VARIABLES = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PYTHONHOME", "PYTHONPATH")

NO_SPACE = (
    "The disk is full, or that of temporary files is: free some space (4 GB, with the CUDA build of PyTorch 8 GB), or "
    "name another folder for temporary files with TMPDIR, then run the same command again."
)
NO_NETWORK = (
    "The package index cannot be reached: check the network connection (and PIP_INDEX_URL or the proxy, if you "
    "use one), then run the same command again."
)
NO_VERSION = (  # pip says the same of both
    "The package index cannot be reached, or it has no version of a package for this system, processor and Python: "
    "check the network connection (and PIP_INDEX_URL or the proxy, if you use one) and what the setup page says of "
    "systems, then run the same command again."
)
FAILURES = (  # what pip's own words look like, and the sentence for it
    (r"No space left on device|Errno 28|not enough space|[Dd]isk quota exceeded|File too large", NO_SPACE),
    (
        r"NewConnectionError|ConnectTimeout|ReadTimeout|Temporary failure in name resolution|getaddrinfo failed|"
        r"Network is unreachable|Connection refused|ProxyError|Failed to establish a new connection|"
        r"NameResolutionError|Max retries exceeded",
        NO_NETWORK,
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "The package index's certificate is not accepted: set PIP_CERT to your "
        "network's certificate file, then run the same command again.",
    ),
    (r"from versions: none", NO_VERSION),
    (
        r"UnicodeEncodeError",
        "The path of the project has letters that the language settings of this system lack: move "
        "the project to a folder with a plain path, such as /home/me/course, then run the same command again.",
    ),
    (
        r"Windows Long Path",
        "The paths of some files become too long for Windows: move the project to a folder with a "
        r"short path, such as C:\course, then run the same command again.",
    ),
    (
        r"WinError 32",
        "A file in .venv is in use: end what runs from it (JupyterLab, kernels, the editor), then run the "
        "same command again.",
    ),
    (
        r"Permission denied|Errno 13|WinError 5\b|Read-only file system|Errno 30",
        "A file in .venv cannot be written: check who owns the project's folder and that its disk is not read-only, "
        "and end what runs from .venv, then run the same command again.",
    ),
)


class SetupProblem(Exception):
    """A reason to stop, worded as one sentence that says what to do."""


def main() -> int:
    try:
        prepare(ROOT)
    except SetupProblem as problem:
        return stop(str(problem))
    except OSError as error:
        return stop(sentence_for(str(error)) or f"The set-up cannot go on: {error}.")
    except KeyboardInterrupt:
        print("\nInterrupted: run the same command again, it starts the environment afresh.", file=sys.stderr)
        return 130
    return 0


def stop(sentence: str) -> int:
    """Says it, with what may be the reason where this Python is newer than those that are tested."""
    print(f"\n{sentence} {warning_for(sys.version_info[:2])}".rstrip(), file=sys.stderr)
    return 1


def prepare(root: Path) -> None:
    """Bring root/.venv up to date; quick when it already is."""
    if is_ready(root):
        return
    with wait_for_lock(root / ".cache" / "set-up.lock", "Another set-up works in this folder: waiting for it to end."):
        if not is_ready(root):  # the other may have done it
            set_up(root)


def is_ready(root: Path) -> bool:
    venv = root / ".venv"
    found = stamp_of(venv)
    if not found or not runs(python_of(venv)):
        return False
    refuse_jupyter_book_2(venv)
    return found == fingerprint(root)


def set_up(root: Path) -> None:
    check_version()
    venv = root / ".venv"
    owner = stamp_of(venv).splitlines()[:1]
    moved = owner != fingerprint(root).splitlines()[:1]
    if moved and owner and venv.is_symlink():
        raise SetupProblem(
            f".venv is a link to the environment of {owner[0]}, which a set-up here would delete: delete the link, "
            "then run the same command again."
        )
    (venv / STAMP).unlink(missing_ok=True)
    if moved or not runs(python_of(venv)):  # also after an interrupted set-up, which leaves no stamp
        check_disk(root, CUDA_BYTES if has_nvidia_gpu() else CPU_BYTES)
        step("1/3", "Creating the environment .venv")
        create(venv)
    install(venv, root)
    make_relative(venv, root)
    (venv / STAMP).write_text(fingerprint(root), encoding="utf-8")
    step("Done", "The environment is ready.")


def stamp_of(venv: Path) -> str:
    """What the last finished set-up has noted; nothing after one that was interrupted."""
    stamp = venv / STAMP
    return stamp.read_text(encoding="utf-8", errors="replace") if stamp.exists() else ""


def check_version() -> None:
    """Raises: SetupProblem for a Python that is too old; says so of one that is newer than those that are tested."""
    version = sys.version_info[:2]
    if version < OLDEST:
        raise SetupProblem(
            f"Clearformer needs Python {format_version(OLDEST)} or newer (it is tested with {span()}), and this is "
            f"{sys.version.split()[0]}: start this file with Python {ADVISED} (https://www.python.org/downloads/)."
        )
    if warning := warning_for(version):
        print(warning, file=sys.stderr, flush=True)


def fingerprint(root: Path) -> str:
    """First line: where the environment belongs; second line: what it was installed from."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((root / name).read_bytes())
    return f"{root}\n{digest.hexdigest()}\n"


def runs(python: Path) -> bool:
    """True when this is a Python of a fitting version that has pip."""
    code = f"import sys, pip; sys.exit(sys.version_info[:2] < {OLDEST})"
    try:
        return subprocess.run([python, "-c", code], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def check_disk(root: Path, needed: int, what: str = "The environment") -> None:
    """Raises: SetupProblem if there is less free space."""
    free = shutil.disk_usage(root).free
    if free < needed:
        raise SetupProblem(
            f"{what} needs about {needed / GIGABYTE:.0f} GB and the disk has {free / GIGABYTE:.1f} GB left: free some "
            "space, then run the same command again."
        )


def create(venv: Path) -> None:
    maker = getattr(sys, "_base_executable", None) or sys.executable  # not the one inside .venv, which goes
    done = answer_of([maker, "-m", "venv", "--clear", venv])
    if done.returncode == 0:
        return
    words = done.stdout + done.stderr
    if re.search("ensurepip is not available|No module named (venv|ensurepip)", words):
        package = f"python{format_version(sys.version_info)}-venv"
        raise SetupProblem(
            f"{maker} cannot create environments: install its venv module (on Debian and Ubuntu: "
            f"sudo apt install {package}), then run the same command again."
        )
    raise SetupProblem(sentence_for(words) or f"The environment .venv could not be created: {last_line(words)}")


def make_relative(venv: Path, root: Path) -> None:
    """Let the environment find the library by a path from itself, which is plain ASCII.

    Python reads these files in the encoding of the language settings, which are not always those of the set-up.
    """
    for site in sites(venv):
        for file in site.glob("__editable__.clearformer-*.pth"):
            file.write_text(Path(os.path.relpath(root / "lib", site)).as_posix() + "\n", encoding="ascii")


def refuse_jupyter_book_2(venv: Path) -> None:
    version = jupyter_book_version([str(site) for site in sites(venv)])
    if version and int(version.split(".")[0]) >= 2:
        raise SetupProblem(jupyter_book_sentence(version))


def sites(venv: Path) -> list[Path]:
    return [*venv.glob("lib/python*/site-packages"), *venv.glob("Lib/site-packages")]


def jupyter_book_version(path: list[str]) -> str | None:
    for distribution in metadata.distributions(name="jupyter-book", path=path):
        return distribution.version
    return None


def jupyter_book_sentence(version: str) -> str:
    return (
        f"Jupyter Book {version} is in the way, this book needs 1.x: delete the folder .venv "
        "(python tools/run.py clean-env), then run the same command again."
    )


def install(venv: Path, root: Path) -> None:
    torch = torch_pin(root)
    if sys.platform == "linux" and not has_nvidia_gpu():
        step("2/3", f"No NVIDIA GPU found: trying PyTorch's CPU build ({torch})")
        only_once = ["--retries", "0", "--timeout", "15"]
        if pip(venv, "install", "--no-compile", *only_once, "--no-deps", "--index-url", CPU_INDEX, torch)[0] != 0:
            print("PyTorch's own index cannot be reached; the default build is taken instead.", flush=True)
            check_disk(root, CUDA_BYTES, "PyTorch's default build, with its CUDA libraries,")
    step("3/3", "Installing the packages (a few minutes the first time)")
    if install_with_uv(venv, root, torch):
        return
    code, words = pip(venv, "install", *OPTIONS, *wanted_packages(root))
    if code != 0:
        sentence = sentence_for(words)
        if sentence is None:
            print(words, file=sys.stderr)
            sentence = "pip could not install the packages: its own words stand above."
        raise SetupProblem(sentence)


def install_with_uv(venv: Path, root: Path, torch: str) -> bool:
    """Whether uv has installed the packages, in half of pip's time; where it cannot, pip does.

    uv reads none of pip's settings. Therefore torch, of which they may choose the build, comes by pip, and where they
    name an index, for instance that of a company, uv is not asked.
    """
    if names_an_index(venv):
        return False
    uv = shutil.which("uv") or python_of(venv).with_name("uv")
    if not Path(uv).exists() and pip(venv, "install", *OPTIONS, "--constraint", root / "constraints.txt", "uv")[0] != 0:
        return False
    if pip(venv, "install", *OPTIONS, "--no-deps", torch)[0] != 0:
        return False
    command = [uv, "pip", "install", "--python", python_of(venv), *wanted_packages(root)]
    try:
        done = subprocess.run([str(word) for word in command], env=own_environment()).returncode == 0
    except OSError:
        done = False
    if not done:
        print("uv could not install the packages; pip tries.", flush=True)
    return done


def wanted_packages(root: Path) -> list[object]:
    return ["--constraint", root / "constraints.txt", "--editable", f"{root}[{EXTRAS}]"]


def names_an_index(venv: Path) -> bool:
    """Whether pip's settings, in files or in the environment, replace the public index."""
    settings = answer_of([python_of(venv), "-m", "pip", "config", "list"])
    return re.search(r"(?<!extra-)index-url=|no-index=", settings.stdout) is not None


def torch_pin(root: Path) -> str:
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return next((line.strip() for line in lines if line.startswith("torch==")), "torch")


def has_nvidia_gpu() -> bool:
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def pip(venv: Path, *arguments: object) -> tuple[int, str]:
    """Run the environment's pip with its progress visible; return its exit code and what it said on stderr."""
    command = [str(python_of(venv)), "-m", "pip", *map(str, arguments)]
    done = subprocess.run(command, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", env=own_environment())
    return done.returncode, done.stderr


def answer_of(command: list[object]) -> subprocess.CompletedProcess[str]:
    """Run a program that says what is wanted and shows nothing."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", env=own_environment())


def own_environment() -> dict[str, str]:
    """The variables of this process, but for those that would send the packages elsewhere."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCATION_VARIABLES}
    return kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONUTF8": "1"}


def sentence_for(words: str) -> str | None:
    return next((sentence for pattern, sentence in FAILURES if re.search(pattern, words)), None)


def last_line(words: str) -> str:
    return next((line.strip() for line in reversed(words.splitlines()) if line.strip()), "no reason given")


def step(number: str, text: str) -> None:
    print(f"[{number}] {text}", flush=True)
