import { waitFor } from '../../harness/index.js';
import type { Ready } from '../local/launched.js';
import { addHistory } from './history.js';

/** Runs of a workspace that looks as if it had been in use for weeks: runs in all states, keys, files, webhooks. */
export interface Filled {
  succeeded: string;
  failed: string;
  running: string;
  /** The token of the link to the succeeded run. */
  shareToken: string;
}

/** Models that run with the example input from their own document. */
const examples = [
  'bfl/flux-2-pro',
  'openai/gpt-image-2',
  'bfl/flux-kontext-pro',
  'fal/flux-dev',
  'ideogram/ideogram-v4',
  'recraft/recraft-v4-vector',
  'fal/veo-3.1-fast',
  'elevenlabs/eleven_v3',
  'anthropic/claude-haiku-4-5-20251001',
  'meshy/meshy-6',
];

const prompts = [
  'A lighthouse on a cliff at dusk, long exposure',
  'A bowl of persimmons on a linen cloth, window light',
  'An orange tram in the rain, reflections on the cobbles',
];

export async function fill(
  ready: Ready,
  receiver: { url: string },
  { historicRuns = 4_000 } = {},
): Promise<Filled> {
  const call = calling(ready);
  const { id: workspaceId, credential } = await call<{ id: string; credential: { key_id: string } }>(
    'GET',
    '/v2/workspace',
  );
  const keys = [];
  for (const [name, scopes] of [
    ['web app', ['catalog', 'run']],
    ['nightly batch', ['catalog', 'run', 'requests', 'usage']],
    ['old laptop', ['catalog', 'run']],
    // Long enough to break a table that doesn't truncate names.
    ['x'.repeat(100), ['catalog', 'run']],
  ] as const) {
    keys.push(await call<{ id: string; key: string }>('POST', '/v2/keys', { name, scopes }));
  }
  const [webApp, batch, old] = keys;
  if (!webApp || !batch || !old) throw new Error('a key is missing');
  await call('DELETE', `/v2/keys/${old.id}`);
  await addHistory(ready.database_url, {
    workspaceId,
    keyIds: [webApp.id, batch.id, credential.key_id],
    runs: historicRuns,
    days: 45,
  });

  await call('POST', `/v2/keys/${batch.id}/rotate?keep_hours=168`);

  const month = { window: 'month', time_zone: 'Europe/Berlin' };
  await call('PUT', '/v2/budgets/web-app', { ...month, scope: 'key', value: webApp.id, limit_cents: 50_000 });
  await call('PUT', '/v2/budgets/team-monthly', { ...month, limit_cents: 100_000 });
  await call('PUT', '/v2/budgets/daily-alert', { window: 'day', limit_cents: 3_000, kind: 'soft' });
  await call('PUT', '/v2/budgets/per-user', { ...month, scope: 'user', limit_cents: 500, kind: 'soft' });

  const asWebApp = calling({ ...ready, api_key: webApp.key });
  const submit = (model: string, input: object, query = '') =>
    asWebApp<Submitted>('POST', `/v2/models/${model}/requests${query}`, input);
  const ended: Submitted[] = [];
  for (const model of examples) ended.push(await submit(model, await exampleOf(call, model)));
  for (const path of ['delivered', 'broken']) {
    ended.push(
      await submit('bfl/flux-2-pro', { prompt: prompts[1] }, `?webhook_url=${receiver.url}/${path}`),
    );
  }
  const failed = await submit('bfl/flux-2-pro', { prompt: `${prompts[2]} [[sim:policy_output]]` });
  const broken = await submit('fal/flux-dev', { prompt: `${prompts[2]} [[sim:job_failed]]` });
  const succeeded = await submit(
    'bfl/flux-2-pro',
    { prompt: prompts[0], width: 1024, height: 1024, seed: 42 },
    `?webhook_url=${receiver.url}/delivered`,
  );
  for (const each of [...ended, failed, broken, succeeded]) await completed(call, each.status_url);
  const output = await call<{ result: { sample: string } }>('GET', succeeded.response_url);
  const image = await (await fetch(output.result.sample)).arrayBuffer();
  for (const body of [image, 'A note of what to draw next.']) {
    const type = typeof body === 'string' ? 'text/plain' : 'image/png';
    const headers = { 'X-API-Key': ready.api_key, 'Content-Type': type };
    const reply = await fetch(`${ready.base_url}/v2/files`, { method: 'POST', headers, body });
    if (reply.status !== 201) throw new Error(`POST /v2/files answered ${reply.status}`);
  }
  const running = await submit('luma/ray-2', { ...(await exampleOf(call, 'luma/ray-2')), prompt: long });
  for (let at = 0; at < 6; at += 1) await submit('bfl/flux-2-pro', { prompt: long });
  const { token } = await call<{ token: string }>('PUT', `/v2/requests/${succeeded.request_id}/share`);
  return {
    shareToken: token,
    succeeded: succeeded.request_id,
    failed: failed.request_id,
    running: running.request_id,
  };
}

const long = 'A slow pan over a harbour at night [[sim:takes=530000]]';

type Call = <T>(method: string, path: string, body?: object) => Promise<T>;

export function calling({ base_url, api_key }: Pick<Ready, 'base_url' | 'api_key'>): Call {
  return async <T>(method: string, path: string, body?: object) => {
    const reply = await fetch(new URL(path, base_url), {
      method,
      headers: { 'X-API-Key': api_key, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
}

async function exampleOf(call: Call, model: string): Promise<Record<string, unknown>> {
  const document = await call<ModelDocument>('GET', `/v2/models/${model}/openapi.json`);
  const content = document.paths[`/v2/models/${model}`]?.post.requestBody.content['application/json'];
  const example = content?.example ?? Object.values(content?.examples ?? {})[0]?.value;
  if (!example) throw new Error(`${model} has no example`);
  return example;
}

interface Submitted {
  request_id: string;
  status_url: string;
  response_url: string;
}

interface ModelDocument {
  paths: Record<
    string,
    {
      post: {
        requestBody: {
          content: Record<
            string,
            {
              example?: Record<string, unknown>;
              examples?: Record<string, { value: Record<string, unknown> }>;
            }
          >;
        };
      };
    }
  >;
}

async function completed(call: Call, statusUrl: string): Promise<void> {
  await waitFor(async () => (await call<{ status: string }>('GET', statusUrl)).status === 'COMPLETED', {
    withinMs: 120_000,
    what: statusUrl,
    everyMs: 200,
  });
}
