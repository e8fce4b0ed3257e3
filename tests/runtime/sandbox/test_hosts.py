from ipaddress import ip_address

import pytest
from hypothesis import given, strategies as st

from plait.runtime.sandbox.hosts import HostRule, find_rule, normalize_host, parse_address, parse_host_rule

PUBLIC, PRIVATE, LOOPBACK, METADATA = map(ip_address, ("93.184.216.34", "10.1.2.3", "127.0.0.1", "169.254.169.254"))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("api.anthropic.com", HostRule("api.anthropic.com")),
        ("API.Anthropic.com.", HostRule("api.anthropic.com")),
        ("*.npmjs.org", HostRule("*.npmjs.org")),
        ("registry.corp:8443", HostRule("registry.corp", 8443)),
        ("127.0.0.1:11434", HostRule("127.0.0.1", 11434)),
        ("localhost:11434", HostRule("localhost", 11434)),
        ("[::1]:11434", HostRule("::1", 11434)),
        ("[::ffff:10.0.0.1]", HostRule("10.0.0.1")),
    ],
)
def test_a_rule_is_a_name_or_an_address_with_or_without_a_port(text: str, rule: HostRule) -> None:
    assert parse_host_rule(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        *("", "*", "*.", "*.org", "a b", "https://a.org", "a.org/path", "a.org:", "a.org:0", "a.org:65536", "u@a.org"),
        *(
            "a..org",
            "-a.org",
            "*.*.org",
            "2130706433",
            "127.1",
            "localhost",
            "127.0.0.1",
            "[::1]",
            "a,b",
            "a.org\n:443",
        ),
    ],
)
def test_anything_else_is_no_rule(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no|has no|is this machine"):
        parse_host_rule(text)


@pytest.mark.parametrize(
    ("rule", "host", "port", "rules"),
    [
        ("a.org", "a.org", 443, 1),
        ("a.org", "A.ORG.", 80, 1),
        ("a.org", "a.org", 22, 0),
        ("a.org:22", "a.org", 22, 1),
        ("a.org:22", "a.org", 443, 0),
        ("a.org", "b.a.org", 443, 0),
        ("a.org", "nota.org", 443, 0),
        ("*.a.org", "b.a.org", 443, 1),
        ("*.a.org", "c.b.a.org", 443, 1),
        ("*.a.org", "a.org", 443, 0),
        ("*.a.org", "evila.org", 443, 0),
        ("127.0.0.1:80", "0x7f000001", 80, 0),
        ("127.0.0.1:80", "2130706433", 80, 0),
        ("127.0.0.1:80", "[::ffff:127.0.0.1]", 80, 1),
    ],
)
def test_a_rule_covers_the_host_it_names_and_no_other(rule: str, host: str, port: int, rules: int) -> None:
    assert (find_rule([parse_host_rule(rule)], host, port) is not None) == rules


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("a.org", {PUBLIC, PRIVATE}),  # a registry of one's own network is listed by its name
        ("*.a.org", {PUBLIC}),
        ("10.1.2.3", {PUBLIC, PRIVATE}),
        ("127.0.0.1:80", {LOOPBACK}),
        ("localhost:80", {LOOPBACK}),
        ("169.254.169.254", {PUBLIC, PRIVATE, METADATA}),
    ],
)
def test_a_listed_name_does_not_lead_to_this_machine_or_its_metadata(rule: str, allowed: set[object]) -> None:
    parsed = parse_host_rule(rule)
    assert {each for each in (PUBLIC, PRIVATE, LOOPBACK, METADATA) if parsed.allows_address(each)} == allowed


@pytest.mark.parametrize(
    "address",
    [
        *("fd00:ec2::254", "168.63.129.16", "100.100.100.200", "192.0.0.192"),
        *("64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "2002:7f00:1::", "::ffff:169.254.169.254"),
    ],
)
def test_nor_to_a_service_with_the_credentials_of_the_machine(address: str) -> None:
    """By whatever address, also one that a gateway translates."""
    found = parse_address(address)
    assert found is not None
    assert not parse_host_rule("a.org").allows_address(found)
    assert not parse_host_rule("*.a.org").allows_address(found)
    assert parse_host_rule("a.org").allows_address(ip_address("64:ff9b::5db8:d822"))


@given(st.text(max_size=40), st.integers(0, 70000))
def test_no_text_from_a_sandbox_matches_a_rule_but_its_host(host: str, port: int) -> None:
    rules = [parse_host_rule(text) for text in ("good.example", "*.good.example", "10.0.0.1:8080")]
    if find_rule(rules, host, port) is not None:
        name = normalize_host(host)
        assert name in {"good.example", "10.0.0.1"} or name.endswith(".good.example")
