"""The loop: a question in, an answer from sufficient evidence or an honest abstention out."""

from .build import open_agent
from .config import Settings, load_settings
from .errors import AgentError
from .loop import SearchAgent
from .parts import LoopSettings
from .result import SearchResult, Turn
from .seams import Answer, Citation, Plan
from .stream import TurnStream

__all__ = [
    "AgentError",
    "Answer",
    "Citation",
    "LoopSettings",
    "Plan",
    "SearchAgent",
    "SearchResult",
    "Settings",
    "Turn",
    "TurnStream",
    "load_settings",
    "open_agent",
]
