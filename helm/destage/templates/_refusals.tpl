{{/* What no single value shows; the schema says the rest. */}}

{{- define "destage.refusals" -}}
{{- $sweep := .Values.sweep -}}
{{- $given := compact (list (ternary "sweep.spec" "" (not (empty $sweep.spec))) (ternary "sweep.configMap" "" (not (empty $sweep.configMap))) (ternary "sweep.study" "" (not (empty $sweep.study)))) -}}
{{- if and (eq .Values.mode "job") (ne (len $given) 1) -}}
{{- fail (printf "mode job runs exactly one of sweep.spec, sweep.configMap, sweep.study; given: %s" (join " and " $given | default "none")) -}}
{{- end -}}
{{- if and (eq .Values.mode "cluster") $given -}}
{{- fail "mode cluster runs nothing by itself: leave sweep empty, and submit sweeps to it" -}}
{{- end -}}
{{- $store := .Values.store -}}
{{- if and $store.secret (not $store.url) -}}
{{- fail "store.secret goes with store.url: a volume has no credentials" -}}
{{- end -}}
{{- if $store.url -}}
{{- if not (regexMatch "^(s3|gs|abfss?)://[^/?#]" $store.url) -}}
{{- fail (printf "store.url %q begins with s3://, gs://, abfs:// or abfss:// and a bucket" $store.url) -}}
{{- end -}}
{{- $user := regexFind "^[a-z0-9]+://[^/?]*@" $store.url -}}
{{- $isUser := and $user (ne $user "gs://anonymous@") (or (not (hasPrefix "abfs" $user)) (regexMatch "://.*:" $user)) -}}
{{- if or $isUser (regexMatch "(?i)[?&](access_key|secret_key|session_token|account_key|client_secret|sas_token|sig)=" $store.url) -}}
{{- /* The URL is not repeated: what is printed is kept. */}}
{{- fail "store.url holds no credentials: name their Secret in store.secret, or use workload identity (accounts.annotations)" -}}
{{- end -}}
{{- if .Values.claim.existing -}}
{{- fail "store.url and claim.existing exclude each other: a bucket or a volume, not both" -}}
{{- end -}}
{{- end -}}
{{- $names := list -}}
{{- range .Values.workers -}}
{{- $names = append $names .name -}}
{{- $most := .maxReplicas | default .replicas | int -}}
{{- if or (lt (int .replicas) (int .minReplicas)) (gt (int .replicas) $most) -}}
{{- fail (printf "workers.%s: replicas %d is from minReplicas (%d) to maxReplicas (%d)" .name (int .replicas) (int .minReplicas) $most) -}}
{{- end -}}
{{- end -}}
{{- if ne (len (uniq $names)) (len $names) -}}
{{- fail (printf "workers: each group has a name of its own: %s" (join ", " $names)) -}}
{{- end -}}
{{- if or (gt (len .Release.Name) 38) (not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" .Release.Name)) -}}
{{- fail (printf "the name %q is not allowed: at most 38 small letters, digits and hyphens, the first a letter, the last no hyphen" .Release.Name) -}}
{{- end -}}
{{- if not (.Capabilities.APIVersions.Has "ray.io/v1/RayJob") -}}
{{- fail "the cluster does not know ray.io/v1 RayJob: install the KubeRay operator first (helm install kuberay-operator kuberay/kuberay-operator --version 1.7.0), or set kuberay-operator.enabled=true; where nothing is installed yet (helm template), add --api-versions ray.io/v1/RayJob" -}}
{{- end -}}
{{- end }}
