{{/* Names and labels of the objects of a release. */}}

{{- define "destage.labels" -}}
{{ include "destage.selector" . }}
app.kubernetes.io/name: destage
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Pods have labels of our own because KubeRay sets and selects by some of the recommended ones. */}}
{{- define "destage.selector" -}}
destage.io/release: {{ .Release.Name }}
{{- end }}

{{/* The RayJob's name depends on study and store, so that an upgrade starts a new job. */}}
{{- define "destage.job" -}}
{{- $sweep := .Values.sweep -}}
{{- $text := coalesce $sweep.spec $sweep.configMap $sweep.study | default "" -}}
{{- with .Values.store.url -}}
{{- $text = printf "%s\n%s" $text . -}}
{{- end -}}
{{ .Release.Name }}-{{ $text | sha256sum | trunc 8 }}
{{- end }}

{{/* No revision can change a Job, so each has its own keeper. */}}
{{- define "destage.keeperJob" -}}
{{ include "destage.job" . }}-keeper-{{ .Release.Revision }}
{{- end }}

{{- define "destage.hasKeeper" -}}
{{- if and (eq .Values.mode "job") .Values.keeper.enabled -}}
true
{{- end -}}
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

{{/* The ConfigMap with the study; empty for a bundled study. */}}
{{- define "destage.studyConfigMap" -}}
{{- if .Values.sweep.configMap -}}
{{ .Values.sweep.configMap }}
{{- else if .Values.sweep.spec -}}
{{ include "destage.job" . }}
{{- end -}}
{{- end }}

{{/* A shell expression for the name of the head pod. */}}
{{- define "destage.headPod" -}}
$(kubectl --namespace {{ .Release.Namespace }} get pod -l destage.io/release={{ .Release.Name }},destage.io/component=head -o name)
{{- end }}
