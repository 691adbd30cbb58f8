"""What a folder is: a model, a run of ``train`` that was never saved, an adapter, or something that is not opened."""

from pathlib import Path

from clearformer import checkpoint
from clearformer.commands import settings
from clearformer.pretrained.adapters import CONFIG as ADAPTER
from clearformer.pretrained.folders import CONFIG


def find_folder(command: str, name: str) -> Path:
    """The folder of this name. Raises: FileNotFoundError if there is none."""
    folder = Path(name)
    if folder.is_dir():
        return folder
    what = "is a file" if folder.exists() else "does not exist"
    raise FileNotFoundError(f"{command}: {name} {what}, expected a folder with a model, such as train makes.")


def lacking(folder: Path) -> str:
    """Why a folder holds no model that could be loaded, in a sentence; nothing if it says of itself that it does."""
    if (folder / CONFIG).is_file():
        return ""
    if (folder / settings.NAME).is_file():
        begun = "was killed before it ended" if checkpoint.has_checkpoint(folder) else "was stopped before it was saved"
        return f"{folder} is a run of train that {begun}. Give the same train command again: it goes on."
    if (folder / ADAPTER).is_file():
        return f"{folder} is an adapter, no whole model. Load both: load_lora(from_pretrained(its_model), folder)."
    gguf = sorted(path.name for path in folder.glob("*.gguf"))
    if gguf:
        return f"{folder} has its weights in {gguf[0]}, expected {CONFIG} and safetensors. Take the model in that form."
    return f"{folder} has no {CONFIG}, expected one beside safetensors, as save_pretrained and train write them."
