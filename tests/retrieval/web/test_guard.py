"""The guard: no connection into a private or reserved network, in whatever disguise (case F01)."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.web.guard import Address, GuardedBackend, refusal
from retrieval.web.stop import Stop
from tests.retrieval.web.server import book

PUBLIC = "93.184.215.14"


class Recorder(httpcore.AsyncMockBackend):
    """A network that only notes which addresses were connected to; those in `dead` do not answer."""

    def __init__(self, dead: Sequence[str] = ()) -> None:
        super().__init__([])
        self.connected: list[str] = []
        self._dead = dead

    async def connect_tcp(self, host: str, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        self.connected.append(host)
        if host in self._dead:
            raise httpcore.ConnectError("no route")
        return await super().connect_tcp(host, *args, **more)


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104  an address that is refused
        "10.1.2.3",
        "100.64.0.1",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:0:7f00:1::",
        "2001:db8::1",
        "2001:10::1",
        "2002:7f00:1::",
        "2002:a9fe:a9fe::1",
        "2606:4700::5efe:7f00:1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ],
)
def test_private_reserved_and_disguised_addresses_are_refused(address: str) -> None:
    assert refusal(ipaddress.ip_address(address)) is not None


@pytest.mark.parametrize(
    "address",
    [PUBLIC, "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"],
)
def test_public_addresses_pass(address: str) -> None:
    """IPv4 behind NAT64 too: on networks of IPv6 alone every name resolves to it."""
    assert refusal(ipaddress.ip_address(address)) is None


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_whatever_the_standard_library_calls_special_is_refused(address: Address) -> None:
    special = (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )
    judged_as_ipv4 = any(address in ipaddress.ip_network(block) for block in ("64:ff9b::/96", "::ffff:0:0/96"))
    if special and not judged_as_ipv4:
        assert refusal(address) is not None


@given(st.ip_addresses(v=4))
def test_ipv4_inside_ipv6_is_judged_as_ipv4(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    for inside in (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80):
        assert (refusal(ipaddress.IPv6Address(inside)) is None) == (refusal(address) is None)


async def test_one_private_address_among_public_ones_blocks_the_host() -> None:
    """Which one is connected to must not be a matter of luck."""
    network = Recorder()
    guard = GuardedBackend(frozenset(), book({"mixed.test": (PUBLIC, "10.0.0.1")}), network)
    with pytest.raises(Stop, match=r"10\.0\.0\.0/8") as stopped:
        await guard.connect_tcp("mixed.test", 80)
    assert stopped.value.outcome == "blocked"
    assert network.connected == []


async def test_the_address_that_was_judged_is_the_one_connected_to() -> None:
    """A name that resolves first to a public, then to a private address (DNS rebinding) gains nothing."""
    answers = [[PUBLIC], ["127.0.0.1"]]

    async def rebinding(_host: str, _port: int) -> Sequence[Address]:
        return [ipaddress.ip_address(address) for address in answers.pop(0)]

    network = Recorder()
    guard = GuardedBackend(frozenset(), rebinding, network)
    await guard.connect_tcp("rebind.test", 80)
    with pytest.raises(Stop, match=r"127\.0\.0\.0/8"):
        await guard.connect_tcp("rebind.test", 80)
    assert network.connected == [PUBLIC]


async def test_an_allowed_host_may_be_private_and_no_other() -> None:
    """Allowing an address does not allow every name that someone points at it."""
    names = {"intranet.test": ("10.0.0.7",), "evil.test": ("127.0.0.1",)}
    network = Recorder()
    guard = GuardedBackend(frozenset({"Intranet.test", "127.0.0.1", "[::1]"}), book(names), network)
    for host in ("intranet.test", "127.0.0.1", "::1"):
        await guard.connect_tcp(host, 80)
    assert network.connected == ["10.0.0.7", "127.0.0.1", "::1"]
    for host in ("evil.test", "127.0.0.2", "10.0.0.7"):
        with pytest.raises(Stop, match="allow_private"):
            await guard.connect_tcp(host, 80)


async def test_a_dead_address_gives_way_to_the_next() -> None:
    names = {"two.test": ("2606:4700::1111", PUBLIC)}
    network = Recorder(dead=["2606:4700::1111"])
    await GuardedBackend(frozenset(), book(names), network).connect_tcp("two.test", 80, timeout=4)
    assert network.connected == ["2606:4700::1111", PUBLIC]


async def test_a_name_without_address_is_an_error_and_sockets_of_this_machine_are_none() -> None:
    guard = GuardedBackend(frozenset(), book({"empty.test": ()}), Recorder())
    for host in ("nobody.test", "empty.test"):
        with pytest.raises(Stop, match="has no address") as stopped:
            await guard.connect_tcp(host, 80)
        assert stopped.value.outcome == "error"
    with pytest.raises(Stop, match="socket of this machine"):
        await guard.connect_unix_socket("/run/docker.sock")
