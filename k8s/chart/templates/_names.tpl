{{/* Empty unless the values override the names: then every object's name begins with it. */}}
{{- define "prefix" -}}
{{- if .Values.fullnameOverride -}}{{- .Values.fullnameOverride -}}
{{- else if .Values.nameOverride -}}
  {{- if contains .Values.nameOverride .Release.Name -}}{{- .Release.Name -}}{{- else -}}{{- printf "%s-%s" .Release.Name .Values.nameOverride -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The name of an object of this release: (list $ "gateway"). */}}
{{- define "name" -}}
{{- $prefix := include "prefix" (index . 0) -}}
{{- $name := index . 1 -}}
{{- if not $prefix -}}{{- $name -}}
{{- else if hasPrefix "model-router" $name -}}{{- printf "%s%s" $prefix (trimPrefix "model-router" $name) -}}
{{- else -}}{{- printf "%s-%s" $prefix $name -}}
{{- end -}}
{{- end -}}

{{/* Puts the release's names into an object. With a prefix, its selectors match this release's pods only. */}}
{{- define "rename" -}}
{{- $prefix := include "prefix" .root -}}
{{- if $prefix -}}
  {{- $root := .root -}}
  {{- $spec := .object.spec | default dict -}}
  {{- $_ := set .object.metadata "name" (include "name" (list $root .object.metadata.name)) -}}
  {{- with $spec.serviceName -}}{{- $_ := set $spec "serviceName" (include "name" (list $root .)) -}}{{- end -}}
  {{- with $spec.scaleTargetRef -}}{{- $_ := set . "name" (include "name" (list $root .name)) -}}{{- end -}}
  {{- range $spec.triggers -}}{{- $_ := set .authenticationRef "name" (include "name" (list $root .authenticationRef.name)) -}}{{- end -}}
  {{- with $spec.template -}}
    {{- $_ := set .metadata.labels "app.kubernetes.io/instance" $prefix -}}
    {{- with .spec.serviceAccountName -}}{{- $_ := set $spec.template.spec "serviceAccountName" (include "name" (list $root .)) -}}{{- end -}}
  {{- end -}}
  {{- if eq .object.kind "Service" -}}{{- $_ := set $spec.selector "app.kubernetes.io/instance" $prefix -}}{{- end -}}
  {{- include "select" (dict "node" $spec "prefix" $prefix) -}}
{{- end -}}
{{- end -}}

{{- define "select" -}}
{{- $prefix := .prefix -}}
{{- if kindIs "slice" .node -}}
  {{- range .node -}}{{- include "select" (dict "node" . "prefix" $prefix) -}}{{- end -}}
{{- else if kindIs "map" .node -}}
  {{- range $field, $value := .node -}}
    {{- if and (has $field (list "selector" "podSelector" "labelSelector")) (kindIs "map" $value) -}}
      {{- if include "is-ours" $value -}}{{- $_ := set $value "matchLabels" (merge (dict "app.kubernetes.io/instance" $prefix) ($value.matchLabels | default dict)) -}}{{- end -}}
    {{- else -}}{{- include "select" (dict "node" $value "prefix" $prefix) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether a selector names pods of this chart, or all pods. */}}
{{- define "is-ours" -}}
{{- $apps := list "gateway" "worker" "migrate" "admin" "backup" "postgres" "valkey" -}}
{{- $label := "app.kubernetes.io/name" -}}
{{- if not . -}}yes
{{- else if has (get (.matchLabels | default dict) $label) $apps -}}yes
{{- else -}}
  {{- range .matchExpressions -}}{{- if and (eq .key $label) (has (first .values) $apps) -}}yes{{- end -}}{{- end -}}
{{- end -}}
{{- end -}}
