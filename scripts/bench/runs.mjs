// The cost of a gateway, compared with the floor that every router needs.
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { v7 } from 'uuid';
import { AdmissionRepository, Database } from '../../dist/libs/persistence/src/index.js';
import { against, answeredInRound, atMost, perSecond, share } from './load.mjs';
import { metered } from './meter.mjs';
import { residentBytes, startScript, startService, until } from './service.mjs';
import { sizeOf } from './size.mjs';

const once = 'openai/gpt-image-2';
const polled = 'bfl/flux-2-pro';
const onceBody = '{"model":"gpt-image-2","prompt":"a cat"}';
const heldCalls = sizeOf('HELD_CALLS');

export async function* run() {
  const service = await startService();
  try {
    const gateway = await service.start('gateway');
    yield* routes(service, gateway);
    yield await memory(service);
    await service.empty();
    yield await hotWorkspace(service);
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

const headersOf = ({ key }) => ({ 'x-api-key': key, 'content-type': 'application/json' });

async function* routes(service, gateway) {
  const headers = headersOf(service);
  const post = (path, body) =>
    fetch(`${gateway.url}${path}`, { method: 'POST', headers, body }).then((answer) => answer.json());

  // A run that stays dispatched.
  await service.provider.settings({ takesMs: 3_600_000 });
  const worker = await service.start('worker');
  const { request_id: id } = await post(`/v2/models/${polled}/requests`, '{"prompt":"a cat"}');
  await until(async () => {
    const { rows } = await service.client.query('SELECT stage FROM run WHERE id = $1', [id]);
    return rows[0].stage === 'running';
  }, 'a running run');
  await worker.stop();
  const reading = await startScript('bare-runs.mjs', { databaseUrl: service.env.DATABASE_URL });
  yield share(
    'status of a dispatched run against bare Fastify with one read of one row',
    await against(
      () => perSecond(reading.url, { path: '/status' }),
      () => perSecond(gateway.url, { path: `/v2/models/${polled}/requests/${id}/status`, headers }),
    ),
    0.75,
  );

  await reading.stop();

  for (const path of ['/v2/models', `/v2/models/${polled}`, `/v2/models/${polled}/openapi.json`]) {
    const answer = await fetch(`${gateway.url}${path}`, { headers });
    const etag = answer.headers.get('etag');
    const settings = { bytes: await answer.text() };
    const floor = await startScript('bare-runs.mjs', settings);
    const nest = await startScript('bare-nest.mjs', settings);
    const compare = async function* (what, floorPath, ours, status) {
      const terms = { status, awake: true };
      // The floor gets the very same headers, because reading them is part of its work too.
      const answered = (url, path) => () => perSecond(url, { path, headers: ours.headers }, terms);
      const floorAnswers = answered(floor.url, floorPath);
      const result = await against(floorAnswers, answered(gateway.url, ours.path));
      // The caller has a core of its own, and limits any server that is faster than itself. CPU time has no such
      // limit.
      const costs = [];
      for (const [name, app, path] of [
        ['ours', gateway, ours.path],
        ['bare Fastify', floor, floorPath],
        ['Nest alone', nest, floorPath],
      ])
        costs.push(
          `${name} ${(await cpuMicros(service, app, { path, headers: ours.headers }, terms)).toFixed(0)} µs`,
        );
      yield {
        ...share(`${what} against bare Fastify with the same bytes`, result, 0.8),
        more: [`CPU of an answer: ${costs.join(', ')}`],
      };
      const nestAlone = await against(floorAnswers, answered(nest.url, floorPath));
      yield share(`the same with Nest alone and one guard`, nestAlone, 0);
    };
    yield* compare(`GET ${path}`, '/bytes', { path, headers }, 200);
    if (etag !== null) {
      const known = { path, headers: { ...headers, 'if-none-match': etag } };
      yield* compare('its 304', '/unchanged', known, 304);
    }
    await Promise.all([floor.stop(), nest.stop()]);
  }
}

async function cpuMicros(service, app, request, terms) {
  const work = () => answeredInRound(app.url, request, terms);
  const { totalMs } = await metered(service, { app: app.pid }, work, { restMs: 0 });
  return totalMs * 1000;
}

/** No worker runs, so every call is held until its caller leaves. */
async function memory(service) {
  const gateway = await service.start('gateway', { MAX_CONNECTIONS: String(2 * heldCalls + 1000) });
  const { port } = new URL(gateway.url);
  const lines = [
    `POST /v2/models/${once} HTTP/1.1`,
    'host: bench',
    `x-api-key: ${service.key}`,
    'content-type: application/json',
    `content-length: ${onceBody.length}`,
  ];
  const request = `${lines.join('\r\n')}\r\n\r\n${onceBody}`;
  const sockets = [];
  let refused;
  // Wait for each batch to be admitted, because the gateway rejects what it cannot take.
  const untilAdmitted = (wanted) =>
    until(async () => {
      if (refused !== undefined) throw new Error(`a call is not held: ${refused}`);
      return (await admitted(service)) >= wanted;
    }, 'the admission of held calls');
  const hold = async (count) => {
    const before = await admitted(service);
    for (let each = 1; each <= count; each += 1) {
      const socket = connect(port, '127.0.0.1', () => socket.write(request));
      socket
        .on('error', () => {})
        .on('data', (answer) => (refused ??= String(answer).slice(0, 300)))
        .on('close', () => (refused ??= 'its connection was closed'));
      sockets.push(socket);
      if (each % 50 === 0) await untilAdmitted(before + each);
    }
    // Wait until the memory of the admissions has been collected.
    await pause(5000);
  };
  await hold(100);
  const idle = residentBytes(gateway.pid);
  await hold(heldCalls);
  const each = (residentBytes(gateway.pid) - idle) / heldCalls / 1024;
  for (const socket of sockets) socket.destroy();
  return atMost(`memory of a gateway for each of ${heldCalls} held calls`, each, 40, 'KiB', 1);
}

async function admitted({ client }) {
  const { rows } = await client.query('SELECT count(*)::integer AS runs FROM run');
  return rows[0].runs;
}

/** Admissions into one workspace: in batches as a gateway makes them, and one call each. */
async function hotWorkspace({ env, workspaceId }) {
  const database = Database.create({
    DATABASE_URL: env.DATABASE_URL,
    DATABASE_POOL: 8,
    DATABASE_READ_POOL: 1,
    DATABASE_REGISTRY_POOL: 2,
    DATABASE_ACQUIRE_MS: 60_000,
    DATABASE_STATEMENT_MS: 60_000,
  });
  const body = Buffer.from(onceBody);
  const facts = { upstream: {}, assets: [], chargesOnPolicyRejection: 'unknown', budgetMs: 300_000 };
  const call = { requestId: v7(), route: 'bench', origin: 'http://bench' };
  const rate = async (admit) => {
    const untilMs = performance.now() + 3000;
    let done = 0;
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        while (performance.now() < untilMs) {
          await admit({
            runId: v7(),
            workspaceId,
            model: once,
            provider: 'openai',
            mode: 'queued',
            facts,
            reservedMicros: 1000,
            computedMicros: 1000,
            credential: 'bench',
            call,
            body,
          });
          done += 1;
        }
      }),
    );
    return done / 3;
  };
  const together = new AdmissionRepository(database);
  const result = await against(
    () => rate((admission) => new AdmissionRepository(database).admitRun(admission)),
    () => rate((admission) => together.admitRun(admission)),
  );
  await database.close();
  return share(
    'admissions into one workspace, 200 at once, against one call of the database each',
    result,
    5,
  );
}
