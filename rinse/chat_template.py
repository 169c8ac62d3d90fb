"""A model's own chat template: how it was taught to see who says what.

The template is a Jinja program that lies in the model's folder (`chat_template.jinja`, or under `chat_template` in
`tokenizer_config.json`). It is text from outside: it runs in Jinja's sandbox, as in transformers, without clock.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from retrieval.errors import BackboneCorruptError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TEMPLATE = "chat_template.jinja"
TOKENIZER_CONFIG = "tokenizer_config.json"
_LARGEST = 16 << 20
"""Bytes of a `tokenizer_config.json`; some list every added token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTemplate:
    """Renders turns as the model expects them."""

    source: str
    """The Jinja program."""
    bos: str = ""
    """The token that begins a text, where the model has one."""
    eos: str = ""
    """The token that ends one."""
    controls: tuple[str, ...] = ()
    """Texts that the tokenizer reads as one token with a power of its own, such as the end of a turn."""

    def opened(self, user: str) -> str:
        r"""One user turn, and the assistant's turn opened. A space breaks control tokens that the user says.

        >>> ChatTemplate(source="{% for m in messages %}<{{ m.role }}>{{ m.content }}\n{% endfor %}"
        ...              "{% if add_generation_prompt %}<assistant>{% endif %}").opened("Hi")
        '<user>Hi\n<assistant>'

        Raises:
            BackboneCorruptError: the template fails, or leaves the text out.
        """
        from jinja2 import TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        for token in self.controls:
            user = user.replace(token, f"{token[0]} {token[1:]}")
        # the settings with which transformers renders; templates are written for them
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _plain_json
        environment.globals["raise_exception"] = _refuse
        try:
            shown = environment.from_string(self.source).render(
                messages=[{"role": "user", "content": user}],
                add_generation_prompt=True,
                bos_token=self.bos,
                eos_token=self.eos,
            )
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise BackboneCorruptError(f"The model's chat template fails: {error}") from error
        if user.strip() not in shown:
            raise BackboneCorruptError("The model's chat template leaves out what the user says.")
        return shown


def find_template(folder: Path, tokenizer: Tokenizer, config: Any) -> ChatTemplate:  # noqa: ANN401
    """The template in a model's folder, with what the tokenizer and the model's configuration say of its tokens.

    Raises:
        BackboneCorruptError: the folder holds none, or it cannot be read.
    """
    source = read_template(folder)
    if source is None:
        raise BackboneCorruptError(
            f"{folder} holds no chat template: neither {TEMPLATE} nor one in {TOKENIZER_CONFIG}. "
            "Take an instruction-tuned model, or put its template there."
        )
    ends = {
        name: tokenizer.id_to_token(number) or ""
        for name in ("bos", "eos")
        if isinstance(number := getattr(config, f"{name}_token_id", None), int)
    }
    added = tokenizer.get_added_tokens_decoder().values()
    controls = sorted(token.content for token in added if token.special and len(token.content) > 1)
    return ChatTemplate(source=source, controls=tuple(controls), **ends)


def read_template(folder: Path) -> str | None:
    """The template's source in a model's folder; None if the model has none.

    Raises:
        BackboneCorruptError: `tokenizer_config.json` cannot be read.
    """
    alone = folder / TEMPLATE
    if alone.is_file():
        return alone.read_text(encoding="utf-8")
    path = folder / TOKENIZER_CONFIG
    if not path.is_file():
        return None
    try:
        settings = json.loads(path.read_bytes()) if path.stat().st_size <= _LARGEST else None
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise BackboneCorruptError(
            f"{path} is no JSON object of at most {_LARGEST} bytes. Download the model again."
        )
    found = settings.get("chat_template")
    if isinstance(found, list):  # several by name, of which one is the usual one
        found = {one.get("name"): one.get("template") for one in found if isinstance(one, dict)}.get("default")
    return found if isinstance(found, str) else None


def _plain_json(value: object) -> str:
    """Jinja's own filter escapes for HTML."""
    return json.dumps(value, ensure_ascii=False)


def _refuse(message: str) -> NoReturn:
    from jinja2 import TemplateError

    raise TemplateError(message)
