"""Objects in buckets: reads, writes, lists and deletions, also when the service fails for a while."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from objects.faulty_proxy import ALL, FaultyProxy, Kind
from objects.servers import Server

from destage.errors import StoreError, UnreachableError
from destage.objects import ObjectPath, object_path

TEMPORARY: list[Kind] = ["slow down", "drop", "lose the response"]

_WRITE = """
import sys
from destage.errors import StoreError
from destage.objects import ObjectPath
try:
    (ObjectPath.parse(sys.argv[1]) / "thing").write_bytes(b"never")
except StoreError as error:
    print(error.code)
"""


@pytest.fixture
def store(store_url: str) -> ObjectPath:
    return ObjectPath.parse(store_url)


@pytest.fixture
def proxied(proxied_url: str, proxy: FaultyProxy) -> ObjectPath:
    """Return the same store through the proxy, with a connection opened."""
    proxied = ObjectPath.parse(proxied_url)
    (proxied / "opened").touch()
    proxy.clear()
    return proxied


def test_a_read_returns_the_last_write(store: ObjectPath) -> None:
    place = store / "folder" / "thing.json"
    place.write_text('{"first": 1}')
    place.write_bytes(b"second")
    assert place.read_bytes() == b"second"
    assert place.is_file()
    assert [(each.path, each.size) for each in (store / "folder").list_objects()] == [(place, 6)]


def test_missing_and_present_objects_are_distinguished(store: ObjectPath) -> None:
    none = store / "none"
    (store / "folder" / "thing").touch()
    assert (none.exists(), none.is_file(), none.modified_at()) == (False, False, None)
    assert (none.list_objects(), none.list_below(), none.list_prefixes()) == ([], [], [])
    assert ((store / "folder").exists(), (store / "folder").is_file()) == (True, False)
    none.unlink()
    with pytest.raises(FileNotFoundError):
        none.read_bytes()


def test_a_list_has_each_object_once_and_no_markers(store: ObjectPath) -> None:
    for name in ("b", "a", "deep/er/c", "deep/d"):
        (store / name).write_text(name)
    (store / "gone" / "away").touch()
    (store / "gone" / "away").unlink()  # pyarrow leaves a marker of the prefix, which is not listed
    assert [each.path.name for each in store.list_objects()] == ["a", "b"]
    assert [each.path for each in store.list_below()] == [
        store / "a",
        store / "b",
        store / "deep/d",
        store / "deep/er/c",
    ]
    assert store / "deep" in store.list_prefixes()


@pytest.mark.long
def test_a_list_includes_all_pages(store: ObjectPath) -> None:
    names = [f"{number:04}" for number in range(1001)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: (store / "many" / name).touch(), names))
    assert [each.path.name for each in (store / "many").list_objects()] == names


def test_a_list_has_the_time_of_each_object(store: ObjectPath) -> None:
    before = time.time()
    (store / "thing").touch()
    [listed] = store.list_objects()
    # Services report whole seconds.
    assert before - 1 <= listed.modified_at.timestamp() <= time.time() + 1
    assert (store / "thing").modified_at() == listed.modified_at.timestamp()


def test_a_multipart_object_is_complete(store: ObjectPath) -> None:
    data = bytes(range(256)) * 80_000  # 20 MB: pyarrow sends more than 10 MB in parts
    (store / "large").write_bytes(data)
    assert (store / "large").read_bytes() == data


def test_a_large_object_is_read_by_one_request(
    store: ObjectPath, proxied: ObjectPath, proxy: FaultyProxy
) -> None:
    if store.service.startswith("g"):
        pytest.skip("Google's client reads in parts")
    data = bytes(range(256)) * 20_000
    (store / "large").write_bytes(data)
    assert (proxied / "large").read_bytes() == data
    assert proxy.counts["GET"] == 1


@pytest.mark.parametrize("kind", TEMPORARY)
def test_a_write_survives_a_temporary_fault(proxied: ObjectPath, proxy: FaultyProxy, kind: Kind) -> None:
    proxy.add_fault(kind, part="thing", times=2)
    (proxied / "thing").write_bytes(b"once")
    assert (proxied / "thing").read_bytes() == b"once"
    assert [each.path.name for each in proxied.list_objects()] == ["opened", "thing"]


@pytest.mark.parametrize("kind", [*TEMPORARY, "truncate the body"])
def test_a_read_survives_a_temporary_fault(proxied: ObjectPath, proxy: FaultyProxy, kind: Kind) -> None:
    (proxied / "thing").write_bytes(b"0123456789" * 100)
    proxy.add_fault(kind, method="GET", times=2)
    assert (proxied / "thing").read_bytes() == b"0123456789" * 100
    proxy.add_fault(kind, method="GET", times=2)
    assert [each.size for each in proxied.list_objects()] == [0, 1000]


@pytest.mark.parametrize("kind", TEMPORARY)
def test_a_deletion_survives_a_temporary_fault(proxied: ObjectPath, proxy: FaultyProxy, kind: Kind) -> None:
    (proxied / "thing").touch()
    proxy.add_fault(kind, method="DELETE", times=2)
    (proxied / "thing").unlink(missing_ok=True)  # a retry may find that the first request deleted it
    assert [each.path.name for each in proxied.list_objects()] == ["opened"]


def test_a_persistent_fault_has_the_services_message(
    proxied: ObjectPath, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_path, "_PAUSES_S", ())  # the client itself retries for about seven seconds
    proxy.add_fault("slow down", times=ALL)
    with pytest.raises(StoreError, match=r"^bucket\.\S+ at .*(?i:slow|503|reduce)") as caught:
        (proxied / "thing").write_bytes(b"never")
    assert caught.value.place == f"{proxied.service}/{proxied.key}"
    proxy.clear()
    assert not (proxied / "thing").exists()


def test_a_rejection_is_not_retried(proxied: ObjectPath, proxy: FaultyProxy) -> None:
    proxy.add_fault("deny", times=ALL)
    denied = r"^bucket\.access-denied at \S+a/prefix\S*: .*(?i:denied|403|permission)"
    with pytest.raises(UnreachableError, match=denied):
        (proxied / "thing").write_bytes(b"never")
    assert len(proxy.requests) == 1


def test_a_rejected_write_ends_no_process(proxied_url: str, proxy: FaultyProxy) -> None:
    """In processes of their own: of ten, pyarrow's client of Azure aborted eight (decision 38)."""
    proxy.add_fault("deny", method="PUT", times=ALL)
    proxy.add_fault("deny", method="POST", times=ALL)
    for _ in range(5):
        ended = subprocess.run(
            [sys.executable, "-c", _WRITE, proxied_url], capture_output=True, text=True, check=False
        )
        assert (ended.returncode, ended.stdout) == (0, "bucket.access-denied\n"), ended.stderr


def test_a_rejected_multipart_write_keeps_the_old_object(proxied: ObjectPath, proxy: FaultyProxy) -> None:
    (proxied / "large").write_bytes(b"earlier")
    # Requests for a later part of an upload, or for its end, by service.
    for part in ("partNumber=2", "upload_id", "comp=blocklist"):
        proxy.add_fault("deny", part=part, times=ALL)
    with pytest.raises(StoreError, match=r"^bucket\.access-denied at \S+a/prefix"):
        (proxied / "large").write_bytes(bytes(20_000_000))
    assert (proxied / "large").read_bytes() == b"earlier"


def test_a_missing_bucket_is_an_error(object_server: Server, bucket: str) -> None:
    place = ObjectPath.parse(object_server.url(f"{bucket}-none", "prefix"))
    with pytest.raises(StoreError, match=r"^bucket\.not-found at \S+/prefix"):
        (place / "thing").touch()


def test_wrong_credentials_are_an_error_without_the_secret(
    object_server: Server, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if object_server.kind not in {"versitygw", "azurite"}:
        pytest.skip(f"{object_server.kind} accepts any signature")
    # Another prefix, as an opened location keeps its credentials.
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "d3Jvbmc=")
    place = ObjectPath.parse(object_server.url(bucket, "prefix"))
    with pytest.raises(
        StoreError, match=r"^bucket\.access-denied .*(?i:signature|authenticate|403)"
    ) as caught:
        (place / "thing").touch()
    assert "wrong" not in str(caught.value)
