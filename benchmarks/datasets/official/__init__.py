"""Readers of the files as their authors publish them, one module a dataset.

Each reader takes a path and yields place and `Record` or `Fault`; nothing in a file makes it raise.
"""

from .hotpotqa import read_hotpotqa
from .iirc import read_iirc
from .musique import read_musique
from .squad import read_squad
from .two_wiki import read_two_wiki

__all__ = ["read_hotpotqa", "read_iirc", "read_musique", "read_squad", "read_two_wiki"]
