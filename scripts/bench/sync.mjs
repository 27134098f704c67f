// The time that a synchronous call adds to its provider's own, and its cost, compared with a stateless gateway.
import { atMost, durations, inTurns, quantile } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { startPeer } from './peer.mjs';
import { startService } from './service.mjs';
import { sizeOf } from './size.mjs';

const model = 'openai/gpt-image-2';
const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a cat '.repeat(160) });
/**
 * Milliseconds added at the median and at p99, by number of concurrent calls, with a provider that takes 100 ms.
 */
const aims = { 16: [11, 40], 64: [40, 110] };
const warmMs = sizeOf('WARM_MS');

export async function* run() {
  const service = await startService();
  const peer = await startPeer(service.provider.url, body);
  try {
    const apps = { gateway: await service.start('gateway'), worker: await service.start('worker') };
    const headers = { 'x-api-key': service.key, 'content-type': 'application/json' };
    const call = { method: 'POST', headers, body };
    const kinds = {
      direct: [service.provider.url, { ...call, path: '/openai/images/generations' }],
      ours: [apps.gateway.url, { ...call, path: `/v2/models/${model}` }],
      ...(peer && { peer: [peer.url, peer.request] }),
    };
    await service.provider.settings({ takesMs: 0 });
    for (const [url, request] of Object.values(kinds)) await durations(url, request, {});
    for (const takesMs of [100, 0]) {
      await service.provider.settings({ takesMs });
      for (const concurrency of [16, 1, 64]) {
        yield* added(service, kinds, { takesMs, concurrency });
      }
    }
    const { ours, peer: itsCall } = kinds;
    yield* costs(service, {
      ours: { call: ours, pids: await processesOf(service, apps) },
      ...(peer && { peer: { call: itsCall, pids: { peer: peer.pid } } }),
    });
    await service.holdToInvariants();
  } finally {
    await peer?.stop();
    await service.stop();
  }
}

async function* added(service, kinds, { takesMs, concurrency }) {
  const measure = ([url, request]) => durations(url, request, { concurrency, warmMs });
  const rounds = await inTurns(kinds, measure, service.empty);
  const [p50, p99] = (takesMs === 100 && aims[concurrency]) || [Infinity, Infinity];
  for (const [name, part, aim] of [
    ['p50', 0.5, p50],
    ['p99', 0.99, p99],
  ]) {
    yield besidePeer(
      `added by a synchronous call, provider of ${takesMs} ms, ${concurrency} at once, ${name}`,
      rounds,
      (round, kind) => quantile(round[kind], part) - quantile(round.direct, part),
      aim,
      1,
    );
  }
}

async function* costs(service, kinds) {
  for (const [takesMs, aim] of [
    [100, 5],
    [0, 2.5],
  ]) {
    await service.provider.settings({ takesMs });
    const measure = ({ call: [url, request], pids }) =>
      metered(service, pids, async () => (await durations(url, request, {})).length);
    const rounds = await inTurns(kinds, measure, service.empty);
    const what = `CPU of a synchronous call, provider of ${takesMs} ms, 16 at once, all processes`;
    yield {
      ...besidePeer(what, rounds, (round, kind) => round[kind].totalMs, aim, 2),
      more: [costText(rounds.at(-1).ours)],
    };
    if (takesMs > 0) continue;
    const costs = rounds.map(({ ours }) => ours);
    yield atMost(
      'commits of a run that ends at submission',
      costs.map(({ commits }) => commits),
      3.2,
      '',
      2,
    );
    yield atMost(
      'its write-ahead log, with 1 KiB of input',
      costs.map(({ walBytes }) => walBytes / 1024),
      4,
      'KiB',
      2,
    );
  }
}

/** A figure of each round, in milliseconds, and the same figure of the peer. */
function besidePeer(what, rounds, figureOf, aim, digits) {
  const figures = (kind) =>
    atMost(
      what,
      rounds.map((round) => figureOf(round, kind)),
      aim,
      'ms',
      digits,
    );
  const result = figures('ours');
  if (rounds[0].peer === undefined) return result;
  return { ...result, measured: `${result.measured}; the peer ${figures('peer').measured}` };
}
