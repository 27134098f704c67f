{{/* Fails where the pods could not start, because a failed rendering changes nothing in the cluster. */}}
{{- define "checks" -}}
{{- $values := .Values -}}
{{- $config := fromYaml (include "config" .) -}}
{{- range $name := list "gateway" "worker" -}}
  {{- $app := get $values $name -}}
  {{- $set := keys $config -}}
  {{- range concat $values.pods.extraEnv ($app.extraEnv | default list) -}}{{- $set = append $set .name -}}{{- end -}}
  {{- /* The contents of a Secret or ConfigMap are unknown here. */ -}}
  {{- $isKnown := not (concat $values.pods.envFrom ($app.envFrom | default list)) -}}
  {{- if and $isKnown (not (has "S3_BUCKET" $set)) -}}
    {{- if not (has "ASSET_BASE_URL" $set) -}}{{- fail (printf "%s has no storage: set config.S3_BUCKET, or config.ASSET_BASE_URL and config.ASSET_DIR with a volume there that all gateways and workers share" $name) -}}{{- end -}}
    {{- $mounts := concat $values.pods.extraVolumeMounts ($app.extraVolumeMounts | default list) -}}
    {{- if $values.trial.enabled -}}{{- $mounts = append $mounts (dict "mountPath" "/assets") -}}{{- end -}}
    {{- $folder := get $config "ASSET_DIR" -}}
    {{- $isMounted := false -}}
    {{- range $mounts -}}{{- if and $folder (hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) (printf "%s/" $folder)) -}}{{- $isMounted = true -}}{{- end -}}{{- end -}}
    {{- if not $isMounted -}}{{- fail (printf "%s has no volume at config.ASSET_DIR (%s): add extraVolumes and extraVolumeMounts, or set config.S3_BUCKET" $name ($folder | default "not set")) -}}{{- end -}}
  {{- end -}}
{{- end -}}
{{- if and $values.worker.keda.enabled $values.worker.autoscaling.enabled -}}{{- fail "worker.keda and worker.autoscaling both set the number of workers: enable one" -}}{{- end -}}
{{- if and $values.worker.groups $values.worker.autoscaling.enabled -}}{{- fail "worker.groups have pods that worker.autoscaling would count as its own: use worker.keda, or a fixed number" -}}{{- end -}}
{{- range $name, $scale := dict "gateway.autoscaling" $values.gateway.autoscaling "worker.autoscaling" $values.worker.autoscaling "worker.keda" $values.worker.keda -}}
  {{- if gt (int $scale.minReplicas) (int $scale.maxReplicas) -}}{{- fail (printf "%s.minReplicas is above maxReplicas" $name) -}}{{- end -}}
{{- end -}}
{{- if and $values.certificateAuthority.configMap $values.certificateAuthority.secret -}}{{- fail "certificateAuthority: set configMap or secret" -}}{{- end -}}
{{- /* Every namespace has this ConfigMap, so without it there is no cluster to look at, or no namespace yet. */ -}}
{{- if lookup "v1" "ConfigMap" .Release.Namespace "kube-root-ca.crt" -}}{{- include "existing" (dict "root" . "config" $config) -}}{{- end -}}
{{- end -}}

{{/* Objects that must exist before the release. */}}
{{- define "existing" -}}
{{- $values := .root.Values -}}
{{- if not $values.trial.enabled -}}
  {{- $main := include "required" (list .root "Secret" $values.secrets.main "secrets.main") | fromYaml -}}
  {{- $given := concat (keys $main) (keys .config) -}}
  {{- range concat $values.pods.extraEnv ($values.gateway.extraEnv | default list) -}}{{- $given = append $given .name -}}{{- end -}}
  {{- if and $main (not $values.pods.envFrom) (not $values.gateway.envFrom) -}}
    {{- range list "DATABASE_URL" "SIGNING_SECRET" "JWT_SECRET" -}}
      {{- $isOther := and (eq . "JWT_SECRET") (has "JWT_JWKS_URL" $given) -}}
      {{- if not (or $isOther (has . $given)) -}}{{- fail (printf "the Secret %s lacks %s" $values.secrets.main .) -}}{{- end -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- if $values.worker.keda.enabled -}}{{- $_ := include "required" (list .root "Secret" $values.secrets.scaler "secrets.scaler") -}}{{- end -}}
{{- with $values.catalog.existingConfigMap -}}{{- $_ := include "required" (list $.root "ConfigMap" . "catalog.existingConfigMap") -}}{{- end -}}
{{- with $values.certificateAuthority.configMap -}}{{- $_ := include "required" (list $.root "ConfigMap" . "certificateAuthority.configMap") -}}{{- end -}}
{{- with $values.certificateAuthority.secret -}}{{- $_ := include "required" (list $.root "Secret" . "certificateAuthority.secret") -}}{{- end -}}
{{- end -}}

{{/* The data of an object, or nothing if an object of the release creates it. */}}
{{- define "required" -}}
{{- $root := index . 0 -}}
{{- $name := index . 2 -}}
{{- $made := list -}}
{{- range $root.Values.extraObjects -}}{{- $made = concat $made (list .metadata.name (dig "spec" "target" "name" "" .)) -}}{{- end -}}
{{- $found := lookup "v1" (index . 1) $root.Release.Namespace $name -}}
{{- if and (not $found) (not (has $name $made)) -}}{{- fail (printf "the %s %s (%s) does not exist in the namespace %s: create it first" (index . 1) $name (index . 3) $root.Release.Namespace) -}}{{- end -}}
{{- toYaml ($found.data | default dict) -}}
{{- end -}}
