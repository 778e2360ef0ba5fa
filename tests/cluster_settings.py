"""Settings that between them turn on every part of the chart, as values files would give them."""

from typing import Any

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
        "podMonitor": {"enabled": True, "interval": "15s", "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True, "labels": {"team": "storage"}},
    },
    "standing": {"mode": "cluster", "users": {"role": True}},
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
"""By name, the values given."""

_EXCLUDE = "store.url and claim.existing exclude each other"
_HOLDS = "store.url holds no credentials: name their Secret in store.secret"
_BEGINS = "begins with s3://, gs://, abfs:// or abfss:// and a bucket"


def _stored(url: str, **more: Any) -> dict[str, Any]:
    return {"sweep": {"study": "a"}, "store": {"url": url}, **more}


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (
        {"sweep": {"study": "a", "spec": "name: x"}},
        "given: sweep.spec and sweep.study",
        "given: sweep.spec and sweep.study",
    ),
    (
        {"mode": "cluster", "sweep": {"study": "a"}},
        "mode cluster runs nothing by itself",
        "mode cluster runs nothing by itself",
    ),
    ({"sweep": {"study": "a"}, "imge": {}}, "imge", "did you mean 'image'"),
    ({"sweep": {"study": "a; reboot"}}, "study", "sweep.study"),
    ({"sweep": {"study": "a"}, "workers": []}, "workers", "workers"),
    ({"sweep": {"study": "a"}, "workers": [{"name": "w"}]}, "slots", "workers.0.slots"),
    (
        {
            "sweep": {"study": "a"},
            "workers": [
                {"name": "w", "replicas": 3, "maxReplicas": 2, "slots": 1, "cpu": "1", "memory": "1Gi"}
            ],
        },
        "replicas 3 is from minReplicas (0) to maxReplicas (2)",
        "from minReplicas (0) to maxReplicas (2)",
    ),
    (
        {
            "sweep": {"study": "a"},
            "workers": [{"name": "w", "replicas": 1, "slots": 1, "cpu": "1", "memory": "1Gi"}] * 2,
        },
        "a name of its own: w, w",
        "a name of its own",
    ),
    *((_stored(url), _BEGINS, _BEGINS) for url in ("https://bucket/p", "/results", "S3://b", "s3:///prefix")),
    (_stored("s3://b ucket"), "/store/url", "store.url"),
    *(
        (_stored(url), _HOLDS, _HOLDS.replace("url holds", "url: holds"))
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
    (
        _stored("s3://bucket", claim={"existing": "mine"}),
        _EXCLUDE,
        "store.url: 's3://bucket': and claim.existing exclude each other",
    ),
    (
        {"sweep": {"study": "a"}, "store": {"secret": "s"}},
        "store.secret goes with store.url",
        "store.secret: 's': goes with store.url",
    ),
]
"""Values that are not allowed, with what the chart says of them and what the builder says."""
