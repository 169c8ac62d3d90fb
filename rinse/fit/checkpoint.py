"""A training's state in one safetensors file: weights, the optimiser's moments, the step in its JSON header."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import FolderError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module
    from torch.optim import Optimizer

_MODEL, _OPTIMIZER = "model/", "optimizer/"


class Checkpoint:
    """The last state of one training; a new one replaces it whole.

    Args:
        path: The file.
        key: Identifies data and settings of the training.
    """

    def __init__(self, path: Path, *, key: str) -> None:
        self._path = path
        self._key = key

    def save(self, model: Module, optimizer: Optimizer, *, step: int) -> None:
        """Write the state after `step` steps.

        Raises:
            FolderError: it cannot be written.
        """
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        tensors = {_MODEL + name: value for name, value in model.state_dict().items()}
        for name, parameter in model.named_parameters():
            for kind, value in optimizer.state[parameter].items():
                tensors[f"{_OPTIMIZER}{name}/{kind}"] = value
        part = self._path.with_name(f"{self._path.name}.part")
        copies = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
        try:
            save_file(copies, part, metadata={"key": self._key, "step": str(step)})
        except SafetensorError as error:
            raise FolderError(f"Cannot write the checkpoint {part}: {error}. Make room for it.") from error
        part.replace(self._path)

    def restore(self, model: Module, optimizer: Optimizer) -> int:
        """Bring model and optimiser into the saved state.

        Returns the steps done; 0 if nothing of this key is saved.

        Raises:
            FolderError: the file is damaged, or belongs to another model.
        """
        from safetensors import SafetensorError, safe_open

        if not self._path.exists():
            return 0
        try:
            with safe_open(self._path, framework="pt") as file:
                header = file.metadata() or {}
                if header.get("key") != self._key:
                    return 0
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            _fill(model, optimizer, tensors)
            return int(header["step"])
        except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
            raise FolderError(
                f"The checkpoint {self._path} is damaged ({error}). Delete it; the training then begins again."
            ) from error


def _fill(model: Module, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    weights = {name.removeprefix(_MODEL): value for name, value in tensors.items() if name.startswith(_MODEL)}
    model.load_state_dict(weights)
    for name, parameter in model.named_parameters():
        prefix = f"{_OPTIMIZER}{name}/"
        state = {
            key.removeprefix(prefix): value.to(parameter.device) if value.ndim else value
            for key, value in tensors.items()
            if key.startswith(prefix)
        }
        if state:
            optimizer.state[parameter] = state
