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
}
"""By name, the values given."""

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
]
"""Values that are not allowed, with what the chart says of them and what the builder says."""
