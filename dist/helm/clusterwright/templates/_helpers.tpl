{{- define "clusterwright.image" -}}
{{- with $.Values.image -}}
{{ if and $.Values.imageRegistry (eq .repository "clusterwright") }}{{ $.Values.imageRegistry }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* Watched namespaces as the operator gets them: sorted, each once. */}}
{{- define "clusterwright.namespaces" -}}
{{ $.Values.watch.namespaces | default (list $.Release.Namespace) | uniq | sortAlpha | join "," }}
{{- end }}

{{- define "clusterwright.clusterScopedName" -}}
{{- if $.Values.clusterScopedName -}}
{{ $.Values.clusterScopedName }}
{{- else if eq $.Release.Namespace "clusterwright-system" -}}
clusterwright
{{- else -}}
clusterwright-{{ $.Release.Namespace }}
{{- end -}}
{{- end }}
