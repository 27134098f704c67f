import type { RouterModelDetail, RouterModelListEntry } from '#schemas';
import type { Model } from './model.js';
import { type Generation, schemaPath } from './openapi-document.js';

const longestUrl = 2048;

/** The model as lists carry it. */
export const entry = (model: Model): RouterModelListEntry => ({
  id: model.id,
  provider: model.provider,
  model: model.model,
  billing: { charges_on_policy_rejection: model.chargesOnPolicyRejection },
});

/**
 * The entry plus `input_schema_url`, which must be https: it is present only when a schema is authored and
 * the service knows an https address of its own.
 */
export function detail(
  model: Model,
  { publicBaseUrl, generation }: { publicBaseUrl: string | undefined; generation: Generation },
): RouterModelDetail {
  if (model.input === undefined || !publicBaseUrl?.startsWith('https://')) return entry(model);
  const url = `${publicBaseUrl.replace(/\/+$/, '')}${schemaPath(model, generation)}`;
  return url.length > longestUrl ? entry(model) : { ...entry(model), input_schema_url: url };
}
