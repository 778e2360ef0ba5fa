{{/* The pods of a sweep, at Pod Security level restricted, with a read-only root and an emptyDir at /tmp. The submitter
and the keeper have no access to the store and no credentials. */}}

{{- define "destage.containerSecurity" -}}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
readOnlyRootFilesystem: true
{{- end }}

{{- define "destage.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Requests equal limits, so that pods do not compete for a node's resources. Takes cpu and memory. */}}
{{- define "destage.resources" -}}
requests:
  cpu: {{ .cpu | quote }}
  memory: {{ .memory | quote }}
limits:
  cpu: {{ .cpu | quote }}
  memory: {{ .memory | quote }}
{{- end }}

{{/* A Ray container. Takes root, name, cpu, memory, study (whether the study is mounted). */}}
{{- define "destage.rayContainer" -}}
name: {{ .name }}
image: {{ include "destage.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  - name: HOME
    value: /tmp
  {{- include "destage.storeEnv" .root | nindent 2 }}
  - name: RAY_USAGE_STATS_ENABLED
    value: "0"
{{- with include "destage.storeEnvFrom" .root }}
{{ . }}
{{- end }}
resources:
  {{- include "destage.resources" . | nindent 2 }}
securityContext:
  {{- include "destage.containerSecurity" . | nindent 2 }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  {{- with include "destage.storeMounts" .root }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if and .study (include "destage.studyConfigMap" .root) }}
  - name: study
    mountPath: /etc/destage
    readOnly: true
  {{- end }}
{{- end }}

{{/* The fields of every pod. Takes root, account, token, nodeSelector, tolerations, priority. */}}
{{- define "destage.pod" -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: {{ .token }}
enableServiceLinks: false
terminationGracePeriodSeconds: 10
securityContext:
  {{- include "destage.podSecurity" . | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .priority | default .root.Values.priorityClass }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "destage.headTemplate" -}}
metadata:
  labels:
    {{- include "destage.selector" . | nindent 4 }}
    destage.io/component: head
    {{- with include "destage.identityLabels" . }}
    {{- . | nindent 4 }}
    {{- end }}
  {{- with .Values.reader.priorityClass }}
  annotations:
    # `destage cluster` builds the reader from this template.
    destage.io/reader-priority-class: {{ . }}
  {{- end }}
spec:
  {{- include "destage.pod" (dict "root" . "account" (printf "%s-ray" .Release.Name) "token" .Values.autoscaling.enabled "nodeSelector" .Values.head.nodeSelector "tolerations" .Values.head.tolerations "priority" .Values.head.priorityClass) | nindent 2 }}
  containers:
    - ports:
        - name: gcs-server
          containerPort: 6379
        - name: dashboard
          containerPort: 8265
        - name: client
          containerPort: 10001
        - name: metrics
          containerPort: 8080
      {{- include "destage.rayContainer" (dict "root" . "name" "ray-head" "cpu" .Values.head.cpu "memory" .Values.head.memory "study" true) | nindent 6 }}
  volumes:
    {{- include "destage.volumes" . | nindent 4 }}
    {{- with include "destage.studyConfigMap" . }}
    - name: study
      configMap:
        name: {{ . }}
    {{- end }}
{{- end }}

{{/* Takes root and group. */}}
{{- define "destage.workerTemplate" -}}
{{- $tolerations := list -}}
{{- if .group.spot -}}
{{- range list "cloud.google.com/gke-spot" "kubernetes.azure.com/scalesetpriority" -}}
{{- $tolerations = append $tolerations (dict "key" . "operator" "Exists" "effect" "NoSchedule") -}}
{{- end -}}
{{- end -}}
{{- $tolerations = concat $tolerations (.group.tolerations | default list) -}}
metadata:
  labels:
    {{- include "destage.selector" .root | nindent 4 }}
    destage.io/component: worker
    {{- with include "destage.identityLabels" .root }}
    {{- . | nindent 4 }}
    {{- end }}
spec:
  {{- include "destage.pod" (dict "root" .root "account" (printf "%s-ray" .root.Release.Name) "token" false "nodeSelector" .group.nodeSelector "tolerations" $tolerations) | nindent 2 }}
  containers:
    - ports:
        - name: metrics
          containerPort: 8080
      {{- include "destage.rayContainer" (dict "root" .root "name" "ray-worker" "cpu" .group.cpu "memory" .group.memory "study" false) | nindent 6 }}
  volumes:
    {{- include "destage.volumes" .root | nindent 4 }}
{{- end }}

{{- define "destage.submitterTemplate" -}}
metadata:
  labels:
    {{- include "destage.selector" . | nindent 4 }}
    destage.io/component: submitter
spec:
  {{- include "destage.pod" (dict "root" . "account" (printf "%s-submitter" .Release.Name) "token" false "nodeSelector" nil "tolerations" nil) | nindent 2 }}
  restartPolicy: Never
  containers:
    - name: submitter
      image: {{ include "destage.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      env:
        - name: HOME
          value: /tmp
      resources:
        {{- include "destage.resources" (dict "cpu" "500m" "memory" "512Mi") | nindent 8 }}
      securityContext:
        {{- include "destage.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: tmp
      emptyDir: {}
{{- end }}

{{/* The pod that restarts the job; only this pod can change a RayJob's status. */}}
{{- define "destage.keeperTemplate" -}}
metadata:
  labels:
    {{- include "destage.selector" . | nindent 4 }}
    destage.io/component: keeper
spec:
  {{- include "destage.pod" (dict "root" . "account" (printf "%s-keeper" .Release.Name) "token" true "nodeSelector" .Values.head.nodeSelector "tolerations" .Values.head.tolerations "priority" .Values.head.priorityClass) | nindent 2 }}
  restartPolicy: Never
  containers:
    - name: keeper
      image: {{ include "destage.image" . | quote }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      command:
        - destage
        - cluster
        - keep
        - {{ include "destage.job" . }}
        - {{ include "destage.keeperJob" . }}
        - --max-failures
        - {{ .Values.keeper.maxFailures | int | quote }}
      env:
        - name: HOME
          value: /tmp
      resources:
        {{- include "destage.resources" (dict "cpu" "50m" "memory" "128Mi") | nindent 8 }}
      securityContext:
        {{- include "destage.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - name: tmp
          mountPath: /tmp
  volumes:
    - name: tmp
      emptyDir: {}
{{- end }}
