{{/* What an upgrade does to a sweep that exists: KubeRay ignores changes of a RayJob while its cluster runs. */}}

{{- define "destage.upgradeNotes" -}}
{{- $job := lookup "ray.io/v1" "RayJob" .Release.Namespace (include "destage.job" .) -}}
{{- $status := get ($job | default dict) "status" | default dict -}}
{{- $state := get $status "jobDeploymentStatus" | default "" -}}
{{- $at := printf "%s --namespace %s" .Release.Name .Release.Namespace -}}
{{- if eq $state "Complete" }}

The sweep was complete before this upgrade and does not run again.
{{- else if and (eq $state "Failed") .Values.keeper.enabled }}

The sweep had failed before this upgrade; the keeper starts it again within a minute.
{{- else if eq $state "Failed" }}

The sweep had failed before this upgrade and does not start again without a keeper (keeper.enabled). To restart it:

  destage cluster watch {{ $at }} --keep
{{- else if eq $state "Suspended" }}

The sweep is cancelled; an upgrade does not start it again. To continue it:

  kubectl --namespace {{ .Release.Namespace }} patch rayjob {{ include "destage.job" . }} --type merge -p '{"spec": {"suspend": false}}'
{{- else if $state }}
{{- $cluster := lookup "ray.io/v1" "RayCluster" .Release.Namespace (get $status "rayClusterName" | default "none") -}}
{{- $elastic := .Values.autoscaling.enabled -}}
{{- $running := dict -}}
{{- range (get ($cluster | default dict) "spec" | default dict).workerGroupSpecs | default list -}}
{{- $_ := set $running .groupName (printf "%d %d" (int .minReplicas) (int .maxReplicas)) -}}
{{- end }}

The sweep is running on a Ray cluster of the earlier settings; new ones apply to the next cluster.
{{- range .Values.workers }}
{{- $low := ternary (.minReplicas | default 0) .replicas $elastic | int }}
{{- $high := ternary (.maxReplicas | default .replicas) .replicas $elastic | int }}
{{- if and (hasKey $running .name) (ne (get $running .name) (printf "%d %d" $low $high)) }}
To change the workers of group {{ .name }} now:

  destage cluster scale {{ $at }} --group {{ .name }} {{ if $elastic }}--min {{ $low }} --max {{ $high }}{{ else }}--workers {{ $high }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
