"""Locations of stores: paths and URLs of buckets."""

from pathlib import Path

import pytest

from destage.errors import StoreError, UnreachableError
from destage.objects import ObjectPath
from destage.store import default_store, find_sweep, locate
from destage.store.files.layout import find_write_error

URL = "s3://bucket/some/prefix?region=eu-central-1&scheme=http"


def test_a_url_is_a_bucket_and_anything_else_a_path() -> None:
    assert locate("some/folder") == Path("some/folder")
    assert locate("C:/x") == Path("C:/x")
    place = locate(URL)
    assert isinstance(place, ObjectPath)
    assert locate(place) is place
    assert (place.service, place.key) == ("s3://bucket", "some/prefix")


def test_a_location_is_printed_as_parsed_with_its_options() -> None:
    place = locate(URL) / "sweeps" / "quick-0" / "plan-1.parquet"
    assert (
        str(place) == "s3://bucket/some/prefix/sweeps/quick-0/plan-1.parquet?region=eu-central-1&scheme=http"
    )
    assert locate(str(place)) == place
    assert (place.name, place.stem, place.suffix) == ("plan-1.parquet", "plan-1", ".parquet")
    assert str(place.parent.parent.parent) == URL
    assert str(locate("s3://bucket") / "x") == "s3://bucket/x"
    assert str(locate("gs://bucket//a/./b/")) == "gs://bucket/a/b"


@pytest.mark.parametrize(
    "url",
    [
        "s3://AKIAKEY:secret@bucket/prefix",
        "s3://AKIAKEY@bucket/prefix",
        "gs://me@bucket/prefix",
        "abfs://container:key@account.dfs.core.windows.net/prefix",
        "abfs://container@account.dfs.core.windows.net/prefix?client_secret=hidden",
        "s3://bucket/prefix?Secret_Key=hidden",
    ],
)
def test_credentials_in_urls_are_rejected_and_not_printed(url: str) -> None:
    with pytest.raises(StoreError, match="^bucket.credentials-in-url ") as refusal:
        locate(url)
    for secret in ("AKIA", "secret@", "hidden", ":key"):
        assert secret not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "code", "place"),
    [
        ("http://host/x", "bucket.unknown-scheme", "http://"),
        ("s3:///x", "bucket.bad-url", "s3://"),
        ("s3://b/x#y", "bucket.bad-url", "s3://"),
    ],
)
def test_other_urls_are_rejected(url: str, code: str, place: str) -> None:
    with pytest.raises(StoreError) as caught:
        locate(url)
    assert (caught.value.code, caught.value.place) == (code, place)


def test_an_anonymous_reader_and_a_container_are_no_credentials() -> None:
    assert str(locate("gs://anonymous@bucket/p")) == "gs://anonymous@bucket/p"
    assert str(locate("abfs://c@a.dfs.core.windows.net/p")) == "abfs://c@a.dfs.core.windows.net/p"


def test_the_default_store_may_be_a_bucket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESTAGE_STORE", URL)
    assert default_store() == locate(URL)
    monkeypatch.delenv("DESTAGE_STORE")
    assert default_store() == Path("destage-store")


def test_an_unreachable_bucket_has_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("destage.objects.object_path._PAUSES_S", ())
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
    url = "s3://bucket/p?scheme=http&endpoint_override=127.0.0.1:9&region=us-east-1"
    with pytest.raises(UnreachableError) as caught:
        find_sweep("quick", locate(url))
    assert (caught.value.code, caught.value.place) == ("bucket.unreachable", "s3://bucket/p")
    assert "endpoint_override" in caught.value.data["fix"]


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    assert find_write_error(tmp_path / "new" / "store") is None
    (tmp_path / "file").touch()
    trouble = find_write_error(tmp_path / "file" / "store")
    assert trouble is not None
    assert trouble.code == "store.not-writable"
