"""No way into the private network: names are resolved here, judged, and what was judged is connected to.

A check before the request would look at one answer of the resolver and the connection at another (DNS rebinding).
So the check sits below TLS and HTTP, where a connection is opened: every hop of every redirect, robots.txt too,
and each new connection to a known host passes it. Certificates are still those of the host's name.

Proxies of the environment are not used: a proxy resolves and connects on its own, where nothing can be judged.
"""

from __future__ import annotations

import ipaddress
import socket
import typing
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

import anyio
import httpcore

from .stop import Stop

Address: TypeAlias = IPv4Address | IPv6Address
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]

TRIED = 3
"""Addresses of a host that are tried, each with its share of the time."""

_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
_REFUSED_V4 = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local; clouds answer here with credentials
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
_REFUSED_V6 = tuple(
    ipaddress.IPv6Network(block)
    for block in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",
        "3fff::/20",  # documentation
    )
)
_EMBEDDED_LAST = tuple(ipaddress.IPv6Network(block) for block in ("::ffff:0:0/96", "64:ff9b::/96"))
_6TO4 = ipaddress.IPv6Network("2002::/16")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})


def refusal(address: Address) -> str | None:
    """Why this address is not connected to; None: it is one of the public Internet.

    IPv4 inside IPv6 is judged as the IPv4 that it is: mapped, 6to4 and NAT64 addresses, ISATAP interfaces.

    >>> refusal(ipaddress.ip_address("::ffff:127.0.0.1"))
    '127.0.0.1 (inside ::ffff:7f00:1) is in 127.0.0.0/8'
    """
    if isinstance(address, IPv4Address):
        return next((f"{address} is in {block}" for block in _REFUSED_V4 if address in block), None)
    inner = _embedded(address)
    if inner is not None:
        found = refusal(inner)
        if found is not None:
            return found.replace(" is in ", f" (inside {address}) is in ", 1)
        if address in _EMBEDDED_LAST[0] or address in _EMBEDDED_LAST[1]:
            return None
    if address not in _GLOBAL_V6 or address.scope_id is not None:
        return f"{address} is outside of 2000::/3, the public part of IPv6"
    return next((f"{address} is in {block}" for block in _REFUSED_V6 if address in block), None)


def _embedded(address: IPv6Address) -> IPv4Address | None:
    number = int(address)
    if address in _6TO4:
        return IPv4Address(number >> 80 & 0xFFFFFFFF)
    last = IPv4Address(number & 0xFFFFFFFF)
    if any(address in block for block in _EMBEDDED_LAST) or number >> 32 & 0xFFFFFFFF in _ISATAP:
        return last
    return None


async def resolve_name(host: str, port: int) -> Sequence[Address]:
    """All addresses of a host, in the system's order of preference.

    Raises:
        OSError: The name has none, or the resolver cannot be reached.
    """
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ipaddress.ip_address(address[0]) for *_, address in found]


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """The network below the connection pool: resolves, judges, and connects to what was judged.

    Args:
        allow_private: Hosts, as they stand in URLs, that are not judged.
        resolve: The resolver.
        inner: What connects to addresses.
    """

    def __init__(
        self,
        allow_private: frozenset[str],
        resolve: Resolve = resolve_name,
        inner: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._allowed = frozenset(host.lower().strip("[]").removesuffix(".") for host in allow_private)
        self._resolve = resolve
        self._inner = inner or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that answers.

        Raises:
            Stop: `blocked`, if any address of the host is refused; `error`, if there is none.
            httpcore.ConnectError, httpcore.ConnectTimeout: None of the addresses answers.
        """
        addresses = (await self._checked(host, port))[:TRIED]
        share = None if timeout is None else timeout / len(addresses)
        for address in addresses[:-1]:
            try:
                return await self._inner.connect_tcp(str(address), port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(str(addresses[-1]), port, share, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> typing.NoReturn:
        """Never: a socket of this machine is not the web."""
        raise Stop("blocked", f"{path} is a socket of this machine.")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await anyio.sleep(seconds)

    async def _checked(self, host: str, port: int) -> Sequence[Address]:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise Stop("error", f"{host} has no address: {error}.", again=again) from error
        if not addresses:
            raise Stop("error", f"{host} has no address.")
        for address in addresses:
            reason = None if host in self._allowed else refusal(address)
            if reason is not None:
                raise Stop("blocked", f"{host} leads into a private or reserved network: {reason}. {_REMEDY}")
        return addresses


_REMEDY = "If this host is yours, name it in allow_private."
