// What a synchronous call adds to its provider's own time, and what it costs, beside a stateless gateway of the field.
import { durations, quantile } from './load.mjs';
import { costText, metered, processesOf } from './meter.mjs';
import { startPeer } from './peer.mjs';
import { hasRedis, startService } from './service.mjs';

const model = 'openai/gpt-image-2';
const body = JSON.stringify({ model: 'gpt-image-2', prompt: 'a cat '.repeat(160) });
const rounds = 3;

export async function* run() {
  const service = await startService({ transport: hasRedis() ? 'redis' : 'postgres' });
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
    for (const [url, request] of Object.values(kinds)) await durations(url, request, { count: 400 });
    for (const takesMs of [100, 0]) {
      await service.provider.settings({ takesMs });
      for (const concurrency of [16, 1, 64]) {
        const count = concurrency === 1 ? 50 : 300;
        yield* added(kinds, { takesMs, concurrency, count });
      }
    }
    yield* costs(service, apps, kinds.ours);
    if (peer) {
      const cost = await metered(service, { peer: peer.pid }, () => counted(kinds.peer));
      yield note('CPU of the same call through the peer', `${cost.totalMs.toFixed(2)} ms`);
    }
    await service.holdToInvariants();
  } finally {
    await peer?.stop();
    await service.stop();
  }
}

async function* added(kinds, { takesMs, concurrency, count }) {
  const found = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
  const medians = [];
  for (let round = 0; round < rounds; round += 1) {
    const median = {};
    for (const [name, [url, request]] of Object.entries(kinds)) {
      const times = await durations(url, request, { concurrency, count });
      median[name] = quantile(times, 0.5);
      found[name].push(...times);
    }
    medians.push(median.ours - median.direct);
  }
  for (const each of Object.values(found)) each.sort((a, b) => a - b);
  const isMain = takesMs === 100 && concurrency === 16;
  for (const [name, part, aim] of [
    ['p50', 0.5, 15],
    ['p99', 0.99, 45],
  ]) {
    const beyond = (kind) => quantile(found[kind], part) - quantile(found.direct, part);
    const ms = beyond('ours');
    const peer = found.peer ? `; the peer ${beyond('peer').toFixed(1)} ms` : '';
    const spread = name === 'p50' ? ` (rounds ${medians.map((each) => each.toFixed(1)).join(', ')})` : '';
    yield {
      what: `added by a synchronous call, provider of ${takesMs} ms, ${concurrency} at once, ${name}`,
      measured: `${ms.toFixed(1)} ms${spread}${peer}`,
      aim: isMain ? `≤ ${aim} ms` : '',
      reached: !isMain || ms <= aim,
    };
  }
}

async function* costs(service, apps, ours) {
  const pids = await processesOf(service, apps);
  const cost = await metered(service, pids, () => counted(ours));
  for (const [what, value, aim, unit] of [
    ['CPU of a synchronous call, all processes', cost.totalMs, 5, 'ms'],
    ['commits of a run that ends at submission', cost.commits, 3.2, ''],
    ['its write-ahead log, with 1 KiB of input', cost.walBytes / 1024, 4, 'KiB'],
  ])
    yield {
      what,
      measured: `${value.toFixed(2)} ${unit}`.trim(),
      aim: `≤ ${aim} ${unit}`.trim(),
      reached: value <= aim,
      ...(unit === 'ms' && { more: [costText(cost)] }),
    };
}

async function counted([url, request]) {
  const count = 1000;
  return (await durations(url, request, { count })).length;
}

const note = (what, measured) => ({ what, measured, aim: '', reached: true });
