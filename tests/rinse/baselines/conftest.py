"""The tiny models, written once a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from rinse.local_generator import LocalGenerator
from tests.rinse.baselines.tiny_chat import build_tiny_chat
from tests.rinse.baselines.tiny_released import write_llama, write_t5, write_uar


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    """Reads 1,024 tokens."""
    return build_tiny_chat(tmp_path_factory.mktemp("tiny-chat"), tiny_backbone)


@pytest.fixture(scope="session")
def chat_model(chat_folder: Path) -> LocalGenerator:
    """On `chat_folder`."""
    return LocalGenerator.named(str(chat_folder))


@pytest.fixture(scope="session")
def t5_folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    """A classifier with one logit."""
    return write_t5(tiny_backbone, tmp_path_factory.mktemp("tiny-t5"))


@pytest.fixture(scope="session")
def critic_folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    """A Llama that knows reflection tokens."""
    return write_llama(tiny_backbone, tmp_path_factory.mktemp("tiny-critic"))


@pytest.fixture(scope="session")
def uar_folder(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    """A Llama with the heads beside it."""
    return write_uar(tiny_backbone, tmp_path_factory.mktemp("tiny-uar"))
