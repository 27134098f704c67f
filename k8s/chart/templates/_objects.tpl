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
{{- else if eq $object.kind "ServiceAccount" -}}
  {{- if $app -}}{{- $_ := set $object.metadata "annotations" (deepCopy $app.serviceAccountAnnotations) -}}{{- end -}}
  {{- if eq $name "migrate" -}}
    {{- $_ := set $object.metadata "annotations" (dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-weight" "-1" "helm.sh/hook-delete-policy" "before-hook-creation") -}}
  {{- end -}}
{{- else if eq $object.kind "HorizontalPodAutoscaler" -}}
  {{- $show = $app.autoscaling.enabled -}}
  {{- $_ := set $object.spec "minReplicas" $app.autoscaling.minReplicas -}}
  {{- $_ := set $object.spec "maxReplicas" $app.autoscaling.maxReplicas -}}
{{- else if eq $object.kind "ScaledObject" -}}
  {{- $_ := set $object.spec "minReplicaCount" $values.worker.keda.minReplicas -}}
  {{- $_ := set $object.spec "maxReplicaCount" $values.worker.keda.maxReplicas -}}
  {{- include "scaler" (dict "root" .root "metadata" (index $object.spec.triggers 0).metadata) -}}
{{- else if eq $object.kind "TriggerAuthentication" -}}
  {{- range $object.spec.secretTargetRef -}}{{- $_ := set . "name" $values.secrets.scaler -}}{{- end -}}
{{- else if eq $object.kind "PrometheusRule" -}}
  {{- include "links" (dict "root" .root "groups" $object.spec.groups) -}}
{{- else if or (eq $object.kind "Deployment") (eq $object.kind "Job") -}}
  {{- include "workload" (dict "root" .root "object" $object "app" $app) -}}
{{- end -}}
{{- if $show -}}
{{- $_ := set $object.metadata "labels" (merge (dict "app.kubernetes.io/part-of" "model-router" "app.kubernetes.io/managed-by" "Helm") $values.labels ($object.metadata.labels | default dict)) -}}
{{- with merge ($object.metadata.annotations | default dict) $values.annotations -}}{{- $_ := set $object.metadata "annotations" . -}}{{- end }}
---
{{ toYaml $object }}
{{ end -}}
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
{{- end -}}
{{- end -}}

{{- define "workload" -}}
{{- $values := .root.Values -}}
{{- $spec := .object.spec -}}
{{- $pod := $spec.template.spec -}}
{{- $container := index $pod.containers 0 -}}
{{- $image := printf "%s:%v" $values.image.repository $values.image.tag -}}
{{- if $values.image.digest -}}{{- $image = printf "%s@%s" $image $values.image.digest -}}{{- end -}}
{{- $_ := set $container "image" $image -}}
{{- $_ := set $container "imagePullPolicy" $values.image.pullPolicy -}}
{{- with $values.image.pullSecrets -}}{{- $_ := set $pod "imagePullSecrets" . -}}{{- end -}}
{{- $listed := list -}}
{{- range $container.envFrom -}}
  {{- with .secretRef -}}
    {{- $provider := trimPrefix "model-router-provider-" .name -}}
    {{- $listed = append $listed $provider -}}
    {{- if eq .name "model-router" -}}{{- $_ := set . "name" $values.secrets.main -}}
    {{- else if eq .name "model-router-migrate" -}}{{- $_ := set . "name" $values.secrets.migrate -}}
    {{- else if hasKey $values.secrets.providers $provider -}}{{- $_ := set . "name" (get $values.secrets.providers $provider) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if eq .object.metadata.name "worker" -}}
  {{- range $provider, $secret := $values.secrets.providers -}}
    {{- if not (has $provider $listed) -}}{{- $_ := set $container "envFrom" (append $container.envFrom (dict "secretRef" (dict "name" $secret "optional" true))) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- $labels := dict "app.kubernetes.io/part-of" "model-router" -}}
{{- $annotations := dict -}}
{{- with .app -}}
  {{- if or (and .autoscaling (dig "enabled" false .autoscaling)) (and .keda (dig "enabled" false .keda)) -}}{{- $_ := unset $spec "replicas" -}}
  {{- else -}}{{- $_ := set $spec "replicas" .replicas -}}{{- end -}}
  {{- with .resources -}}{{- $_ := set $container "resources" (mergeOverwrite $container.resources (deepCopy .)) -}}{{- end -}}
  {{- $heap := printf "--max-old-space-size=%d" (int .maxOldSpaceMiB) -}}
  {{- range $container.env -}}{{- if eq .name "NODE_OPTIONS" -}}{{- $_ := set . "value" $heap -}}{{- end -}}{{- end -}}
  {{- $closeMs := get (fromYaml (include "config" $.root)) (get (dict "gateway" "CLOSE_TIMEOUT_MS" "worker" "WORKER_CLOSE_MS") $.object.metadata.name) -}}
  {{- /* Covers the gateway's preStop, and the connections that a worker closes after its calls. */ -}}
  {{- $_ := set $pod "terminationGracePeriodSeconds" (add 30 (ceil (divf $closeMs 1000))) -}}
  {{- with .nodeSelector -}}{{- $_ := set $pod "nodeSelector" . -}}{{- end -}}
  {{- with .tolerations -}}{{- $_ := set $pod "tolerations" . -}}{{- end -}}
  {{- if not .topologySpread -}}{{- $_ := unset $pod "topologySpreadConstraints" -}}{{- end -}}
  {{- $labels = merge $labels .podLabels -}}
  {{- /* Restarts the pods when a setting changes, because they read settings only at startup. */ -}}
  {{- $annotations = merge (dict "checksum/config" (include "config" $.root | sha256sum)) .podAnnotations -}}
  {{- include "catalog" (dict "values" $values "pod" $pod "container" $container) -}}
{{- else -}}
  {{- $_ := set $.object.metadata "annotations" (dict "helm.sh/hook" "pre-install,pre-upgrade" "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded") -}}
{{- end -}}
{{- $_ := set $spec.template.metadata "labels" (merge $spec.template.metadata.labels $labels $values.labels) -}}
{{- with merge $annotations $values.annotations -}}{{- $_ := set $spec.template.metadata "annotations" . -}}{{- end -}}
{{- end -}}

{{- define "catalog" -}}
{{- $catalog := .values.catalog -}}
{{- if or $catalog.files $catalog.existingConfigMap -}}
  {{- $map := dict "name" ($catalog.existingConfigMap | default "model-router-catalog") -}}
  {{- $_ := set .pod "volumes" (append (.pod.volumes | default list) (dict "name" "catalog" "configMap" $map)) -}}
  {{- $_ := set .container "volumeMounts" (append (.container.volumeMounts | default list) (dict "name" "catalog" "mountPath" "/etc/model-router/catalog" "readOnly" true)) -}}
{{- end -}}
{{- end -}}

{{/* The settings of base/kustomization.yaml, overridden by those of the values. */}}
{{- define "config" -}}
{{- $config := dict -}}
{{- range (index (fromYaml (.Files.Get "base/kustomization.yaml")).configMapGenerator 0).literals -}}
  {{- $_ := set $config (index (splitn "=" 2 .) "_0") (index (splitn "=" 2 .) "_1") -}}
{{- end -}}
{{- if or .Values.catalog.files .Values.catalog.existingConfigMap -}}{{- $_ := set $config "CATALOG_DIR" "/etc/model-router/catalog" -}}{{- end -}}
{{- range $name, $value := .Values.config -}}
  {{- /* Numbers in a values file are floats, which would be printed with an exponent from a million on. */ -}}
  {{- $isWhole := and (kindIs "float64" $value) (eq (floor $value) $value) -}}
  {{- $_ := set $config $name (ternary (printf "%.0f" $value) (toString $value) $isWhole) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}
