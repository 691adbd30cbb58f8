"""The names that the public modules of clearformer and clearbook define: no chapter may define one of them anew."""

import importlib
import inspect
import pkgutil
from types import ModuleType

import clearbook
import clearformer


def public_modules() -> list[str]:
    """Both packages and everything below them, except what begins with an underscore, and the three commands."""
    packages = (clearbook, clearformer)
    found = (m.name for p in packages for m in pkgutil.walk_packages(p.__path__, f"{p.__name__}."))
    names = [*(p.__name__ for p in packages), *found]
    return [name for name in names if not any(p.startswith("_") or p == "commands" for p in name.split("."))]


def defined_in(module: ModuleType) -> set[str]:
    """Public functions and classes that the module itself defines."""
    members = inspect.getmembers(module, lambda member: inspect.isfunction(member) or inspect.isclass(member))
    return {name for name, member in members if member.__module__ == module.__name__ and not name.startswith("_")}


def exported_names() -> frozenset[str]:
    return frozenset().union(*(defined_in(importlib.import_module(name)) for name in public_modules()))
