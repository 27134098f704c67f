import { z } from 'zod';

const positive = z.int().positive().nullish().catch(undefined);
const text = z.string().min(1).nullish().catch(undefined);
const flag = z.boolean().nullish().catch(undefined);
const texts = z.array(z.string()).nullish().catch(undefined);
const members = z.record(z.string(), z.unknown()).nullish().catch(undefined);

/** One of the servers behind a router. */
const host = z.object({
  provider: z.string().min(1),
  status: text,
  context_length: positive,
  pricing: members,
});

/**
 * An entry of `GET /models`. Servers name the same facts differently, and only the fields that are used are read. The
 * names are those of Mistral, OpenRouter, Vercel, Together, Groq, DeepInfra, Fireworks, Hugging Face, vLLM, LM Studio and
 * Ollama, in public clients and documentation read on 2026-11-29.
 */
export const servedModel = z.object({
  id: z.string().min(1),
  name: text,
  display_name: text,
  description: text,
  type: text,
  kind: text,
  active: flag,
  archived: flag,
  capabilities: z
    .union([z.array(z.string()), z.record(z.string(), z.unknown())])
    .nullish()
    .catch(undefined),
  supports_chat: flag,
  supports_image_input: flag,
  supports_image_in: flag,
  tags: texts,
  input_modalities: texts,
  output_modalities: texts,
  architecture: z.object({ input_modalities: texts, output_modalities: texts }).nullish().catch(undefined),
  metadata: z.object({ context_length: positive, tags: texts, pricing: members }).nullish().catch(undefined),
  max_model_len: positive,
  context_window: positive,
  context_length: positive,
  max_context_length: positive,
  pricing: members,
  providers: z.array(z.unknown()).nullish().catch(undefined),
  deprecation: text,
  deprecation_date: text,
  expiration_date: text,
  deprecation_replacement_model: text,
});
export type ServedModel = z.infer<typeof servedModel>;
export type Host = z.infer<typeof host>;

/** The servers behind a router that can run the model now. Undefined if the entry is not one of a router. */
export function liveHosts({ providers }: ServedModel): Host[] | undefined {
  return providers
    ?.map((each) => host.safeParse(each).data)
    .filter((each) => each !== undefined)
    .filter(({ status }) => (status ?? 'live') === 'live');
}

/** The length of the context, in tokens: that of the chosen server of a router, or else the longest. */
export function contextOf(model: ServedModel, chosen: Host | undefined): number | undefined {
  const hosted = (chosen === undefined ? (liveHosts(model) ?? []) : [chosen]).flatMap(
    (each) => each.context_length ?? [],
  );
  if (hosted.length > 0) return Math.max(...hosted);
  const { max_model_len: served, context_window: window, context_length: length } = model;
  return (
    served ?? window ?? length ?? model.max_context_length ?? model.metadata?.context_length ?? undefined
  );
}

/** The announced end of a model: its last day is the day before. */
export function endOf(model: ServedModel): string | undefined {
  const announced = model.deprecation ?? model.expiration_date ?? model.deprecation_date;
  const time = Date.parse(announced ?? '');
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}

const inputModalities = ['text', 'image', 'audio', 'video'] as const;

/** The kinds of content that a chat model reads. Other servers than those that list them say only whether it sees images. */
export function readModalities(model: ServedModel): (typeof inputModalities)[number][] {
  const { capabilities, architecture, metadata, tags } = model;
  const listed = architecture?.input_modalities ?? model.input_modalities ?? ['text'];
  const words = [
    ...(tags ?? []),
    ...(metadata?.tags ?? []),
    ...(Array.isArray(capabilities) ? capabilities : []),
  ];
  const seesImages =
    model.supports_image_input === true ||
    model.supports_image_in === true ||
    model.type === 'vlm' ||
    (capabilities !== undefined && !Array.isArray(capabilities) && capabilities?.['vision'] === true) ||
    words.some((word) => word === 'vision' || word === 'vlm');
  const all = new Set<string>(['text', ...listed, ...(seesImages ? ['image'] : [])]);
  return inputModalities.filter((each) => all.has(each));
}
