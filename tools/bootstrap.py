"""Create .venv and install Clearformer into it, or say in one sentence why that cannot be done.

Standard library only. A stamp in .venv tells a finished set-up from an interrupted one, and notices when
pyproject.toml, constraints.txt or the place of the project has changed.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = "course,book,test,dev"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
OPTIONS = ("--no-compile", "--retries", "2")
NEEDED_BYTES = 4 * 1024**3
LOCATION_VARIABLES = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PYTHONHOME", "PYTHONPATH")

NO_SPACE = "The disk is full: free about 4 GB, then run the same command again."
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
    (r"No space left on device|Errno 28|not enough space", NO_SPACE),
    (
        r"NewConnectionError|ConnectTimeout|ReadTimeout|Temporary failure in name resolution|getaddrinfo failed|"
        r"Network is unreachable|Connection refused|ProxyError|Failed to establish a new connection|"
        r"NameResolutionError|Max retries exceeded",
        NO_NETWORK,
    ),
    (r"CERTIFICATE_VERIFY_FAILED|SSLError", "The package index's certificate is not accepted: set PIP_CERT to your "
     "network's certificate file, then run the same command again."),
    (r"from versions: none", NO_VERSION),
    (r"Permission denied|Errno 13", "A file in .venv cannot be written: check who owns the project's folder, "
     "then run the same command again."),
)  # fmt: skip


class SetupProblem(Exception):
    """A reason to stop, worded as one sentence that says what to do."""


def main() -> int:
    try:
        prepare(ROOT)
    except SetupProblem as problem:
        print(f"\n{problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted: run the same command again, it starts the environment afresh.", file=sys.stderr)
        return 130
    return 0


def prepare(root: Path) -> None:
    """Bring root/.venv up to date; quick when it already is."""
    check_version()
    venv = root / ".venv"
    stamp = venv / "clearformer-stamp"
    wanted = fingerprint(root)
    found = stamp.read_text() if stamp.exists() else ""
    if found and runs(python_of(venv)):
        refuse_jupyter_book_2(venv)
        if found == wanted:
            return
    moved = found.splitlines()[:1] != wanted.splitlines()[:1]
    stamp.unlink(missing_ok=True)
    if moved or not runs(python_of(venv)):  # also after an interrupted set-up, which leaves no stamp
        check_disk(root)
        step("1/3", "Creating the environment .venv")
        create(venv)
    install(venv, root)
    stamp.write_text(wanted)
    step("Done", "The environment is ready.")


def check_version() -> None:
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise SetupProblem(
            f"Clearformer needs Python 3.11, 3.12 or 3.13, and this is {sys.version.split()[0]}: "
            "start this file with one of them (https://www.python.org/downloads/)."
        )


def fingerprint(root: Path) -> str:
    """First line: where the environment belongs; second line: what it was installed from."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((root / name).read_bytes())
    return f"{root}\n{digest.hexdigest()}\n"


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def runs(python: Path) -> bool:
    """True when this is a Python of a fitting version that has pip."""
    code = "import sys, pip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"
    try:
        return subprocess.run([python, "-c", code], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def check_disk(root: Path) -> None:
    free = shutil.disk_usage(root).free
    if free < NEEDED_BYTES:
        raise SetupProblem(
            f"The environment needs about {NEEDED_BYTES / 1024**3:.0f} GB and the disk has {free / 1024**3:.1f} GB "
            "left: free some space, then run the same command again."
        )


def create(venv: Path) -> None:
    maker = getattr(sys, "_base_executable", None) or sys.executable  # not the one inside .venv, which goes
    done = subprocess.run([maker, "-m", "venv", "--clear", venv], capture_output=True, text=True)
    if done.returncode == 0:
        return
    words = done.stdout + done.stderr
    if re.search("ensurepip|No module named venv", words):
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetupProblem(
            f"{maker} cannot create environments: install its venv module (on Debian and Ubuntu: "
            f"sudo apt install python{version}-venv), then run the same command again."
        )
    raise SetupProblem(sentence_for(words) or f"The environment .venv could not be created: {last_line(words)}")


def refuse_jupyter_book_2(venv: Path) -> None:
    sites = [*venv.glob("lib/python*/site-packages"), *venv.glob("Lib/site-packages")]
    version = jupyter_book_version([str(site) for site in sites])
    if version and int(version.split(".")[0]) >= 2:
        raise SetupProblem(jupyter_book_sentence(version))


def jupyter_book_version(path: list[str]) -> str | None:
    for distribution in metadata.distributions(name="jupyter-book", path=path):
        return distribution.version
    return None


def jupyter_book_sentence(version: str) -> str:
    return (
        f"Jupyter Book {version} is in the way, this book needs 1.x: delete the folder .venv "
        "(make clean-env), then run the same command again."
    )


def install(venv: Path, root: Path) -> None:
    torch = torch_pin(root)
    if sys.platform == "linux" and not has_nvidia_gpu():
        step("2/3", f"No NVIDIA GPU found: trying PyTorch's CPU build ({torch})")
        only_once = ["--retries", "0", "--timeout", "15"]
        if pip(venv, "install", "--no-compile", *only_once, "--no-deps", "--index-url", CPU_INDEX, torch)[0] != 0:
            print("PyTorch's own index cannot be reached; the default build is taken instead.", flush=True)
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
        done = subprocess.run(list(map(str, command)), env=own_environment()).returncode == 0
    except OSError:
        done = False
    if not done:
        print("uv could not install the packages; pip tries.", flush=True)
    return done


def wanted_packages(root: Path) -> list[object]:
    return ["--constraint", root / "constraints.txt", "--editable", f"{root}[{EXTRAS}]"]


def names_an_index(venv: Path) -> bool:
    """Whether pip's settings, in files or in the environment, replace the public index."""
    settings = subprocess.run([python_of(venv), "-m", "pip", "config", "list"], capture_output=True, text=True)
    return re.search(r"(?<!extra-)index-url=|no-index=", settings.stdout) is not None


def torch_pin(root: Path) -> str:
    lines = (root / "constraints.txt").read_text().splitlines()
    return next((line.strip() for line in lines if line.startswith("torch==")), "torch")


def has_nvidia_gpu() -> bool:
    return Path("/proc/driver/nvidia/version").exists() or shutil.which("nvidia-smi") is not None


def pip(venv: Path, *arguments: object) -> tuple[int, str]:
    """Run the environment's pip with its progress visible; return its exit code and what it said on stderr."""
    command = [str(python_of(venv)), "-m", "pip", *map(str, arguments)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, env=own_environment())
    return done.returncode, done.stderr


def own_environment() -> dict[str, str]:
    """The variables of this process, but for those that would send the packages elsewhere."""
    kept = {name: value for name, value in os.environ.items() if name not in LOCATION_VARIABLES}
    return kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def sentence_for(words: str) -> str | None:
    return next((sentence for pattern, sentence in FAILURES if re.search(pattern, words)), None)


def last_line(words: str) -> str:
    return next((line.strip() for line in reversed(words.splitlines()) if line.strip()), "no reason given")


def step(number: str, text: str) -> None:
    print(f"[{number}] {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
