"""The tiny chat model, loaded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rinse.local_generator import LocalGenerator
from tests.rinse.baselines.tiny_chat import build_tiny_chat


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    """Reads 1,024 tokens."""
    return build_tiny_chat(tmp_path_factory.mktemp("tiny-chat"), tiny_backbone)


@pytest.fixture(scope="session")
def chat_model(chat_folder: Path) -> LocalGenerator:
    """On `chat_folder`."""
    return LocalGenerator.named(str(chat_folder))
