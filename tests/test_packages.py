"""What the packages promise: names, imports, size of files."""

from __future__ import annotations

import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

PACKAGES = ("agent", "benchmarks", "policies", "retrieval", "rinse")
ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", PACKAGES)
def test_each_package_name_belongs_to_our_distribution(name: str) -> None:
    """Generic names: another distribution with a package of this name would shadow ours."""
    assert set(metadata.packages_distributions().get(name, ["sufficit"])) == {"sufficit"}
    module = importlib.import_module(name)
    assert module.__file__ is not None
    assert Path(module.__file__).is_relative_to(ROOT)
    assert (Path(module.__file__).parent / "py.typed").is_file()


@pytest.mark.parametrize("name", PACKAGES)
def test_importing_a_package_loads_no_model_library(name: str) -> None:
    """Neither torch nor faiss nor transformers: `--help` and a policy must not wait for them."""
    code = f"import sys, {name}; print(sorted({{'torch', 'faiss', 'transformers'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", PACKAGES)
def test_all_is_sorted_and_every_name_is_there(name: str) -> None:
    module = importlib.import_module(name)
    names = list(getattr(module, "__all__", []))
    assert names == sorted(names)
    assert all(hasattr(module, each) for each in names)


def test_no_file_is_longer_than_300_lines() -> None:
    """A reader understands a file in one sitting."""
    long = {
        str(path.relative_to(ROOT)): lines
        for package in (*PACKAGES, "tests")
        for path in (ROOT / package).rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 300
    }
    assert long == {}
