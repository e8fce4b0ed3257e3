from __future__ import annotations

import pytest

from plait.config.git_keys import ForgeKind
from plait.forges.forge import (
    ForgeError,
    ForgeToken,
    PullRequestSpec,
    RepoAddress,
    find_forge,
    load_forges,
    parse_address,
)
from plait.forges.github import GitHub
from plait.forges.http_client import find_proxy
from plait.forges.pull_requests import ForgeLocation


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("https://github.com/acme/widgets.git", RepoAddress("github.com", "acme/widgets")),
        ("https://github.com/acme/widgets/", RepoAddress("github.com", "acme/widgets")),
        ("https://GitHub.com:443/acme/widgets", RepoAddress("github.com", "acme/widgets")),
        ("https://ada:secret@github.com/acme/widgets", RepoAddress("github.com", "acme/widgets")),
        ("git@github.com:acme/widgets.git", RepoAddress("github.com", "acme/widgets")),
        ("github.com:acme/widgets", RepoAddress("github.com", "acme/widgets")),
        ("ssh://git@github.com:22/acme/widgets.git", RepoAddress("github.com", "acme/widgets")),
        ("ssh://git@ssh.github.com:443/acme/widgets.git", RepoAddress("github.com", "acme/widgets")),
        ("git+ssh://git@github.com/acme/widgets.git", RepoAddress("github.com", "acme/widgets")),
        ("https://git.example.org:8443/a/b.git", RepoAddress("git.example.org", "a/b", 8443)),
        ("ssh://git@git.example.org:2222/a/b.git", RepoAddress("git.example.org", "a/b")),
        ("git@gitlab.com:group/sub/deep/name.git", RepoAddress("gitlab.com", "group/sub/deep/name")),
        ("git@git.example.org:/a/b.git", RepoAddress("git.example.org", "a/b")),
        ("http://127.0.0.1:3000/a/b", RepoAddress("127.0.0.1", "a/b", 3000, "http")),
        ("http://[::1]:3000/a/b", RepoAddress("::1", "a/b", 3000, "http")),
        ("http://localhost/a/b.git", RepoAddress("localhost", "a/b", None, "http")),
    ],
)
def test_a_url_is_parsed_to_an_address(url: str, wanted: RepoAddress) -> None:
    assert parse_address(url) == wanted


@pytest.mark.parametrize(
    "url",
    [
        "/srv/git/widgets.git",
        "../widgets",
        "file:///srv/git/a/b.git",
        "https://github.com/widgets",
        "https://github.com/",
        "https://github.com/../x/y",
        "https://github.com/a/..",
        "https:///a/b",
        "https://host:99999999/a/b",
        "https://-oProxyCommand=x/a/b",
        "git@-oProxyCommand=x:a/b",
        "https://ho st/a/b",
        "https://host\n.evil/a/b\nc",
        "ext::sh -c evil%/a/b",
        "",
    ],
)
def test_a_url_that_is_no_repository_on_a_forge_is_refused(url: str) -> None:
    with pytest.raises(ForgeError):
        parse_address(url)


def test_a_token_is_never_sent_unencrypted() -> None:
    with pytest.raises(ForgeError, match="unencrypted"):
        parse_address("http://git.example.org/a/b.git")


def test_a_push_error_does_not_show_the_urls_password() -> None:
    with pytest.raises(ForgeError) as caught:
        parse_address("ftp://ada:secret@example.org/a/b")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("github.com", ForgeKind.GITHUB),
        ("acme.ghe.com", ForgeKind.GITHUB),
        ("github.example.org", ForgeKind.GITHUB),
        ("gitlab.com", ForgeKind.GITLAB),
        ("gitlab.example.org", ForgeKind.GITLAB),
        ("codeberg.org", ForgeKind.GITEA),
        ("my-forgejo.example.org", ForgeKind.GITEA),
    ],
)
def test_the_kind_of_forge_is_found_by_the_host(host: str, kind: ForgeKind) -> None:
    assert find_forge(RepoAddress(host, "a/b")).kind is kind


def test_the_kind_of_an_unknown_host_comes_from_the_settings() -> None:
    where = RepoAddress("git.example.org", "a/b")
    assert find_forge(where, ForgeKind.GITLAB).kind is ForgeKind.GITLAB
    with pytest.raises(ForgeError, match="not on GitHub, GitLab or Gitea") as caught:
        find_forge(where)
    assert "If git.example.org is one of them, set pr.forge" in caught.value.hint


def test_the_kind_of_a_known_host_can_not_be_overridden() -> None:
    """Or one forge's token would be sent to another."""
    with pytest.raises(ForgeError, match="is a github host, not gitlab"):
        find_forge(RepoAddress("github.com", "a/b"), ForgeKind.GITLAB)


def test_only_gitlab_has_nested_groups() -> None:
    assert find_forge(RepoAddress("gitlab.com", "a/b/c")).kind is ForgeKind.GITLAB
    with pytest.raises(ForgeError, match="OWNER/NAME"):
        find_forge(RepoAddress("github.com", "a/b/c"))


@pytest.mark.parametrize(
    ("host", "api"),
    [
        ("github.com", "https://api.github.com"),
        ("acme.ghe.com", "https://api.acme.ghe.com"),
        ("github.example.org", "https://github.example.org/api/v3"),
    ],
)
def test_the_api_url_of_each_github_host(host: str, api: str) -> None:
    assert GitHub().find_api_url(RepoAddress(host, "a/b")) == api


@pytest.mark.parametrize(
    ("kind", "path", "wanted"),
    [
        (
            ForgeKind.GITHUB,
            "a/b",
            (
                "By hand: https://h.org/a/b/compare/release/1...plait/batch-x?expand=1\n"
                "  or: gh pr create --repo h.org/a/b --base release/1 --head plait/batch-x --title 'Two words'"
            ),
        ),
        (
            ForgeKind.GITLAB,
            "g/s/b",
            (
                "By hand: https://h.org/g/s/b/-/merge_requests/new?merge_request%5Bsource_branch%5D=plait%2Fbatch-x"
                "&merge_request%5Btarget_branch%5D=release%2F1\n"
                "  or: glab mr create --repo https://h.org/g/s/b --target-branch release/1"
                " --source-branch plait/batch-x --title 'Two words'"
            ),
        ),
        (
            ForgeKind.GITEA,
            "a/b",
            (
                "By hand: https://h.org/a/b/compare/release/1...plait/batch-x\n"
                "  or: tea pulls create --repo a/b --base release/1 --head plait/batch-x --title 'Two words'"
            ),
        ),
    ],
)
def test_the_manual_steps_are_a_link_and_a_command(kind: ForgeKind, path: str, wanted: str) -> None:
    where = RepoAddress("h.org", path)
    spec = PullRequestSpec("plait/batch-x", "release/1", "Two words", "")
    assert ForgeLocation(load_forges()[kind], where, where).describe_manual_steps(spec) == wanted


def test_the_manual_steps_name_a_fork_with_its_owner() -> None:
    location = ForgeLocation(GitHub(), RepoAddress("h.org", "a/b"), RepoAddress("h.org", "ada/b"))
    result = location.describe_manual_steps(PullRequestSpec("x", "main", "t", ""))
    assert "/a/b/compare/main...ada:x?" in result
    assert "--head ada:x" in result


@pytest.mark.parametrize(
    ("url", "environment", "proxy"),
    [
        ("https://h.org", {"HTTPS_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h.org", {"https_proxy": "p:1", "HTTPS_PROXY": "q:1"}, "http://p:1"),
        ("https://h.org", {"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ("https://h.org", {"http_proxy": "http://p:1"}, None),
        ("https://api.h.org", {"HTTPS_PROXY": "http://p:1", "no_proxy": "other.org, .h.org"}, None),
        ("https://nah.org", {"HTTPS_PROXY": "http://p:1", "no_proxy": "h.org"}, "http://p:1"),
        ("https://h.org", {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ("http://127.0.0.1:80", {"ALL_PROXY": "http://p:1", "http_proxy": "http://p:1"}, None),
        ("https://h.org", {}, None),
    ],
)
def test_proxies_come_from_the_environment(url: str, environment: dict[str, str], proxy: str | None) -> None:
    assert find_proxy(url, environment) == proxy


@pytest.mark.parametrize("kind", load_forges())
def test_every_kind_in_the_settings_has_a_forge(kind: ForgeKind) -> None:
    forge = load_forges()[kind]
    address = RepoAddress(forge.hosts[0], "a/b")
    assert forge.kind is kind
    assert find_forge(address) is forge
    assert "s3cret" in str(forge.build_headers(ForgeToken("s3cret", "X")))
    assert forge.find_api_url(address).startswith("https://")
    steps = ForgeLocation(forge, address, address).describe_manual_steps(PullRequestSpec("work", "main", "t", ""))
    assert steps.count("work") == 2
