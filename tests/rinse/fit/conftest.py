"""The paper's tiny models, written once a session."""

from __future__ import annotations

import pytest

from tests.rinse.paper.tiny_models import TinyModels, write_tiny_models


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> TinyModels:
    """Folders of the four tiny models."""
    return write_tiny_models(tmp_path_factory.mktemp("tiny-fit"))
