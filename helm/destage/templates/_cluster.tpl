{{/* The Ray cluster of a RayJob or of mode cluster. */}}

{{- define "destage.clusterSpec" -}}
{{- $root := . -}}
{{- $elastic := .Values.autoscaling.enabled -}}
rayVersion: {{ .Values.rayVersion | quote }}
authOptions:
  mode: token
  {{- with .Values.authSecret }}
  secretName: {{ . }}
  {{- end }}
{{- if $elastic }}
enableInTreeAutoscaling: true
autoscalerOptions:
  version: v2
  idleTimeoutSeconds: {{ .Values.autoscaling.idleTimeoutSeconds }}
  resources:
    {{- include "destage.resources" (dict "cpu" "500m" "memory" "512Mi") | nindent 4 }}
  securityContext:
    {{- include "destage.containerSecurity" . | nindent 4 }}
{{- end }}
headGroupSpec:
  # No runs on the head: one that exhausts its memory would end the driver and the cluster.
  rayStartParams:
    dashboard-host: "0.0.0.0"
    num-cpus: "0"
  template:
    {{- include "destage.headTemplate" . | nindent 4 }}
workerGroupSpecs:
  {{- range .Values.workers }}
  - groupName: {{ .name }}
    replicas: {{ .replicas }}
    minReplicas: {{ ternary (.minReplicas | default 0) .replicas $elastic }}
    maxReplicas: {{ ternary (.maxReplicas | default .replicas) .replicas $elastic }}
    rayStartParams:
      num-cpus: {{ .slots | quote }}
    template:
      {{- include "destage.workerTemplate" (dict "root" $root "group" .) | nindent 6 }}
  {{- end }}
{{- end }}
