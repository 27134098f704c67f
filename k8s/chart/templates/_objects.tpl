{{/* The objects of a file that kustomize uses too, changed by the values: (list $ "base/gateway.yaml"). */}}
{{- define "objects" -}}
{{- $root := index . 0 -}}
{{- range $text := regexSplit "(?m)^---$" ($root.Files.Get (index . 1)) -1 -}}
{{- $object := fromYaml $text -}}
{{- if $object.kind -}}
{{- include "object" (dict "root" $root "object" $object) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "object" -}}
{{- $values := .root.Values -}}
{{- $object := .object -}}
{{- $name := $object.metadata.name -}}
{{- $app := get $values $name -}}
{{- $show := true -}}
{{- if eq $object.kind "NetworkPolicy" -}}
  {{- $show = $values.network.enabled -}}
  {{- include "network" (dict "values" $values "object" $object) -}}
{{- else if eq $object.kind "PodDisruptionBudget" -}}
  {{- $show = $app.disruptionBudget -}}
  {{- with $app.disruptionBudgetSpec -}}
    {{- $_ := unset $object.spec "maxUnavailable" -}}
    {{- include "overlay" (list $object.spec .) -}}
  {{- end -}}
{{- else if eq $object.kind "ServiceAccount" -}}
  {{- with get ($app | default dict) "serviceAccountAnnotations" -}}{{- $_ := set $object.metadata "annotations" (deepCopy .) -}}{{- end -}}
  {{- if eq $name "migrate" -}}{{- include "hook" (dict "root" .root "object" $object "weight" "-1" "delete" "before-hook-creation") -}}{{- end -}}
{{- else if eq $object.kind "HorizontalPodAutoscaler" -}}
  {{- $show = $app.autoscaling.enabled -}}
  {{- include "autoscaler" (dict "spec" $object.spec "values" $app.autoscaling) -}}
{{- else if eq $object.kind "ScaledObject" -}}
  {{- $_ := set $object.spec "minReplicaCount" $values.worker.keda.minReplicas -}}
  {{- $_ := set $object.spec "maxReplicaCount" $values.worker.keda.maxReplicas -}}
  {{- include "scaler" (dict "root" .root "metadata" (index $object.spec.triggers 0).metadata) -}}
{{- else if eq $object.kind "TriggerAuthentication" -}}
  {{- range $object.spec.secretTargetRef -}}{{- $_ := set . "name" $values.secrets.scaler -}}{{- end -}}
{{- else if eq $object.kind "PodMonitor" -}}
  {{- range $object.spec.podMetricsEndpoints -}}{{- $_ := set . "interval" $values.monitoring.scrapeInterval -}}{{- end -}}
{{- else if eq $object.kind "PrometheusRule" -}}
  {{- include "links" (dict "root" .root "groups" $object.spec.groups) -}}
{{- else if eq $object.kind "Service" -}}
  {{- if $app -}}{{- include "service" (dict "object" $object "values" $app.service) -}}{{- end -}}
{{- else if eq $object.kind "StatefulSet" -}}
  {{- range (index $object.spec.template.spec.containers 0).env -}}
    {{- with .valueFrom -}}{{- $_ := set .secretKeyRef "name" $values.secrets.main -}}{{- end -}}
  {{- end -}}
{{- else if or (eq $object.kind "Deployment") (eq $object.kind "Job") -}}
  {{- $show = or (ne $name "migrate") $values.migrate.enabled -}}
  {{- include "workload" (dict "root" .root "object" $object "app" $app) -}}
{{- end -}}
{{- if $show -}}
{{- $_ := set $object.metadata "labels" (merge (dict "app.kubernetes.io/part-of" "model-router" "app.kubernetes.io/managed-by" "Helm") $values.labels ($object.metadata.labels | default dict)) -}}
{{- with merge ($object.metadata.annotations | default dict) $values.annotations -}}{{- $_ := set $object.metadata "annotations" . -}}{{- end }}
{{- include "rename" (dict "root" .root "object" $object) }}
---
{{ toYaml $object }}
{{ end -}}
{{- end -}}

{{/* Runs before everything else. A trial's own Postgres does not exist by then, so its migration is an ordinary Job. */}}
{{- define "hook" -}}
{{- if not .root.Values.trial.enabled -}}
  {{- $hook := dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" .weight "helm.sh/hook-delete-policy" .delete -}}
  {{- $_ := set .object.metadata "annotations" (merge $hook (.object.metadata.annotations | default dict)) -}}
{{- end -}}
{{- end -}}

{{- define "autoscaler" -}}
{{- $_ := set .spec "minReplicas" .values.minReplicas -}}
{{- $_ := set .spec "maxReplicas" .values.maxReplicas -}}
{{- with .values.metrics -}}{{- $_ := set $.spec "metrics" . -}}{{- end -}}
{{- include "overlay" (list .spec.behavior .values.behavior) -}}
{{- end -}}

{{- define "service" -}}
{{- with .values.annotations -}}{{- $_ := set $.object.metadata "annotations" (deepCopy .) -}}{{- end -}}
{{- $port := index .object.spec.ports 0 -}}
{{- with .values.port -}}{{- $_ := set $port "port" (int .) -}}{{- end -}}
{{- with .values.nodePort -}}{{- $_ := set $port "nodePort" (int .) -}}{{- end -}}
{{- include "overlay" (list .object.spec (omit .values "annotations" "port" "nodePort")) -}}
{{- end -}}

{{/* The query of keda/worker.yaml, with the values or, if they are not set, with the settings. */}}
{{- define "scaler" -}}
{{- $keda := .root.Values.worker.keda -}}
{{- $config := fromYaml (include "config" .root) -}}
{{- $query := .metadata.query -}}
{{- with $keda.submissionsPerWorker -}}{{- $query = replace "WORKER_DISPATCH_CONCURRENCY / 5.0" (toString .) $query -}}{{- end -}}
{{- with $keda.polledPerWorker -}}{{- $query = replace "WORKER_POLL_CONCURRENCY * 10" (toString .) $query -}}{{- end -}}
{{- range list "WORKER_DISPATCH_CONCURRENCY" "WORKER_POLL_CONCURRENCY" -}}{{- $query = replace . (get $config .) $query -}}{{- end -}}
{{- $_ := set .metadata "query" $query -}}
{{- end -}}

{{/* One Grafana may show several releases, and a uid has at most 40 characters. */}}
{{- define "dashboards" -}}
{{- printf "%s-%s" (trunc 16 .Release.Name | trimSuffix "-") (printf "%s/%s" .Release.Namespace .Release.Name | sha256sum | trunc 8) -}}
{{- end -}}

{{/* Links of alerts, where the values have an address for them. */}}
{{- define "links" -}}
{{- $root := .root -}}
{{- range .groups -}}
  {{- range .rules -}}
    {{- $rule := . -}}
    {{- with include "prefix" $root -}}
      {{- $_ := set $rule "expr" (regexReplaceAll "(horizontalpodautoscaler=~\"(\\(keda-hpa-\\)\\?)?)" $rule.expr (printf "${1}%s-" .)) -}}
    {{- end -}}
    {{- if .alert -}}
      {{- with $root.Values.monitoring.runbooks -}}{{- $_ := set $rule.annotations "runbook_url" (printf "%s#%s" . (lower $rule.alert)) -}}{{- end -}}
      {{- with $root.Values.monitoring.grafana -}}{{- $_ := set $rule.annotations "dashboard_url" (printf "%s/d/%s-%s?var-cluster={{ $labels.cluster }}&var-namespace={{ $labels.namespace }}" . (include "dashboards" $root) $rule.annotations.dashboard) -}}{{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "network" -}}
{{- $values := .values -}}
{{- if eq .object.metadata.name "names" -}}
  {{- $rule := index .object.spec.egress 0 -}}
  {{- $to := list (index $rule.to 0) -}}
  {{- range $values.network.dns -}}{{- $to = append $to (dict "ipBlock" (dict "cidr" .)) -}}{{- end -}}
  {{- $_ := set $rule "to" $to -}}
{{- else if eq .object.metadata.name "scrapes" -}}
  {{- $from := index (index .object.spec.ingress 0).from 0 -}}
  {{- $_ := set (index $from.namespaceSelector.matchExpressions 0) "values" $values.network.monitoringNamespaces -}}
{{- else if eq .object.metadata.name "internet" -}}
  {{- $ports := list -}}
  {{- range $values.network.publicPorts -}}{{- $ports = append $ports (dict "protocol" "TCP" "port" .) -}}{{- end -}}
  {{- $_ := set (index .object.spec.egress 0) "ports" $ports -}}
{{- end -}}
{{- end -}}

{{/* Copies the second map into the first. A null removes a field. */}}
{{- define "overlay" -}}
{{- $target := index . 0 -}}
{{- range $field, $value := index . 1 -}}
  {{- if kindIs "invalid" $value -}}{{- $_ := unset $target $field -}}
  {{- else if and (kindIs "map" $value) (kindIs "map" (get $target $field)) -}}{{- include "overlay" (list (get $target $field) $value) -}}
  {{- else -}}{{- $_ := set $target $field (deepCopy $value) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/* Workers scale like gateways: fast up, slowly down. */}}
{{- define "worker-autoscaler" -}}
{{- range $text := regexSplit "(?m)^---$" (.Files.Get "base/gateway.yaml") -1 -}}
  {{- $object := fromYaml $text -}}
  {{- if eq $object.kind "HorizontalPodAutoscaler" -}}
    {{- $_ := set $object.metadata "name" "worker" -}}
    {{- $_ := set $object.spec.scaleTargetRef "name" "worker" -}}
    {{- include "object" (dict "root" $ "object" $object) -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{/*
A group of workers: the Deployment of the worker with the group's values in place of the worker's. Its pods have the worker's
name, because network policies, metrics and the disruption budget select them by it, and two budgets of one pod would forbid
its eviction.
*/}}
{{- define "worker-group" -}}
{{- $root := .root -}}
{{- $values := deepCopy $root.Values -}}
{{- $_ := set $values "config" (merge (deepCopy (.values.config | default dict)) $values.config) -}}
{{- $fixed := dict "keda" (dict "enabled" false) "autoscaling" (dict "enabled" false) -}}
{{- $_ := set $values "worker" (mergeOverwrite $values.worker (omit (deepCopy .values) "config") $fixed) -}}
{{- $ofGroup := dict "Values" $values "Files" $root.Files "Release" $root.Release "Chart" $root.Chart "Template" $root.Template -}}
{{- range $text := regexSplit "(?m)^---$" ($root.Files.Get "base/worker.yaml") -1 -}}
  {{- $object := fromYaml $text -}}
  {{- if eq $object.kind "Deployment" -}}
    {{- $object = fromYaml (include "object" (dict "root" $ofGroup "object" $object)) -}}
    {{- $_ := set $object.metadata "name" (include "name" (list $root (printf "worker-%s" $.name))) -}}
    {{- $group := dict "app.kubernetes.io/component" $.name -}}
    {{- $_ := set $object.spec.selector "matchLabels" (merge $object.spec.selector.matchLabels $group) -}}
    {{- $_ := set $object.spec.template.metadata "labels" (merge $object.spec.template.metadata.labels $group) -}}
    {{- $container := index $object.spec.template.spec.containers 0 -}}
    {{- range $name, $value := $.values.config -}}
      {{- $setting := get (fromYaml (include "config" $ofGroup)) $name -}}
      {{- include "variable" (list $container (dict "name" $name "value" (toString $setting))) -}}
    {{- end }}
---
{{ toYaml $object }}
  {{ end -}}
{{- end -}}
{{- end -}}

{{/*
An ExternalSecret is a hook before the migration, which needs its Secret. Helm replaces a hook at each upgrade, so the Secret
must outlive it, and an ExternalSecret that an earlier release created as an ordinary object must stay.
*/}}
{{- define "extra" -}}
{{- $object := .object -}}
{{- $annotations := $object.metadata.annotations | default dict -}}
{{- if and (eq $object.kind "ExternalSecret") (not (hasKey $annotations "helm.sh/hook")) -}}
  {{- $_ := set $object.metadata "annotations" (merge (dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" "-5" "helm.sh/hook-delete-policy" "before-hook-creation" "helm.sh/resource-policy" "keep") $annotations) -}}
  {{- $_ := set $object.spec "target" (merge ($object.spec.target | default dict) (dict "creationPolicy" "Orphan")) -}}
{{- end }}
---
{{ toYaml $object }}
{{ end -}}
