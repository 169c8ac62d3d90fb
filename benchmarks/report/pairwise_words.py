"""Sentences of the report of `pairwise`: how to read it, and which option gives a figure that is not there."""

from __future__ import annotations

NO_TIMES = (
    "No time of a scorer is known: times are kept with scores, and these were kept without. Give --scores an "
    "empty folder to measure them."
)
NO_ADDITIONS = (
    "No scorer was measured with added passages. Give --added 0,5,10,20 for the scorers’ figures; the "
    "contrasts must carry as many (contrasts --additions 20)."
)
NO_SPREAD = "These rows hold no distributions of scores. A run with --html FILE gives them."
NO_TESTS = (
    "No headline test was measured. Those are made of --data files of several datasets, or by `contrasts`; "
    "docs/sufficiency.md says which construction applies to which."
)
READING = (
    (
        "Pairwise accuracy: of all pairs of a set that suffices and one that does not, the share in which "
        "the first has the higher score; ties count 0.5. 0.5 is chance."
    ),
    "Intervals are 95 %, by drawing whole clusters again; differences are paired, on the same draws.",
    (
        "A cue tells the two sides of a test apart without judging sufficiency. A scorer that is not above "
        "the best cue of a test has not shown there that it does."
    ),
    (
        "Times are of one record in one process with one thread, while other processes may have run beside it. "
        "Scorers that remember passages, as rinse-small, minilm-cosine and upr do, find some of a record's in "
        "another record of its group; a first look takes longer. What others share is added to their times."
    ),
)
REMEMBERED = (
    "Times within a group of records: rinse-small, minilm-cosine and upr remember passages that they read in "
    "another record of the group, so that a first look takes longer."
)
UNFINISHED = (
    "Time was up (--minutes) before everything was read. The same command goes on there. These figures rest on "
    "the groups that all scorers have finished; how many sides still wait is told at the end of the page."
)
