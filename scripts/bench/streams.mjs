// The time that the service adds to the first byte of an event stream and between its events, beside the provider alone.
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { atMost, inTurns, quantile } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { startService } from './service.mjs';
import { sizeOf } from './size.mjs';

const body = JSON.stringify({ input: 'a cat '.repeat(160), max_output_tokens: 100, stream: true });
/** Milliseconds added to the first byte at the median, with 16 streams at once. */
const firstByteMs = 12;
const roundMs = sizeOf('ROUND_MS');

export async function* run() {
  const most = sizeOf('STREAMS');
  const service = await startService();
  try {
    // One workspace gets three quarters of a worker's slots.
    const slots = { WORKER_DISPATCH_CONCURRENCY: String(Math.ceil((most * 4) / 3) + 10) };
    const apps = { gateway: await service.start('gateway'), worker: await service.start('worker', slots) };
    const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
    const call = { method: 'POST', headers, body };
    const kinds = {
      direct: [service.provider.url, { ...call, path: '/openai/responses' }],
      ours: [apps.gateway.url, { ...call, path: '/v2/models/openai/gpt-5.5' }],
    };
    await service.provider.settings({ takesMs: 100 });
    for (const [url, request] of Object.values(kinds)) await streamed(url, request, 4);
    const pids = await processesOf(service, apps);
    for (const [atOnce, aim] of [
      [16, firstByteMs],
      [most, Infinity],
    ]) {
      let costs;
      const measure = async ([url, request], kind) => {
        if (kind === 'direct') return streamed(url, request, atOnce);
        let found;
        costs = await metered(service, pids, async () => {
          found = await streamed(url, request, atOnce);
          return found.first.length;
        });
        return found;
      };
      const rounds = await inTurns(kinds, measure, service.empty);
      const added = (part, share) =>
        rounds.map(({ ours, direct }) => quantile(ours[part], share) - quantile(direct[part], share));
      const where = `${atOnce} event streams at once`;
      yield atMost(`added to the first byte, ${where}, p50`, added('first', 0.5), aim, 'ms', 1);
      yield atMost(`added to the first byte, ${where}, p99`, added('first', 0.99), Infinity, 'ms', 1);
      yield atMost(
        `gap between two events, ${where}, p50, beyond the provider’s`,
        added('gaps', 0.5),
        Infinity,
        'ms',
        1,
      );
      yield {
        ...atMost(`the same, p99`, added('gaps', 0.99), Infinity, 'ms', 1),
        more: [costText(costs)],
      };
    }
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

const ascending = (values) => values.toSorted((a, b) => a - b);

/** The streams of a round begin one after the other within this time. */
const spreadMs = 1000;

/**
 * Keeps `atOnce` streams open for a round, each followed by the next. Milliseconds to the first byte of each and
 * between all chunks, each sorted.
 */
async function streamed(origin, request, atOnce) {
  const pool = new Pool(origin, { connections: atOnce });
  const first = [];
  const gaps = [];
  const untilMs = performance.now() + roundMs;
  const lane = async (nth) => {
    await pause((nth * Math.min(spreadMs, roundMs)) / atOnce);
    do {
      let lastMs = performance.now();
      const answer = await pool.request(request);
      let text = '';
      for await (const chunk of answer.body) {
        const nowMs = performance.now();
        (text === '' ? first : gaps).push(nowMs - lastMs);
        lastMs = nowMs;
        text += chunk;
      }
      if (!text.includes('response.completed'))
        throw new Error(`${request.path} answers ${answer.statusCode}: ${text.slice(-200)}`);
    } while (performance.now() < untilMs);
  };
  await Promise.all(Array.from({ length: atOnce }, (_, nth) => lane(nth)));
  await pool.close();
  return { first: ascending(first), gaps: ascending(gaps) };
}
