"""Fixtures shared by every test."""

from pathlib import Path

import pytest
from hypothesis import settings

# A machine that is busy, or slow, breaks no promise.
settings.register_profile("manuel", deadline=None)
settings.load_profile("manuel")


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Folder with the real handbooks and question sets, beside the project; skips when absent."""
    path = Path(__file__).resolve().parents[2] / "shared"
    if not path.is_dir():
        pytest.skip("the shared data folder is not beside the project")
    return path
