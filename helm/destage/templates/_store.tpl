{{/* Access of a pod to the results: a volume or an object store, and the credentials for it. */}}

{{- define "destage.storeScheme" -}}
{{ regexFind "^(s3|gs|abfs)" .Values.store.url }}
{{- end }}

{{/* Google's client reads a file, so its Secret is mounted; the keys of others become environment variables. */}}
{{- define "destage.isKeyFile" -}}
{{- if and .Values.store.secret (eq (include "destage.storeScheme" .) "gs") -}}
true
{{- end -}}
{{- end }}

{{- define "destage.storeEnv" -}}
- name: DESTAGE_STORE
  value: {{ .Values.store.url | default "/results" | quote }}
{{- if include "destage.isKeyFile" . }}
- name: GOOGLE_APPLICATION_CREDENTIALS
  value: /etc/destage-store/key.json
{{- end }}
{{- end }}

{{- define "destage.storeEnvFrom" -}}
{{- if and .Values.store.secret (not (include "destage.isKeyFile" .)) -}}
envFrom:
  - secretRef:
      name: {{ .Values.store.secret }}
{{- end }}
{{- end }}

{{- define "destage.storeMounts" -}}
{{- if include "destage.isKeyFile" . -}}
- name: credentials
  mountPath: /etc/destage-store
  readOnly: true
{{- else if not .Values.store.url -}}
- name: results
  mountPath: /results
{{- end }}
{{- end }}

{{- define "destage.volumes" -}}
- name: tmp
  emptyDir: {}
{{- if include "destage.isKeyFile" . }}
- name: credentials
  secret:
    secretName: {{ .Values.store.secret }}
{{- else if not .Values.store.url }}
- name: results
  persistentVolumeClaim:
    claimName: {{ include "destage.claim" . }}
{{- end }}
{{- end }}

{{/* The label that Azure's workload identity needs on pods; other clouds need none. */}}
{{- define "destage.identityLabels" -}}
{{- if regexMatch "(^|,)azure.workload.identity/" (keys .Values.accounts.annotations | join ",") -}}
azure.workload.identity/use: "true"
{{- end }}
{{- end }}

{{/* The egress ports to outside the cluster, as JSON: for an object store 443 and its endpoint's; egressPorts. */}}
{{- define "destage.outsidePorts" -}}
{{- $url := .Values.store.url -}}
{{- $ports := list -}}
{{- if $url -}}
{{- $named := list -}}
{{- range regexFindAll "(?:^abfss?://[^/?]*|[?&](?:endpoint_override|blob_storage_authority|dfs_storage_authority)=[^&]*)(?::|%3A)([0-9]+)" $url -1 -}}
{{- $named = append $named (regexFind "[0-9]+$" . | int) -}}
{{- end -}}
{{- if and (empty $named) (regexMatch "[?&](scheme=http|enable_tls=(false|0))(&|$)" $url) -}}
{{- $named = list 80 -}}
{{- end -}}
{{- $ports = concat (list 443) $named -}}
{{- end -}}
{{- range .Values.networkPolicy.egressPorts -}}
{{- $ports = append $ports (int .) -}}
{{- end -}}
{{ $ports | uniq | toJson }}
{{- end }}

{{/* Where the results are, for NOTES.txt. */}}
{{- define "destage.where" -}}
{{- if .Values.store.url -}}
the object store {{ .Values.store.url }}
{{- else -}}
the claim {{ include "destage.claim" . }}
{{- end -}}
{{- end }}
