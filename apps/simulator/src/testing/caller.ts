import { createClock } from '../clock.js';
import { startSimulator } from '../simulator.js';

/** A reply with its body as text and, if it is JSON, as an object. */
interface Answer {
  status: number;
  headers: Headers;
  text: string;
  json: Record<string, unknown>;
}

const boundMs = 30_000;

/** An HTTP call with a time limit. */
export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(boundMs), ...init });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function post(url: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  return call(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export type Caller = Awaited<ReturnType<typeof startWithCaller>>;

/** A simulator on free ports with a clock that moves only on request, and the calls that specs make. */
export async function startWithCaller(options: { ledgerFile?: string; defaultMs?: number } = {}) {
  const startedMs = Date.now();
  const clock = createClock(() => startedMs);
  const simulator = await startSimulator({ apiPort: 0, assetPort: 0, defaultMs: 600, clock, ...options });
  return {
    simulator,
    admin: (path: string, body?: unknown) =>
      body === undefined ? call(`${simulator.api}${path}`) : post(`${simulator.api}${path}`, body, {}),
    advance: (advanceMs: number) => post(`${simulator.api}/clock`, { advanceMs }, {}),
    bfl: (body: unknown) => post(`${simulator.api}/bfl/v1/flux-2-pro`, body, { 'x-key': 'k' }),
    fal: (body: unknown) =>
      post(`${simulator.api}/fal/fal-ai/flux/dev`, body, { authorization: 'Key id:secret' }),
    falCall: (url: unknown, method = 'GET') =>
      call(String(url), { method, headers: { authorization: 'Key id:secret' } }),
    async entries(query = ''): Promise<Record<string, unknown>[]> {
      const { json } = await call(`${simulator.api}/ledger${query}`);
      return json['entries'] as Record<string, unknown>[];
    },
  };
}
