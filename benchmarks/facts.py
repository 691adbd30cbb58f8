"""What the numbers depend on, apart from the code: the machine and the versions."""

import platform
from pathlib import Path

import torch

from benchmarks.peers import versions


def machine() -> dict[str, object]:
    return {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "peers": versions(),
    }


def processor() -> str:
    """Linux tells the name in a file, other systems tell it to Python."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text(encoding="utf-8").splitlines() if facts.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
