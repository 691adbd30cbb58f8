"""The devices every test of the library runs on."""

import pytest

DEVICES = [pytest.param("cpu"), pytest.param("cuda", marks=pytest.mark.gpu)]
