"""Fake programs, easy to write."""

import pytest


@pytest.fixture
def program(tmp_path):
    """Write an executable shell script into a folder that can be used as PATH; return that folder."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)

    def write(name: str, body: str):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return folder

    return write
