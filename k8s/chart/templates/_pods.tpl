{{- define "workload" -}}
{{- $values := .root.Values -}}
{{- $spec := .object.spec -}}
{{- $pod := $spec.template.spec -}}
{{- $container := index $pod.containers 0 -}}
{{- $name := .object.metadata.name -}}
{{- $app := .app -}}
{{- include "secrets" (dict "values" $values "container" $container "name" $name) -}}
{{- $labels := dict "app.kubernetes.io/part-of" "model-router" -}}
{{- $annotations := dict -}}
{{- if eq $name "migrate" -}}
  {{- with $app.activeDeadlineSeconds -}}{{- $_ := set $spec "activeDeadlineSeconds" (int .) -}}{{- else -}}{{- $_ := unset $spec "activeDeadlineSeconds" -}}{{- end -}}
  {{- include "hook" (dict "root" .root "object" .object "weight" "0" "delete" "before-hook-creation,hook-succeeded") -}}
  {{- if $values.trial.enabled -}}{{- $_ := set .object.metadata "name" (printf "migrate-%d" .root.Release.Revision) -}}{{- end -}}
{{- else -}}
  {{- if or (dig "autoscaling" "enabled" false $app) (dig "keda" "enabled" false $app) -}}{{- $_ := unset $spec "replicas" -}}
  {{- else -}}{{- $_ := set $spec "replicas" $app.replicas -}}{{- end -}}
  {{- range list "minReadySeconds" "revisionHistoryLimit" -}}
    {{- $field := . -}}
    {{- with get $app $field -}}{{- $_ := set $spec $field (int .) -}}{{- end -}}
  {{- end -}}
  {{- if eq $name "gateway" -}}{{- include "pre-stop" (dict "container" $container "seconds" (int $app.preStopSeconds)) -}}{{- end -}}
  {{- with $app.strategy -}}{{- $_ := set $spec "strategy" . -}}{{- end -}}
  {{- range list "startupProbe" "readinessProbe" "livenessProbe" -}}{{- include "overlay" (list (get $container .) (get $app .)) -}}{{- end -}}
  {{- $_ := set $pod "terminationGracePeriodSeconds" (int (include "grace" (dict "root" .root "name" $name))) -}}
  {{- include "spread" (dict "pod" $pod "app" $app "name" $name) -}}
  {{- /* Restarts the pods when a setting changes, because they read settings only at startup. */ -}}
  {{- $annotations = dict "checksum/config" (include "config" .root | sha256sum) -}}
  {{- include "files" (dict "root" .root "pod" $pod "container" $container) -}}
{{- end -}}
{{- include "image" (dict "values" $values "pod" $pod "container" $container) -}}
{{- include "authority" (dict "root" .root "pod" $pod "container" $container) -}}
{{- range list $values.pods $app -}}
  {{- include "pod" (dict "pod" $pod "container" $container "settings" .) -}}
  {{- $labels = merge $labels (.podLabels | default dict) -}}
  {{- $annotations = merge $annotations (.podAnnotations | default dict) -}}
{{- end -}}
{{- include "heap" (dict "container" $container "app" $app "name" $name) -}}
{{- range $container.envFrom -}}{{- with .configMapRef -}}{{- if eq .name "model-router" -}}{{- $_ := set . "name" (include "name" (list $.root .name)) -}}{{- end -}}{{- end -}}{{- end -}}
{{- $_ := set $spec.template.metadata "labels" (merge $spec.template.metadata.labels $labels $values.labels) -}}
{{- with merge $annotations $values.annotations -}}{{- $_ := set $spec.template.metadata "annotations" . -}}{{- end -}}
{{- end -}}

{{/* What `pods`, `gateway`, `worker` and `migrate` have in common. */}}
{{- define "pod" -}}
{{- $settings := .settings -}}
{{- $pod := .pod -}}
{{- $container := .container -}}
{{- include "placement" . -}}
{{- range $field, $from := dict "volumes" "extraVolumes" "initContainers" "initContainers" "containers" "sidecars" -}}
  {{- with get $settings $from -}}{{- $_ := set $pod $field (concat (get $pod $field | default list) .) -}}{{- end -}}
{{- end -}}
{{- range $field, $from := dict "volumeMounts" "extraVolumeMounts" "envFrom" "envFrom" -}}
  {{- with get $settings $from -}}{{- $_ := set $container $field (concat (get $container $field | default list) .) -}}{{- end -}}
{{- end -}}
{{- range $settings.extraEnv -}}{{- include "variable" (list $container .) -}}{{- end -}}
{{- with $settings.resources -}}{{- include "overlay" (list $container.resources .) -}}{{- end -}}
{{- with $settings.containerSecurityContext -}}{{- include "overlay" (list $container.securityContext .) -}}{{- end -}}
{{- end -}}

{{/* Where a pod runs, as whom, and how it resolves names. */}}
{{- define "placement" -}}
{{- $pod := .pod -}}
{{- range $field, $from := dict "nodeSelector" "nodeSelector" "affinity" "affinity" "dnsConfig" "dnsConfig" "securityContext" "podSecurityContext" -}}
  {{- with get $.settings $from -}}
    {{- if not (hasKey $pod $field) -}}{{- $_ := set $pod $field dict -}}{{- end -}}
    {{- include "overlay" (list (get $pod $field) .) -}}
  {{- end -}}
{{- end -}}
{{- range list "tolerations" "hostAliases" -}}
  {{- $field := . -}}
  {{- with get $.settings $field -}}{{- $_ := set $pod $field (concat (get $pod $field | default list) .) -}}{{- end -}}
{{- end -}}
{{- range list "priorityClassName" "runtimeClassName" "dnsPolicy" -}}
  {{- $field := . -}}
  {{- with get $.settings $field -}}{{- $_ := set $pod $field . -}}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "image" -}}
{{- $image := .values.image -}}
{{- $_ := set .container "image" (printf "%s:%v%s" $image.repository $image.tag (ternary (printf "@%s" $image.digest) "" (ne $image.digest ""))) -}}
{{- $_ := set .container "imagePullPolicy" $image.pullPolicy -}}
{{- with $image.pullSecrets -}}{{- $_ := set $.pod "imagePullSecrets" . -}}{{- end -}}
{{- end -}}

{{/* Sets a variable of a container, in place of one with the same name. */}}
{{- define "variable" -}}
{{- $container := index . 0 -}}
{{- $variable := index . 1 -}}
{{- $env := list -}}
{{- range $container.env -}}{{- if ne .name $variable.name -}}{{- $env = append $env . -}}{{- end -}}{{- end -}}
{{- $_ := set $container "env" (append $env $variable) -}}
{{- end -}}

{{/* A heap above the memory limit would be killed before Node collects garbage; buffers and sockets take a quarter. */}}
{{- define "heap" -}}
{{- with dig "limits" "memory" "" .container.resources -}}
  {{- $limit := include "mebibytes" . | float64 -}}
  {{- $heap := $.app.maxOldSpaceMiB | default (floor (mulf 0.75 $limit)) | int -}}
  {{- if ge (float64 $heap) $limit -}}{{- fail (printf "%s.maxOldSpaceMiB is %d, but the memory limit is %v" $.name $heap .) -}}{{- end -}}
  {{- range $.container.env -}}{{- if and (eq .name "NODE_OPTIONS") (hasPrefix "--max-old-space-size=" (.value | default "")) -}}{{- $_ := set . "value" (printf "--max-old-space-size=%d" $heap) -}}{{- end -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* A quantity of Kubernetes, such as 1Gi or 1500M, in MiB. */}}
{{- define "mebibytes" -}}
{{- $text := toString . -}}
{{- $number := regexFind "^[0-9.]+(e[+]?[0-9]+)?" $text -}}
{{- $bytes := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- divf (mulf (float64 $number) (get $bytes (trimPrefix $number $text))) 1048576.0 -}}
{{- end -}}

{{/* Kubernetes before 1.33 rejects a sleep of 0 s. */}}
{{- define "pre-stop" -}}
{{- if eq .seconds 0 -}}{{- $_ := unset .container "lifecycle" -}}
{{- else -}}{{- $_ := set .container.lifecycle.preStop.sleep "seconds" .seconds -}}{{- end -}}
{{- end -}}

{{/* The setting that bounds a stop, the gateway's preStop, and time for the connections that are closed. */}}
{{- define "grace" -}}
{{- $setting := get (dict "gateway" "CLOSE_TIMEOUT_MS" "worker" "WORKER_CLOSE_MS") .name -}}
{{- $others := ternary (add 20 (int .root.Values.gateway.preStopSeconds)) 30 (eq .name "gateway") -}}
{{- $needed := add $others (ceil (divf (get (fromYaml (include "config" .root)) $setting) 1000)) -}}
{{- $seconds := (get .root.Values .name).terminationGracePeriodSeconds | default $needed | int -}}
{{- if lt $seconds (int $needed) -}}{{- fail (printf "%s.terminationGracePeriodSeconds is %d, but config.%s needs %d: lower the setting, or calls are cut off" .name $seconds $setting $needed) -}}{{- end -}}
{{- $seconds -}}
{{- end -}}

{{- define "spread" -}}
{{- $name := .name -}}
{{- if not .app.topologySpread -}}{{- $_ := unset .pod "topologySpreadConstraints" -}}{{- end -}}
{{- with .app.topologySpreadConstraints -}}
  {{- $constraints := list -}}
  {{- range . -}}{{- $constraints = append $constraints (merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" (dict "app.kubernetes.io/name" $name)))) -}}{{- end -}}
  {{- $_ := set $.pod "topologySpreadConstraints" $constraints -}}
{{- end -}}
{{- end -}}

{{/* Names of Secrets in `envFrom`. Declared providers are added to the worker. */}}
{{- define "secrets" -}}
{{- $secrets := .values.secrets -}}
{{- $listed := list -}}
{{- range .container.envFrom -}}
  {{- with .secretRef -}}
    {{- $provider := trimPrefix "model-router-provider-" .name -}}
    {{- $listed = append $listed $provider -}}
    {{- if eq .name "model-router" -}}{{- $_ := set . "name" $secrets.main -}}
    {{- else if eq .name "model-router-migrate" -}}{{- $_ := set . "name" $secrets.migrate -}}
    {{- else if hasKey $secrets.providers $provider -}}{{- $_ := set . "name" (get $secrets.providers $provider) -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if eq .name "worker" -}}
  {{- range $provider, $secret := $secrets.providers -}}
    {{- if not (has $provider $listed) -}}{{- $_ := set $.container "envFrom" (append $.container.envFrom (dict "secretRef" (dict "name" $secret "optional" true))) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- end -}}

{{- define "mounted" -}}
{{- $_ := set .pod "volumes" (append (.pod.volumes | default list) .volume) -}}
{{- $_ := set .container "volumeMounts" (append (.container.volumeMounts | default list) .mount) -}}
{{- end -}}

{{/* The catalog's files and, in a trial, the volume for assets. */}}
{{- define "files" -}}
{{- $catalog := .root.Values.catalog -}}
{{- if or $catalog.files $catalog.existingConfigMap -}}
  {{- $map := dict "name" ($catalog.existingConfigMap | default (include "name" (list .root "model-router-catalog"))) -}}
  {{- include "mounted" (dict "pod" .pod "container" .container "volume" (dict "name" "catalog" "configMap" $map) "mount" (dict "name" "catalog" "mountPath" "/etc/model-router/catalog" "readOnly" true)) -}}
{{- end -}}
{{- if .root.Values.trial.enabled -}}
  {{- $claim := dict "claimName" (include "name" (list .root "assets")) -}}
  {{- include "mounted" (dict "pod" .pod "container" .container "volume" (dict "name" "assets" "persistentVolumeClaim" $claim) "mount" (dict "name" "assets" "mountPath" "/assets")) -}}
  {{- $_ := set .pod.securityContext "fsGroup" 65532 -}}
{{- end -}}
{{- end -}}

{{/* Node trusts the certificates of this file in addition to those it brings. */}}
{{- define "authority" -}}
{{- $authority := .root.Values.certificateAuthority -}}
{{- if or $authority.configMap $authority.secret -}}
  {{- $volume := dict "name" "certificate-authority" -}}
  {{- if $authority.secret -}}{{- $_ := set $volume "secret" (dict "secretName" $authority.secret) -}}
  {{- else -}}{{- $_ := set $volume "configMap" (dict "name" $authority.configMap) -}}{{- end -}}
  {{- include "mounted" (dict "pod" .pod "container" .container "volume" $volume "mount" (dict "name" "certificate-authority" "mountPath" "/etc/model-router/certificates" "readOnly" true)) -}}
  {{- include "variable" (list .container (dict "name" "NODE_EXTRA_CA_CERTS" "value" (printf "/etc/model-router/certificates/%s" $authority.key))) -}}
{{- end -}}
{{- end -}}

{{/* The settings of base/kustomization.yaml, overridden by those of the values. */}}
{{- define "config" -}}
{{- $config := dict -}}
{{- range (index (fromYaml (.Files.Get "base/kustomization.yaml")).configMapGenerator 0).literals -}}
  {{- $_ := set $config (index (splitn "=" 2 .) "_0") (index (splitn "=" 2 .) "_1") -}}
{{- end -}}
{{- if .Values.trial.enabled -}}{{- $config = merge (dict "ASSET_DIR" "/assets" "ASSET_BASE_URL" "http://localhost:8080") $config -}}{{- end -}}
{{- if or .Values.catalog.files .Values.catalog.existingConfigMap -}}{{- $_ := set $config "CATALOG_DIR" "/etc/model-router/catalog" -}}{{- end -}}
{{- range $name, $value := .Values.config -}}
  {{- /* Numbers in a values file are floats, which would be printed with an exponent from a million on. */ -}}
  {{- $isWhole := and (kindIs "float64" $value) (eq (floor $value) $value) -}}
  {{- $_ := set $config $name (ternary (printf "%.0f" $value) (toString $value) $isWhole) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}
