import { type Bucket, bucketNames } from '#errors';
import { cut, essenceOf, isExact, isJsonType, longStringsOf, replaceStrings, stringAt } from '#schemas';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { unknownFieldsHeader } from '../answers/unknown-fields.js';
import { maxReadBytes, type RouteAnswer } from './own-routes.js';

/** Longer strings, such as images in base64, would fill the agent's context. */
const maxStringLength = 2_000;
const maxTextLength = 50_000;

/** Advice for the agent on each failure of a run. */
const advice = {
  invalid_input: 'Correct the input: describe_model shows what the model takes.',
  content_policy_violation: 'The same input will be rejected again: change its content.',
  provider_error: 'Try again once, or use another model.',
  provider_timeout: 'Try again once, or use another model.',
  insufficient_credits: 'Stop, and tell the user: the workspace needs credits.',
  model_not_found: 'Use an id that find_models lists.',
  unauthorized: 'Stop, and tell the user: the credential of this connection is not valid.',
  forbidden: 'Use a model that find_models lists, or tell the user which permission the credential lacks.',
  concurrency_limit_exceeded: 'Wait until a run has finished, then try again.',
  client_disconnected: 'The run was cancelled: start another if the result is still needed.',
  internal_error: 'Tell the user: it is unknown whether the provider ran it.',
  deadline_exceeded: 'The run is still in progress: follow it with get_run.',
  not_enabled: 'Use a model that find_models lists, or tell the user that this one is not enabled.',
  service_unavailable: 'Try again in a few seconds.',
  rate_limited: 'Wait for a minute, then try again.',
} as const satisfies Record<Bucket, string>;
const adviceOnRunIds = 'Check model and request_id: list_runs has those of the last runs.';

export const textResult = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value, null, 1) }],
});

/** A result for programs, and the same as text for agents that read only text. */
export const structuredResult = (value: Readonly<Record<string, unknown>>): CallToolResult => ({
  ...textResult(JSON.stringify(value)),
  structuredContent: value,
});

/** A link that an agent can show or open. */
export const linkTo = (url: string, mediaType: string) => ({
  type: 'resource_link' as const,
  uri: url,
  name: new URL(url).pathname.split('/').at(-1) || 'output',
  mimeType: mediaType,
});

/** The fields of the input that are most likely typos, if any. */
export const unknownFieldsIn = ({ headers }: RouteAnswer): { unknown_fields?: string } => {
  const fields = headers[unknownFieldsHeader];
  return typeof fields === 'string' ? { unknown_fields: fields } : {};
};

export const failureResult = async (answer: RouteAnswer): Promise<CallToolResult> =>
  failureOf(answer, await bodyOf(answer));

/** The failure of a call whose only input is the id of a run. */
export const failureToFind = (answer: RouteAnswer, body: Readonly<Record<string, unknown>>): CallToolResult =>
  failureOf(answer, body, { ...advice, invalid_input: adviceOnRunIds });

/** Like `failureResult`, for a body that was already read. */
function failureOf(
  { headers }: RouteAnswer,
  { detail }: Readonly<Record<string, unknown>>,
  adviceOn: Readonly<Record<Bucket, string>> = advice,
): CallToolResult {
  const named = headers['x-service-error-type'];
  const bucket = bucketNames.find((each) => each === named) ?? 'internal_error';
  const said = typeof detail === 'string' ? detail : JSON.stringify(detail);
  return { ...textResult(`${bucket}: ${said}\n${adviceOn[bucket]}`), isError: true };
}

/** Reads a JSON object. */
export async function bodyOf(answer: RouteAnswer): Promise<Readonly<Record<string, unknown>>> {
  const bytes = await answer.read();
  return bytes === undefined
    ? { detail: `The answer has more than ${maxReadBytes} bytes.` }
    : (JSON.parse(bytes.toString()) as Record<string, unknown>);
}

/**
 * The output of a run, cut to what an agent can read; the full output is at `response_url`. JSON stays text, because
 * parsing would change a 64-bit seed. Files have links.
 */
export async function outputResult(
  answer: RouteAnswer,
  run: Record<string, unknown>,
): Promise<CallToolResult> {
  const { headers } = answer;
  const mediaType = essenceOf(String(headers['content-type'] ?? ''));
  const [kind] = mediaType.split('/');
  const isJson = isJsonType(mediaType);
  const isShown = isJson || kind === 'image' || kind === 'audio';
  const mayFit = Number(headers['content-length'] ?? 0) <= maxReadBytes;
  const bytes = isShown && mayFit ? await answer.read() : answer.discard();
  const facts = { ...run, cost_cents: Number(headers['x-service-cost-cents']) };
  if (isJson && bytes !== undefined) {
    const full = withShortStrings(bytes).toString();
    const output = full.length <= maxTextLength ? full : JSON.stringify(shortText(full, maxTextLength));
    const files = filesIn(full);
    const value: unknown = JSON.parse(output);
    return {
      content: [
        { type: 'text', text: `${JSON.stringify({ ...facts, files }).slice(0, -1)},"output":${output}}` },
        ...files.map(({ url, media_type: type }) => linkTo(url, type)),
      ],
      // A program would not notice lost digits, so it gets the text.
      structuredContent: { ...facts, files, output: isExact(value) ? value : output },
    };
  }
  const size = String(headers['content-length'] ?? 'Many');
  const result = structuredResult({ ...facts, output: `${size} bytes of ${mediaType}, at response_url` });
  if (bytes !== undefined && (kind === 'image' || kind === 'audio'))
    result.content.push({ type: kind, data: bytes.toString('base64'), mimeType: mediaType });
  else if (typeof run['response_url'] === 'string')
    result.content.push(linkTo(run['response_url'], mediaType));
  return result;
}

const maxFiles = 20;
const mediaTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  svg: 'image/svg+xml',
  avif: 'image/avif',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  glb: 'model/gltf-binary',
  gltf: 'model/gltf+json',
  obj: 'model/obj',
  usdz: 'model/vnd.usdz+zip',
  zip: 'application/zip',
};

/** The media files that a JSON output has URLs of, each once. */
function filesIn(json: string): { url: string; media_type: string }[] {
  const found = new Map<string, string>();
  for (const [, text = ''] of json.matchAll(/"(https?:[^"\\\s]+)"/g)) {
    if (!URL.canParse(text)) continue;
    const [, extension = ''] = /\.([a-z0-9]+)$/i.exec(new URL(text).pathname) ?? [];
    const mediaType = mediaTypes[extension.toLowerCase()];
    if (mediaType !== undefined) found.set(text, mediaType);
    if (found.size === maxFiles) break;
  }
  return [...found].map(([url, media_type]) => ({ url, media_type }));
}

const withShortStrings = (json: Buffer): Buffer =>
  replaceStrings(
    json,
    longStringsOf(json, maxStringLength).map((place) => ({
      ...place,
      text: shortText(stringAt(json, place), maxStringLength),
    })),
  );

const shortText = (text: string, maxLength: number): string =>
  text.length <= maxLength
    ? text
    : `${cut(text, 100)}… (${text.length} characters; the full text is at response_url)`;
