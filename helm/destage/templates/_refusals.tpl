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
{{- if gt (len .Release.Name) 38 -}}
{{- fail (printf "the name %q is too long: at most 38 characters" .Release.Name) -}}
{{- end -}}
{{- if not (.Capabilities.APIVersions.Has "ray.io/v1/RayJob") -}}
{{- fail "the cluster does not know ray.io/v1 RayJob: install the KubeRay operator first (helm install kuberay-operator kuberay/kuberay-operator --version 1.7.0), or set kuberay-operator.enabled=true; where nothing is installed yet (helm template), add --api-versions ray.io/v1/RayJob" -}}
{{- end -}}
{{- end }}
