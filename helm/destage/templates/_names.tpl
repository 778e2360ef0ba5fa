{{/* What the objects of a release are called, and how they are labelled. */}}

{{- define "destage.labels" -}}
{{ include "destage.selector" . }}
app.kubernetes.io/name: destage
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* KubeRay sets some of the recommended labels itself, and selects pods by them: pods carry labels of our own. */}}
{{- define "destage.selector" -}}
destage.io/release: {{ .Release.Name }}
{{- end }}

{{/* Another sweep, or another store, is another job, so that an upgrade starts it. */}}
{{- define "destage.job" -}}
{{- $sweep := .Values.sweep -}}
{{- $text := coalesce $sweep.spec $sweep.configMap $sweep.study "" -}}
{{- with .Values.store.url -}}
{{- $text = printf "%s\n%s" $text . -}}
{{- end -}}
{{ .Release.Name }}-{{ $text | sha256sum | trunc 8 }}
{{- end }}

{{- define "destage.claim" -}}
{{ .Values.claim.existing | default (printf "%s-results" .Release.Name) }}
{{- end }}

{{- define "destage.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* What is mounted as the study: a ConfigMap's name, or nothing for a bundled one. */}}
{{- define "destage.studyConfigMap" -}}
{{- if .Values.sweep.configMap -}}
{{ .Values.sweep.configMap }}
{{- else if .Values.sweep.spec -}}
{{ include "destage.job" . }}
{{- end -}}
{{- end }}

{{/* How a shell finds the head's pod. */}}
{{- define "destage.headPod" -}}
$(kubectl --namespace {{ .Release.Namespace }} get pod -l destage.io/release={{ .Release.Name }},destage.io/component=head -o name)
{{- end }}
