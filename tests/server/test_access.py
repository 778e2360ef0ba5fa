"""Requests need the token, and pages of other sites cannot use it through the reader's browser."""

from urllib.parse import urljoin, urlsplit

import pytest
from served_sweep import Served, request

from destage.server import AllowedHosts

pytestmark = pytest.mark.xdist_group("served")
PATHS = ("/", "/state", "/report", "/sql", "/assets/progress.js", "/nothing")


@pytest.mark.parametrize("path", PATHS)
def test_no_path_is_read_without_the_token(served: Served, path: str) -> None:
    for given in (
        path,
        f"{path}?token=",
        f"{path}?token={served.token[:-1]}",
        f"{path}?token={served.token}x",
    ):
        answer = request(served.place, given)
        assert (answer.status, answer.text.count("\n")) == (403, 1)


def test_a_wrong_cookie_is_refused(served: Served) -> None:
    name = served.cookie.partition("=")[0]
    for cookie in (f"{name}=x", f"{name}=", f"other={served.token}"):
        assert served.ask("/state", Cookie=cookie).status == 403


def test_a_wrong_token_is_refused_in_spite_of_the_cookie(served: Served) -> None:
    assert served.ask("/?token=wrong").status == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(served: Served) -> None:
    answer = request(served.place, f"/?token={served.token}")
    assert (answer.status, answer.headers["location"]) == (303, "./")
    parts = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= parts
    assert served.ask("/").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/x/https:evil.example",
        "/https:evil.example",
        "//evil.example",
        "///evil.example",
        "/x//evil.example",
        "/%2Fevil.example",
        "/%5C%5Cevil.example",
        "/x/%5Cevil.example",
        "/javascript:alert(1)",
        "/x/%0D%0Alocation:%20https:%2F%2Fevil.example",
        "/%09%2Fevil.example",
        "/..",
    ],
)
def test_the_token_redirects_to_this_server_only(served: Served, path: str) -> None:
    answer = request(served.place, f"{path}?token={served.token}")
    assert answer.status == 303
    location = answer.headers["location"]
    assert location.startswith("./")
    assert not set(location) & set(":\\\t\r\n")
    assert "//" not in location
    assert urlsplit(urljoin(f"http://{served.place}/", location)).netloc == served.place


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", ""],
)
def test_another_host_name_is_refused(served: Served, host: str) -> None:
    assert served.ask("/state", Host=host).status == 403


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "127.0.0.1:8990", "[::1]:8990", "LOCALHOST.:80"]
)
def test_a_forwarded_port_is_accepted(served: Served, host: str) -> None:
    assert served.ask("/state", Host=host).status == 200


def test_a_server_open_to_the_network_accepts_addresses_and_its_name() -> None:
    hosts = AllowedHosts({"machine"}, is_local=False)
    assert all(map(hosts.accept, ("machine:80", "10.0.0.1", "[fd00::1]:80", "localhost")))
    assert not any(
        map(hosts.accept, ("evil.example", "machine.evil.example", "a@10.0.0.1", "[::1", "", ":80"))
    )


def test_a_page_of_another_site_may_not_run_statements(served: Served) -> None:
    body = '{"statements": "SELECT 1"}'
    for origin in ("http://evil.example", "http://127.0.0.1:1", "null"):
        given = {"Content_Type": "application/json", "Origin": origin}
        assert served.ask("/sql", "POST", body, **given).status == 403
    given = {"Content_Type": "application/json", "Origin": f"http://{served.place}"}
    assert served.ask("/sql", "POST", body, **given).status == 200
    # A form can send this type without asking the server first.
    assert served.ask("/sql", "POST", body, Content_Type="text/plain").status == 415


@pytest.mark.parametrize("path", [*PATHS, "/?token=wrong"])
def test_every_answer_has_a_policy_that_allows_no_other_site(served: Served, path: str) -> None:
    headers = served.ask(path).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] in ("'none'", "'self'")
    assert "http" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


@pytest.mark.parametrize(
    ("method", "status"), [("PUT", 405), ("DELETE", 405), ("POST", 405), ("OPTIONS", 405)]
)
def test_nothing_is_written(served: Served, method: str, status: int) -> None:
    for path in ("/", "/state", "/report"):
        assert served.ask(path, method).status == status
