"""Figures of answers and rankings. Undefined is None, never NaN (case E02).

Answers are compared as the published scripts do it:

* exact match: HotpotQA's and both SQuAD scripts agree; both texts are lower-cased, stripped of ASCII punctuation
  and of the words a, an, the, and their white space is folded;
* F1 over the *multiset* of white-space tokens after the same steps. The three scripts differ in two places:
  HotpotQA gives 0 as soon as one side is `yes`, `no` or `noanswer` and the other differs; with no token left on
  both sides SQuAD 2.0 gives 1, the other two give 0.

Before these steps we fold what is invisible to a reader (case R04): Unicode compatibility forms (NFKC: full-width
digits, decomposed accents, ligatures) and format characters (zero-width joiners, soft hyphens). `official=True`
leaves this out and equals the scripts exactly. Neither splits languages written without spaces: there a token is a
run of characters between spaces.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

Script: TypeAlias = Literal["hotpotqa", "squad1", "squad2"]
"""Whose evaluation script: hotpot_evaluate_v1.py, evaluate-v1.1.py, evaluate-v2.0.py. MuSiQue's own script (its
metrics/answer.py) compares answers as evaluate-v2.0.py does, and takes the best over the answer and its aliases;
that of 2WikiMultiHopQA compares them as HotpotQA's does."""

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WHOLE_ANSWERS = frozenset({"yes", "no", "noanswer"})


def script_for(dataset: str) -> Script:
    """Whose rules the published figures of a dataset follow; HotpotQA's where none are known.

    >>> script_for("musique_ans")
    'squad2'
    """
    name = dataset.lower()
    if name.startswith(("musique", "squad2", "squad-2", "squad_2")):
        return "squad2"
    return "squad1" if name.startswith("squad") else "hotpotqa"


def normalise_answer(text: str, *, official: bool = False) -> str:
    """The form in which two answers are compared.

    >>> normalise_answer("The Ｔｅｎ  Commandments!")
    'ten commandments'
    """
    if not official:
        folded = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, answers: Sequence[str], *, official: bool = False) -> float | None:
    """1.0 if the prediction equals one of the answers, else 0.0; None without answers to compare with.

    >>> exact_match("the Rush", ["Rush", "Rush (band)"])
    1.0
    """
    if not answers:
        return None
    found = normalise_answer(prediction, official=official)
    return float(any(found == normalise_answer(answer, official=official) for answer in answers))


def answer_f1(
    prediction: str, answers: Sequence[str], *, script: Script = "hotpotqa", official: bool = False
) -> float | None:
    """Best token F1 over the answers, in [0, 1]; None without answers to compare with.

    >>> answer_f1("New York City", ["New York", "NYC"])
    0.8
    """
    if not answers:
        return None
    found = normalise_answer(prediction, official=official)
    return max(_f1(found, normalise_answer(answer, official=official), script) for answer in answers)


def _f1(prediction: str, gold: str, script: Script) -> float:
    if script == "hotpotqa" and prediction != gold and not _WHOLE_ANSWERS.isdisjoint((prediction, gold)):
        return 0.0
    predicted, expected = prediction.split(), gold.split()
    if script == "squad2" and not (predicted and expected):
        return float(predicted == expected)
    same = (Counter(predicted) & Counter(expected)).total()
    if same == 0:
        return 0.0
    precision, recall = same / len(predicted), same / len(expected)
    return 2 * precision * recall / (precision + recall)


def recall_at(ranks: Sequence[int | None], k: int) -> float | None:
    """Share of the gold items among the first k of a ranking; None without gold.

    Args:
        ranks: Rank of each gold item, 1 = best, None = not in the ranking.
        k: At least 1.

    >>> recall_at([1, 7], 5)
    0.5
    """
    return mean(rank is not None and rank <= k for rank in ranks)


def all_support_at(ranks: Sequence[int | None], k: int) -> float | None:
    """1.0 if every gold item is among the first k, else 0.0; None without gold. Arguments as in `recall_at`."""
    share = recall_at(ranks, k)
    return None if share is None else float(share == 1.0)


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None if there is none."""
    defined = [float(value) for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def ratio(part: float, whole: float) -> float | None:
    """`part / whole`; None for an empty whole."""
    return part / whole if whole else None
