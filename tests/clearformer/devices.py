"""The devices that every test of the library runs on: those that are there."""

import pytest
import torch

DEVICES = [pytest.param("cpu")]
if torch.cuda.is_available():
    DEVICES.append(pytest.param("cuda", marks=pytest.mark.gpu))
