{{/* Conflicts between values. Code, place and message are those of cluster/setup/helm_values.py and cluster/setup/cluster_settings.py; a test
compares them. The schema checks single values. */}}

{{- define "destage.refusals" -}}
{{- $sweep := .Values.sweep -}}
{{- $given := compact (list (ternary "sweep.spec" "" (not (empty $sweep.spec))) (ternary "sweep.configMap" "" (not (empty $sweep.configMap))) (ternary "sweep.study" "" (not (empty $sweep.study)))) -}}
{{- if and (eq .Values.mode "job") (ne (len $given) 1) -}}
{{- fail (printf "settings.not-one-study at sweep: mode job needs exactly one of sweep.spec, sweep.configMap, sweep.study; given: %s" (join " and " $given | default "none")) -}}
{{- end -}}
{{- if and (eq .Values.mode "cluster") $given -}}
{{- fail "settings.study-in-cluster-mode at sweep: mode cluster takes no study: leave sweep empty and submit studies to the cluster" -}}
{{- end -}}
{{- $store := .Values.store -}}
{{- if and $store.secret (not $store.url) -}}
{{- fail "settings.secret-without-url at store.secret: needs store.url: a volume has no credentials" -}}
{{- end -}}
{{- if $store.url -}}
{{- if not (regexMatch "^(s3|gs|abfss?)://[^/?#]" $store.url) -}}
{{- fail "settings.bad-store-url at store.url: must start with s3://, gs://, abfs:// or abfss:// and a bucket" -}}
{{- end -}}
{{- $user := regexFind "^[a-z0-9]+://[^/?]*@" $store.url -}}
{{- $isUser := and $user (ne $user "gs://anonymous@") (or (not (hasPrefix "abfs" $user)) (regexMatch "://.*:" $user)) -}}
{{- if or $isUser (regexMatch "(?i)[?&](access_key|secret_key|session_token|account_key|client_secret|sas_token|sig)=" $store.url) -}}
{{- /* The URL is not repeated: logs are kept. */}}
{{- fail "settings.credentials-in-url at store.url: must not contain credentials: put them into a Secret (store.secret) or use workload identity (accounts.annotations)" -}}
{{- end -}}
{{- if .Values.claim.existing -}}
{{- fail "settings.store-and-claim at store.url: excludes claim.existing: results go to a bucket or to a volume" -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range .Values.workers -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- if ne (len (uniq $names)) (len $names) -}}
{{- fail (printf "settings.duplicate-group at workers: group names must be unique; given: %s" (join ", " $names)) -}}
{{- end -}}
{{- range $at, $group := .Values.workers -}}
{{- $most := $group.maxReplicas | default $group.replicas | int -}}
{{- if or (lt (int $group.replicas) (int $group.minReplicas)) (gt (int $group.replicas) $most) -}}
{{- fail (printf "settings.replicas-out-of-bounds at workers.%d.replicas: %d is not between minReplicas (%d) and maxReplicas (%d)" $at (int $group.replicas) (int $group.minReplicas) $most) -}}
{{- end -}}
{{- end -}}
{{- if or (gt (len .Release.Name) 38) (not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" .Release.Name)) -}}
{{- fail (printf "settings.bad-release-name at name: %q is not a valid name: use at most 38 lower-case letters, digits and hyphens; start with a letter and do not end with a hyphen" .Release.Name) -}}
{{- end -}}
{{- if and .Release.IsUpgrade (not .Values.upgrade.replaceRunning) -}}
{{- $own := ternary (include "destage.job" .) "" (eq .Values.mode "job") -}}
{{- range (lookup "ray.io/v1" "RayJob" .Release.Namespace "").items | default list -}}
{{- $isOfRelease := eq (get (.metadata.labels | default dict) "destage.io/release") $.Release.Name -}}
{{- $state := get (.status | default dict) "jobDeploymentStatus" | default "New" -}}
{{- if and $isOfRelease (ne .metadata.name $own) (not (has $state (list "Complete" "Failed" "ValidationFailed" "Suspended"))) -}}
{{- fail (printf "cluster.sweep-running at RayJob %s: another study is running (%s) and this upgrade would end it: wait for its end, install this study under another release name, or set upgrade.replaceRunning=true" .metadata.name $state) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not (.Capabilities.APIVersions.Has "ray.io/v1/RayJob") -}}
{{- fail (printf "cluster.kuberay-missing at RayJob %s: the cluster has no ray.io/v1 RayJob; install KubeRay: helm install kuberay-operator kuberay/kuberay-operator --version 1.7.0; for helm template without a cluster, add --api-versions ray.io/v1/RayJob" (include "destage.job" .)) -}}
{{- end -}}
{{- end }}
