import { atOrigin, type Catalog, type Model, quote } from '#catalog';
import { requestDetailView } from '#persistence';
import { centsFromMicros } from '#schemas';
import { setTimeout as pause } from 'node:timers/promises';
import type { Desk } from '../answer.js';
import type { Services } from '../open-database.js';

/** The key is revoked after the run; it expires by itself if this command dies before. */
const keyMs = 60 * 60 * 1000;
const callMs = 30_000;
const pollMs = 500;
/** A run may wait before its time budget begins. */
const waitMs = 60_000;

/** A run that was made to check a provider. */
export interface CheckRun {
  request_id: string;
  model: string;
  status: 'succeeded' | 'failed' | 'unfinished';
  error_type?: string;
  cost_cents?: number;
  seconds: number;
}

interface RunOptions {
  workspace?: string;
  url?: string;
}

/**
 * Makes one run of the provider's cheapest model with the example of its row, by the same route as any caller, once the
 * operator has agreed to the cost. Its key belongs to the workspace that is billed, and is revoked afterwards.
 */
export async function cheapestRun(
  services: Services,
  catalog: Catalog,
  provider: string,
  { workspace: nameOrId = '', url }: RunOptions,
  desk: Desk,
): Promise<CheckRun> {
  const base = url ?? desk.env['PUBLIC_BASE_URL'];
  if (!base) throw new Error('Name the address of the gateways with --url or PUBLIC_BASE_URL.');
  const found = cheapestModel(catalog, provider);
  if (found === undefined) throw new Error(`The catalog has no model of ${provider} with an example.`);
  const { model, upperMicros } = found;
  const workspace = await services.workspaces.find(nameOrId);
  const cents = centsFromMicros(Math.ceil(upperMicros * workspace.markup));
  await desk.confirm(`This runs ${model.id} for at most ${cents} cents, billed to ${workspace.name}.`);
  desk.takesLong();
  const { keys, actor } = services;
  const { key, row } = await keys.create(
    workspace.id,
    { name: `check of ${provider}`, scopes: ['run'], expiresAt: new Date(Date.now() + keyMs) },
    { actor },
  );
  try {
    const begunMs = performance.now();
    const requestId = await submit(new URL(base), model, provider, key);
    const ending = await endOf(services, workspace.id, requestId, model.budgetMs + waitMs);
    const seconds = Math.round((performance.now() - begunMs) / 100) / 10;
    return { request_id: requestId, model: model.id, ...ending, seconds };
  } finally {
    await keys.revoke(row.id, actor);
  }
}

/** The model whose example reserves the least. */
function cheapestModel(
  { models }: Catalog,
  provider: string,
): { model: Model; upperMicros: number } | undefined {
  return models
    .filter((model) => model.provider === provider && model.example !== undefined)
    .map((model) => ({ model, upperMicros: quote(model, model.example).upperMicros }))
    .toSorted((one, other) => one.upperMicros - other.upperMicros)[0];
}

async function submit(base: URL, model: Model, provider: string, key: string): Promise<string> {
  const path = `v2/models/${model.id}/requests?model_provider=${encodeURIComponent(provider)}`;
  const response = await fetch(new URL(path, base.href.endsWith('/') ? base : `${base.href}/`), {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(atOrigin(model.example, base.href)),
    redirect: 'error',
    signal: AbortSignal.timeout(callMs),
  });
  const body = (await response.json().catch(() => ({}))) as { request_id?: unknown; detail?: unknown };
  if (typeof body.request_id === 'string') return body.request_id;
  throw new Error(
    `The gateway rejected the run with HTTP ${response.status}: ${JSON.stringify(body.detail ?? null)}`,
  );
}

async function endOf(
  services: Services,
  workspaceId: string,
  requestId: string,
  maxMs: number,
): Promise<Pick<CheckRun, 'status' | 'error_type' | 'cost_cents'>> {
  const untilMs = performance.now() + maxMs;
  while (performance.now() < untilMs) {
    await pause(pollMs);
    const found = await services.requests.find(workspaceId, requestId);
    if (!found) continue;
    const { status, error_type: type, cost_cents: cost } = requestDetailView(found);
    if (status !== 'COMPLETED') continue;
    return {
      status: type === undefined ? 'succeeded' : 'failed',
      ...(type !== undefined && { error_type: type }),
      ...(typeof cost === 'number' && { cost_cents: cost }),
    };
  }
  return { status: 'unfinished' };
}
