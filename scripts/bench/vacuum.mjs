// Whether the tables that every run changes keep their size under load: ten workspaces, one of which makes half
// of the calls, and four synchronous calls for each queued, polled run with an asset. BENCH_MINUTES=60 runs it
// for an hour.
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from './service.mjs';
import { sizeOf } from './size.mjs';

const minutes = sizeOf('MINUTES');
const perSecond = sizeOf('RUNS_PER_SECOND');
const hot = ['workspace', 'outbox', 'run'];

const body = JSON.stringify({ prompt: 'a cat '.repeat(160) });
const calls = {
  synchronous: { path: '/v2/models/openai/gpt-image-2', status: 200 },
  polled: { path: '/v2/models/bfl/flux-2-pro/requests', status: 201 },
};

export async function* run() {
  const service = await startService();
  try {
    await service.provider.settings({ takesMs: 300 });
    const gateway = await service.start('gateway');
    await service.start('worker');
    const others = await Promise.all(Array.from({ length: 9 }, (_each, n) => service.customer(`bench-${n}`)));
    const answers = { right: 0, wrong: 0 };
    const load = calling(gateway.url, [service, ...others], answers);
    const samples = [];
    for (let minute = 0; minute < minutes; minute += 1) {
      await pause(Math.min(minutes, 1) * 60_000);
      samples.push(await sizes(service.client));
    }
    await load.stop();
    yield {
      what: `runs of ${minutes} min that were answered`,
      measured: `${answers.right}, ${answers.wrong} were not`,
      aim: 'all',
      reached: answers.wrong === 0,
    };
    for (const table of hot) yield verdict(table, samples, answers);
    await service.holdToInvariants();
  } finally {
    await service.stop();
  }
}

/** Starts calls at an even rate, whatever happens to them. */
function calling(url, customers, answers) {
  const underWay = new Set();
  let made = 0;
  const one = async () => {
    made += 1;
    const { path, status } = made % 5 === 0 ? calls.polled : calls.synchronous;
    const { key } = customers[made % 2 === 0 ? 0 : made % customers.length];
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status === status;
  };
  const timer = setInterval(() => {
    const call = one().then(
      (isRight) => (answers[isRight ? 'right' : 'wrong'] += 1),
      () => (answers.wrong += 1),
    );
    underWay.add(call);
    void call.finally(() => underWay.delete(call));
  }, 1000 / perSecond);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

/** Postgres' counters of each table, with its partitions added up. */
async function sizes(client) {
  const found = {};
  for (const table of hot) {
    const { rows } = await client.query(
      `SELECT sum(pg_table_size(relid))::float AS table, sum(pg_indexes_size(relid))::float AS indexes,
              sum(n_dead_tup)::integer AS dead, sum(n_live_tup)::integer AS live, sum(n_tup_upd)::integer AS updated,
              sum(n_tup_hot_upd)::integer AS hot, sum(n_tup_ins)::integer AS inserted, sum(n_tup_del)::integer AS deleted,
              sum(autovacuum_count)::integer AS vacuums
       FROM pg_stat_user_tables
       WHERE relid = $1::text::regclass OR relid IN (SELECT relid FROM pg_partition_tree($1::text::regclass))`,
      [table],
    );
    [found[table]] = rows;
  }
  return found;
}

/** A table that keeps its rows may grow with the runs; a table whose rows are deleted may not. */
function verdict(table, samples, { right }) {
  const each = samples.map((sample) => sample[table]);
  const [first, last] = [each[0], each.at(-1)];
  const most = Math.max(...each.map(bytes)) / 1024;
  const passes = table !== 'run';
  return {
    what: passes ? `largest size of ${table} and its indexes` : 'run and its indexes, of one run',
    measured: passes ? `${Math.round(most)} KiB` : `${Math.round(bytes(last) / right)} bytes`,
    aim: passes ? '≤ 1024 KiB' : '',
    reached: !passes || (most > 0 && most <= 1024),
    more: [
      `table and indexes: minute 1 ${kibibytes(first)}, half-way ${kibibytes(each[Math.floor(each.length / 2)])}, the end ${kibibytes(last)}`,
      `rows ${last.live}; inserted ${last.inserted}, updated ${last.updated} (in place ${((100 * last.hot) / last.updated).toFixed(1)} %), deleted ${last.deleted}`,
      `autovacuums ${last.vacuums}; dead rows: most ${Math.max(...each.map(({ dead }) => dead))}, the end ${last.dead}`,
    ],
  };
}

const bytes = (sample) => sample.table + sample.indexes;
const kibibytes = (sample) => `${Math.round(sample.table / 1024)} + ${Math.round(sample.indexes / 1024)} KiB`;
