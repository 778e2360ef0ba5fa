"""Settings as in values files: cases that together enable every part of the chart, and rejected settings."""

import copy
import itertools
from collections.abc import Iterator
from dataclasses import MISSING, is_dataclass
from typing import Any

from destage.cluster import Release, Settings, build, read_settings
from destage.cluster.setup.helm_values import (
    as_values,
    find_default,
    find_item_type,
    list_fields,
    to_camel_case,
)
from destage.errors import ConfigError

CASES: dict[str, dict[str, Any]] = {
    "bundled": {"sweep": {"study": "call_center"}},
    "inline": {
        "sweep": {"spec": "name: small\nscenario: {}\n# a comment with 'quotes' and \"more\"\n"},
        "claim": {"size": "5Gi", "storageClass": "nfs", "accessMode": "ReadWriteOnce"},
        "image": {
            "repository": "registry.example.com/team/destage",
            "digest": "sha256:" + "0a" * 32,
            "pullPolicy": "Always",
            "pullSecrets": ["registry"],
        },
        "job": {"activeDeadlineSeconds": 600, "backoffLimit": 0, "ttlSecondsAfterFinished": 0},
        "networkPolicy": {"enabled": False},
    },
    "config_map": {
        "sweep": {"configMap": "my-study"},
        "claim": {"existing": "shared-results"},
        "job": {
            "deletionRules": [
                {"policy": "DeleteCluster", "status": "SUCCEEDED", "ttlSeconds": 0},
                {"policy": "DeleteNone", "status": "FAILED", "ttlSeconds": 0},
            ]
        },
        "authSecret": "ray-token",
        "accounts": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/destage"}},
        "image": {"tag": "1.2.3"},
    },
    "elastic": {
        "sweep": {"study": "call_center"},
        "autoscaling": {"enabled": True, "idleTimeoutSeconds": 30},
        "head": {
            "cpu": "2",
            "memory": "8Gi",
            "nodeSelector": {"pool": "steady"},
            "tolerations": [{"key": "steady", "operator": "Exists"}],
        },
        "workers": [
            {
                "name": "spot",
                "replicas": 1,
                "minReplicas": 0,
                "maxReplicas": 50,
                "slots": 16,
                "cpu": "16",
                "memory": "32Gi",
                "spot": True,
                "tolerations": [{"key": "team", "value": "storage", "effect": "NoSchedule"}],
            },
            {
                "name": "steady",
                "replicas": 1,
                "slots": 4,
                "cpu": "4",
                "memory": "8Gi",
                "nodeSelector": {"pool": "steady"},
            },
        ],
        "users": {
            "role": True,
            "subjects": [{"kind": "Group", "name": "storage", "apiGroup": "rbac.authorization.k8s.io"}],
        },
        "podMonitor": {"enabled": True, "interval": "1m", "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True, "labels": {"team": "storage"}},
    },
    "cluster mode": {"mode": "cluster", "users": {"role": True}},
    "s3": {
        "sweep": {"spec": "name: small\n"},
        "store": {
            "url": "s3://bucket/a/prefix?region=us-east-1&scheme=http&endpoint_override=minio.minio:9000",
            "secret": "store",
        },
        "networkPolicy": {"egressPorts": [3128, 443]},
    },
    "eks": {
        "sweep": {"study": "call_center"},
        "store": {"url": "s3://bucket/prefix?region=eu-west-1"},
        "accounts": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/destage"}},
    },
    "gke": {
        "sweep": {"study": "call_center"},
        "store": {"url": "gs://bucket"},
        "accounts": {"annotations": {"iam.gke.io/gcp-service-account": "destage@p.iam.gserviceaccount.com"}},
    },
    "google_key": {
        "sweep": {"configMap": "mine"},
        "store": {"url": "gs://anonymous@bucket/p?scheme=http&retry_limit_seconds=60", "secret": "google"},
    },
    "aks": {
        "mode": "cluster",
        "store": {"url": "abfss://sweeps@account.dfs.core.windows.net/prefix"},
        "accounts": {"annotations": {"azure.workload.identity/client-id": "0000"}},
    },
    "azurite": {
        "sweep": {"study": "call_center"},
        "store": {
            "url": "abfs://container@account/p?enable_tls=false&blob_storage_authority=a%3A10000"
            "&dfs_storage_authority=a:10001",
            "secret": "azure",
        },
    },
}


def _with_store(url: str, **more: Any) -> dict[str, Any]:
    return {"sweep": {"study": "a"}, "store": {"url": url}, **more}


_GROUP = {"name": "w", "replicas": 1, "slots": 1, "cpu": "1", "memory": "1Gi"}
CONFLICTS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "settings.not-one-study", "sweep"),
    ({"sweep": {"study": "a", "spec": "name: x"}}, "settings.not-one-study", "sweep"),
    ({"mode": "cluster", "sweep": {"study": "a"}}, "settings.study-in-cluster-mode", "sweep"),
    (
        {"sweep": {"study": "a"}, "workers": [{**_GROUP, "replicas": 3, "maxReplicas": 2}]},
        "settings.replicas-out-of-bounds",
        "workers.0.replicas",
    ),
    ({"sweep": {"study": "a"}, "workers": [_GROUP] * 2}, "settings.duplicate-group", "workers"),
    *(
        (_with_store(url), "settings.bad-store-url", "store.url")
        for url in ("https://bucket/p", "/results", "S3://b", "s3:///prefix")
    ),
    *(
        (_with_store(url), "settings.credentials-in-url", "store.url")
        for url in (
            "s3://AKIA:secret@bucket/p",
            "s3://AKIA@bucket/p",
            "gs://me:secret@bucket",
            "abfss://container:key@account.dfs.core.windows.net/p",
            "abfs://c@a.dfs.core.windows.net/p?tenant_id=1&client_id=2&client_secret=3",
            "abfs://c@a.dfs.core.windows.net/p?sv=2024&SIG=abc",
            "s3://bucket?access_key=AKIA",
        )
    ),
    (_with_store("s3://bucket", claim={"existing": "mine"}), "settings.store-and-claim", "store.url"),
    ({"sweep": {"study": "a"}, "store": {"secret": "s"}}, "settings.secret-without-url", "store.secret"),
]
"""Conflicts between settings: values, the code and the place, in the builder as in the chart."""
SCHEMA_MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"sweep": {"study": "a"}, "imge": {}}, "settings.unknown-key", "imge"),
    ({"sweep": {"study": "a"}, "mode": "jobs"}, "settings.unknown-name", "mode"),
    ({"sweep": {"study": "a; reboot"}}, "settings.bad-form", "sweep.study"),
    ({"sweep": {"study": "a"}, "image": {"digest": "sha256:1"}}, "settings.bad-form", "image.digest"),
    ({"sweep": {"study": "a"}, "head": {"cpu": "many"}}, "settings.bad-form", "head.cpu"),
    ({"sweep": {"study": "a"}, "workers": []}, "settings.too-few", "workers"),
    ({"sweep": {"study": "a"}, "workers": [{"name": "w"}]}, "settings.missing-key", "workers.0.slots"),
    (_with_store("s3://b ucket"), "settings.bad-form", "store.url"),
]
"""Values that the schema rejects, with the builder's code and place."""


def _find_variations(kind: type, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    for field, type_ in list_fields(kind):
        here = (*path, to_camel_case(field.name))
        item = find_item_type(type_)
        if is_dataclass(type_):
            yield from _find_variations(type_, here)  # type: ignore[arg-type]
        elif is_dataclass(item):
            yield from _find_variations(item, (*here, 0))  # type: ignore[arg-type]
        else:
            yield here, list(_allowed_values(type_, find_default(field), field.metadata["schema"]))


def _allowed_values(type_: Any, default: Any, schema: Any) -> Iterator[Any]:
    yield from schema.get("enum", schema.get("examples", ()))
    item = find_item_type(type_)
    if type_ is bool:
        yield from (True, False)
    elif type_ is int:
        yield (schema["minimum"] if default is MISSING else default) + 1
    elif item is not None:
        yield [1234 if item is int else "other" if item is str else {"key": "other"}]
    else:
        yield "other" if type_ is str else {"other": "other"}


SETTINGS: dict[str, tuple[tuple[str | int, ...], list[Any]]] = {
    ".".join(map(str, path)): (path, values)
    for path, values in _find_variations(Settings)
    if path != ("mode",)
}
"""Allowed values of each setting, by its path, from `settings.py`; the case `cluster mode` covers `mode`."""


def find_effect(setting: str) -> dict[str, Any] | None:
    """Return a case with one setting changed so that its manifests change, or None if there is none."""
    path, candidates = SETTINGS[setting]
    for values, value in itertools.product(CASES.values(), candidates):
        changed = copy.deepcopy(values)
        table: Any = changed
        defaults: Any = as_values(Settings())
        for step in path[:-1]:
            defaults = defaults[step] if isinstance(defaults, dict) or len(defaults) > step else {}
            if isinstance(table, dict):
                table = table.setdefault(step, copy.deepcopy(defaults) if isinstance(defaults, list) else {})
            else:
                table = table[step] if len(table) > step else {}
        table[path[-1]] = value
        try:
            if _build(changed) != _build(values):
                return changed
        except ConfigError:
            continue  # conflicts with other settings of this case
    return None


def _build(values: dict[str, Any]) -> list[Any]:
    return build(Release("demo", "sweeps", "1"), read_settings(values))
