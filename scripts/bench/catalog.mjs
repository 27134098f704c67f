// Many generated rows (1,500 by default) beside the built-in ones cost something: the start of a gateway and a worker, their
// memory, the catalog's routes, and a reload while the gateway answers. CPU time is compared, because other
// processes of the machine hardly change it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from '../../dist/test/harness/running.js';
import { idOf, writeGeneratedRows } from './generated-rows.mjs';
import { atMost, durations, middleOf, quantile } from './load.mjs';
import { treeMs } from './meter.mjs';
import { residentBytes, startService, until } from './service.mjs';
import { sizeOf } from './size.mjs';

const howMany = sizeOf('ROWS');
const starts = sizeOf('ROUNDS');
const requests = sizeOf('REQUESTS');
const paths = {
  list: '/v2/models?limit=100',
  'full list': '/v2/models?limit=100&view=full',
  search: '/v2/models?view=full&q=',
  detail: '/v2/models/bfl/flux-2-pro',
};

export async function* run() {
  const service = await startService({ transport: 'postgres' });
  const few = temporaryFolder('no-rows');
  const many = temporaryFolder('rows');
  writeGeneratedRows(many, howMany);
  try {
    const found = {};
    // In turns, so that both see the same moments of the machine.
    for (let round = 0; round < starts; round += 1) {
      for (const [kind, directory] of Object.entries({ few, many })) {
        for (const app of ['gateway', 'worker']) {
          const { cpu, wall, megabytes } = await oneStart(service, app, directory);
          const figures = (found[`${app} ${kind}`] ??= { cpu: [], wall: [], megabytes: [] });
          figures.cpu.push(cpu);
          figures.wall.push(wall);
          figures.megabytes.push(megabytes);
        }
      }
    }
    for (const app of ['gateway', 'worker']) {
      yield more(`start of a ${app}, CPU`, found, app, 'cpu', 0.3, 's', 2);
      yield more(`start of a ${app}, wall time`, found, app, 'wall', Infinity, 's', 2);
      yield more(`memory of a ${app}`, found, app, 'megabytes', 60, 'MB', 0);
    }
    yield* routes(service, { few, many });
    yield* reload(service, many);
  } finally {
    await service.stop();
  }
}

async function oneStart(service, name, directory) {
  const startedMs = performance.now();
  const app = await service.start(name, { CATALOG_DIR: directory }, { rests: false });
  const wall = (performance.now() - startedMs) / 1000;
  const cpu = cpuSeconds(app.pid);
  await idle(app.pid);
  const megabytes = residentBytes(app.pid) / 1e6;
  await app.stop();
  return { cpu, wall, megabytes };
}

/** How much more an app with many rows takes than one with few. */
function more(what, found, app, unit, aim, name, digits) {
  const [few, many] = ['few', 'many'].map((kind) => middleOf(found[`${app} ${kind}`][unit]));
  return {
    ...atMost(`${what}, ${howMany} more rows`, [many - few], aim, name, digits),
    measured: `${(many - few).toFixed(digits)} ${name} more (${few.toFixed(digits)} to ${many.toFixed(digits)})`,
  };
}

/** CPU time of a request, in milliseconds. The words of a search differ, because a page is kept for a second. */
async function* routes(service, directories) {
  const costs = {};
  for (const [kind, directory] of Object.entries(directories)) {
    const gateway = await service.start('gateway', { CATALOG_DIR: directory }, { rests: false });
    await idle(gateway.pid);
    const headers = { 'x-api-key': service.key };
    for (const [what, at] of Object.entries(paths)) {
      let nth = 0;
      const send = async () => {
        nth += 1;
        const words = `flux%20${nth % 7 ? 'image' : 'pro'}${'%20'.repeat(nth % 50)}`;
        const answer = await fetch(`${gateway.url}${at}${what === 'search' ? words : ''}`, { headers });
        await answer.arrayBuffer();
        if (answer.status !== 200) throw new Error(`${at} answers ${answer.status}`);
      };
      for (let warm = 0; warm < requests; warm += 1) await send();
      const before = cpuSeconds(gateway.pid);
      for (let each = 0; each < requests; each += 1) await send();
      (costs[what] ??= {})[kind] = ((cpuSeconds(gateway.pid) - before) * 1000) / requests;
    }
    await gateway.stop();
  }
  for (const [what, { few, many }] of Object.entries(costs)) {
    yield {
      ...atMost(`CPU of a ${what} with ${howMany} more rows`, [many / few], 1.5, 'times', 2),
      measured: `${many.toFixed(2)} ms, ${few.toFixed(2)} ms without`,
    };
  }
}

/** The longest answer of a cheap route while the catalog is read again, and what a first use of a schema takes. */
async function* reload(service, directory) {
  const gateway = await service.start('gateway', { CATALOG_DIR: directory }, { rests: false });
  await idle(gateway.pid);
  const headers = { 'x-api-key': service.key };
  const first = [];
  const startedBytes = residentBytes(gateway.pid);
  for (let nth = 0; nth < howMany; nth += 1) {
    const startedMs = performance.now();
    const answer = await fetch(`${gateway.url}/v2/models/fal/${idOf(nth)}/openapi.json`, { headers });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`a document answers ${answer.status}`);
    first.push(performance.now() - startedMs);
  }
  yield atMost('first document of a generated row', first, 50, 'ms', 1);
  const grown = (residentBytes(gateway.pid) - startedBytes) / 1e6;
  yield atMost('memory that the first documents of all rows add', [grown], Infinity, 'MB', 0);
  const revision = async () =>
    (
      await service.client.query(
        "SELECT catalog_revision AS revision FROM process WHERE app = 'gateway' ORDER BY started_at DESC LIMIT 1",
      )
    ).rows[0].revision;
  const before = await revision();
  const cpuBefore = cpuSeconds(gateway.pid);
  const startedMs = performance.now();
  const file = path.join(directory, `${idOf(1)}.yaml`);
  writeFileSync(file, readFileSync(file, 'utf8').replace('Constructed 1', 'Constructed one'));
  const waits = [];
  const reloading = new AbortController();
  const probing = (async () => {
    while (!reloading.signal.aborted) {
      const [longest] = (
        await durations(gateway.url, { path: paths.detail, headers }, { concurrency: 1, count: 5 })
      ).toReversed();
      waits.push(longest);
    }
  })();
  await until(async () => (await revision()) !== before, 'the reload');
  const seconds = (performance.now() - startedMs) / 1000;
  reloading.abort();
  await probing;
  yield atMost('reload of all rows, until it is in use', [seconds], Infinity, 's', 2);
  yield atMost(
    'reload of all rows, CPU with the requests beside it',
    [cpuSeconds(gateway.pid) - cpuBefore],
    Infinity,
    's',
    2,
  );
  yield atMost('longest answer during the reload', [Math.max(...waits)], 100, 'ms', 0);
  yield atMost(
    'answer during the reload, median of the longest of five',
    [
      quantile(
        waits.sort((a, b) => a - b),
        0.5,
      ),
    ],
    Infinity,
    'ms',
    1,
  );
  rmSync(directory, { recursive: true, force: true });
}

/** CPU time of a process so far, in seconds of user and system time. */
const cpuSeconds = (pid) => treeMs(pid) / 1000;

async function idle(pid) {
  let before = cpuSeconds(pid);
  for (let tries = 0; tries < 60; tries += 1) {
    await pause(500);
    const now = cpuSeconds(pid);
    if (now - before < 0.05) return;
    before = now;
  }
}
