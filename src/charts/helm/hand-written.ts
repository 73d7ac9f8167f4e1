/** What no object is made of: names that templates compute, what they refuse, and what Helm prints after an installation. */
import { operatorImage, operatorName, operatorNamespace } from '../../constructs/operator-identity.ts';

const [releasedRepository] = operatorImage.split(':');

export const helpers = `{{- define "clusterwright.image" -}}
{{- with $.Values.image -}}
{{ if and $.Values.imageRegistry (eq .repository "${releasedRepository}") }}{{ $.Values.imageRegistry }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- /* Watched namespaces as the operator gets them: sorted, each once. */}}
{{- define "clusterwright.namespaces" -}}
{{ $.Values.watch.namespaces | default (list $.Release.Namespace) | uniq | sortAlpha | join "," }}
{{- end }}

{{- define "clusterwright.clusterScopedName" -}}
{{- if $.Values.clusterScopedName -}}
{{ $.Values.clusterScopedName }}
{{- else if eq $.Release.Namespace "${operatorNamespace}" -}}
${operatorName}
{{- else -}}
${operatorName}-{{ $.Release.Namespace }}
{{- end -}}
{{- end }}
`;

/** Both would be a contradiction, and one answer to it is a right in every namespace. A schema would refuse without a reason. */
export const contradictions = `{{- if and $.Values.watch.all $.Values.watch.namespaces }}
{{- fail "watch.all and watch.namespaces exclude each other: name namespaces, or watch all of them" }}
{{- end }}
`;

export const notes = `The operator {{ include "clusterwright.image" $ }} is installed in the namespace {{ $.Release.Namespace }}.
{{- if $.Values.watch.all }} It watches all namespaces.
{{- else }} It watches: {{ include "clusterwright.namespaces" $ }}.
Resources in other namespaces are ignored, and their status stays empty.
{{- end }}

Wait until it is ready, and check that it answers:

  kubectl --namespace {{ $.Release.Namespace }} rollout status deployment/${operatorName}
  helm test {{ $.Release.Name }} --namespace {{ $.Release.Namespace }}
{{- if not $.Values.crds.install }}

This release does not install the CRDs. Apply those of version {{ $.Chart.AppVersion }} before the operator starts.
{{- end }}
`;
