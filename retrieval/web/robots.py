"""What robots.txt allows, by RFC 9309 (case F04). Patterns are matched by protego.

- 2xx: the groups that name our product, or those of `*`; all groups of the same name count together (2.2.1).
- 4xx: everything is allowed (2.3.1.3), but 429 is not: the host is busy, not without rules.
- 5xx: nothing is allowed (2.3.1.4), and it is asked for again a minute later. The RFC's leave to take rules as
  absent after 30 days of errors is not used: what is remembered ends with the process.
- The host cannot be reached: nothing is allowed either, but the outcome is not that of a refusal: it is `error`,
  `timeout` or `blocked`, as it would be without a robots.txt.
- At most five redirects, over hosts too (2.3.1.2); then it counts as absent.
- The first 500 KiB are read (2.5); a copy is used for 24 hours at most (2.4).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio
import anyio.to_thread
from protego import Protego

from .outcome import Kind
from .settings import PRODUCT
from .status import REDIRECTS
from .stop import Stop
from .urls import WebURL, join_url
from .wire import Answer

LARGEST = 500 * 1024
"""Bytes of a robots.txt that are read."""
DAY = 86_400.0
UNREACHABLE_LIFE = 60.0
"""Seconds before a robots.txt that could not be had is asked for again."""
REDIRECTS_AT_MOST = 5
ORIGINS = 1_024
RULES = 100_000
"""Origins that are remembered, and rules of all of them together; those used last are."""

NAMED = 200
"""Rules that are tried one by one, to name the one that decided; for the trace, after the decision."""
IN_THREAD = 16 * 1024
"""Bytes from which on a file is read in a worker thread: the largest take half a second."""

_AGENT = re.compile(r"\s*user[ -]?agent\s*:?\s*(?P<token>\*|[a-z_-]+)?", re.IGNORECASE)
_LITERAL = re.compile(r"[\x21-\x23\x26-\x29\x2b-\x7e]*")
"""The start of a pattern in which every sign stands for itself: neither wildcard nor escape."""
_NOT_THERE = frozenset({"blocked", "error", "timeout"})
_SITEWIDE = ("sitemap", "host")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What robots.txt says on one URL."""

    refused: Kind | None
    """The outcome if it may not be fetched; None: it may."""
    detail: str
    """The rule, for the trace."""
    delay: float = 0.0
    """Seconds between requests that it asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What one origin's robots.txt means for us."""

    origin: str
    lines: Sequence[str] = ()
    """The rules that apply to us, as they stand there."""
    matcher: Protego
    """Made of `lines` alone, for the agent `*`."""
    failure: Kind | None = None
    """The file could not be had, so nothing is allowed, with this outcome."""
    note: str = ""
    """What it was, if not a file with rules for us."""
    read_at: float
    """Seconds since the epoch."""

    def verdict(self, url: WebURL) -> Verdict:
        """Whether `url` may be fetched, and by which rule."""
        if self.failure is not None:
            return Verdict(refused=self.failure, detail=f"robots.txt of {self.origin}: {self.note}")
        allowed = self.matcher.can_fetch(str(url), "*")
        rule = self.note or (self._deciding(url, allowed=allowed) if self.lines else "") or "no rule matches"
        delay = self.matcher.crawl_delay("*") or 0.0
        refused: Kind | None = None if allowed else "robots_denied"
        return Verdict(refused=refused, detail=f"robots.txt of {self.origin}: {rule}", delay=delay)

    def _deciding(self, url: WebURL, *, allowed: bool) -> str:
        """The longest rule that matches and says what was decided."""
        rules = [(_value(line), line) for line in self.lines if _is_allow(line) == allowed]
        likely = [rule for rule in rules if url.target.startswith(_LITERAL.match(rule[0])[0])]  # type: ignore[index]
        likely.sort(key=lambda rule: len(rule[0]), reverse=True)
        for value, line in likely[:NAMED]:
            if not Protego.parse(f"User-agent: *\nDisallow: {value}").can_fetch(str(url), "*"):
                return line[:200]
        return "one of many rules" if likely[NAMED:] else ""

    def fresh(self, now: float) -> bool:
        """Whether it may still be used. A clock that jumped back makes it stale."""
        life = DAY if self.failure is None else UNREACHABLE_LIFE
        return 0 <= now - self.read_at < life


class Robots:
    """The rules of all origins, each fetched once when first needed.

    Args:
        get: Requests one URL, follows no redirect, and cuts the body at `LARGEST`. Raises `Stop`.
        clock: Seconds since the epoch.
    """

    def __init__(self, get: Callable[[WebURL], Awaitable[Answer]], clock: Callable[[], float]) -> None:
        self._get = get
        self._clock = clock
        self._known: OrderedDict[str, Rules] = OrderedDict()
        self._asking: dict[str, anyio.Lock] = {}

    async def verdict(self, url: WebURL) -> Verdict:
        """Whether `url` may be fetched. Tasks that ask at once share one request; a cancelled one hands it on."""
        lock = self._asking.setdefault(url.origin, anyio.Lock())
        try:
            async with lock:
                rules = self._known.get(url.origin)
                if rules is None or not rules.fresh(self._clock()):
                    rules = self._known[url.origin] = await self._read(url)
        finally:
            if not lock.locked() and not lock.statistics().tasks_waiting:
                self._asking.pop(url.origin, None)
        self._forget(url.origin)
        return rules.verdict(url)

    def _forget(self, used: str) -> None:
        """Keep `used` and what was used last: hosts are cheap to invent, each may have a robots.txt of 500 KiB."""
        if used in self._known:  # another task may have made room
            self._known.move_to_end(used)
        rules = sum(len(known.lines) for known in self._known.values())
        while len(self._known) > ORIGINS or (rules > RULES and len(self._known) > 1):
            _, forgotten = self._known.popitem(last=False)
            rules -= len(forgotten.lines)

    async def _read(self, url: WebURL) -> Rules:
        asked = WebURL(scheme=url.scheme, host=url.host, port=url.port, target="/robots.txt")
        try:
            answer = await self._get(asked)
        except Stop as stop:
            if stop.outcome == "rate_limited":
                raise  # nothing was asked
            failure: Kind = stop.outcome if stop.outcome in _NOT_THERE else "robots_denied"
            return self._nothing(url, f"it cannot be had. {stop.detail}", failure)
        try:
            answer = await self._follow(answer)
        except Stop as stop:
            return self._nothing(url, f"it redirects, and that fails. {stop.detail}", "robots_denied")
        if len(answer.body) < IN_THREAD:
            return self._rules(url, answer)
        return await anyio.to_thread.run_sync(self._rules, url, answer)

    async def _follow(self, answer: Answer) -> Answer:
        for _ in range(REDIRECTS_AT_MOST):
            location = answer.headers.get("location")
            if answer.status not in REDIRECTS or not location:
                return answer
            answer = await self._get(join_url(answer.url, location))
        return answer

    def _rules(self, url: WebURL, answer: Answer) -> Rules:
        status = answer.status
        if status in REDIRECTS:
            return self._nothing(url, f"more than {REDIRECTS_AT_MOST} redirects, so it counts as absent")
        if 200 <= status < 300:
            text = answer.body.decode("utf-8-sig", errors="replace")
            whole_lines = text[: text.rfind("\n") + 1] if answer.cut else text
            return parse_rules(whole_lines, url.origin, self._clock())
        if 400 <= status < 500 and status != 429:
            return self._nothing(url, f"status {status}, so everything is allowed")
        return self._nothing(url, f"status {status}, so nothing is allowed for now", "robots_denied")

    def _nothing(self, url: WebURL, note: str, failure: Kind | None = None) -> Rules:
        return Rules(origin=url.origin, matcher=Protego(), note=note, failure=failure, read_at=self._clock())


def parse_rules(text: str, origin: str, now: float) -> Rules:
    """The rules for us in a robots.txt.

    Groups are told apart here, and protego gets only ours: a hostile file could make it multiply 17,000 agents by
    20,000 rules, and it also takes `User-agent: Suf` for us, where RFC 9309 wants the whole product token.
    """
    ours: list[str] = []
    anyones: list[str] = []
    named = False
    current: list[list[str]] = []
    in_agents = False
    for line in text.splitlines():
        agent = _AGENT.match(line)
        if agent is not None:
            current = current if in_agents else []
            in_agents = True
            token = (agent["token"] or "").lower()
            named = named or token == PRODUCT.lower()
            target = {PRODUCT.lower(): ours, "*": anyones}.get(token)
            if target is not None and not any(target is each for each in current):
                current.append(target)
        elif (rule := line.partition("#")[0].strip()) and not rule.lower().startswith(_SITEWIDE):
            in_agents = False
            for group in current:
                group.append(rule)
    lines = tuple(ours if named else anyones)
    note = "" if lines else "no rules for us"
    matcher = Protego.parse("\n".join(("User-agent: *", *lines)))
    return Rules(origin=origin, lines=lines, matcher=matcher, note=note, read_at=now)


def _value(line: str) -> str:
    return line.partition(":")[2].strip()


def _is_allow(line: str) -> bool:
    return line[:5].lower() == "allow"
