// Runs the benchmarks named on the command line, or all of them: npm run bench -- registry
//
// Each measures its subject and a floor in the same run, on the same machine, so only the ratio means something.
// A short run, to compare two checkouts in turns: BENCH_ROUNDS (3) measurements of each kind, BENCH_ROUND_MS
// (3000) of load in each, BENCH_DRAIN_RUNS (6000) in a backlog. The benchmarks use the service from outside:
// HTTP, settings, its tables.
import { cpus } from 'node:os';

const benchmarks = {
  drain: () => import('./bench/drain.mjs'),
  embedded: () => import('./bench/embedded.mjs'),
  growth: () => import('./bench/growth.mjs'),
  line: () => import('./bench/line.mjs'),
  polls: () => import('./bench/polls.mjs'),
  records: () => import('./bench/records.mjs'),
  registry: () => import('./bench/registry.mjs'),
  retention: () => import('./bench/retention.mjs'),
  runs: () => import('./bench/runs.mjs'),
  start: () => import('./bench/start.mjs'),
  submit: () => import('./bench/submit.mjs'),
  sync: () => import('./bench/sync.mjs'),
  vacuum: () => import('./bench/vacuum.mjs'),
  webhooks: () => import('./bench/webhooks.mjs'),
  workers: () => import('./bench/workers.mjs'),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown benchmark: ${unknown.join(', ')}. Known: ${Object.keys(benchmarks).join(', ')}.\n`,
  );
  process.exit(2);
}

const results = [];
for (const name of wanted.length > 0 ? wanted : Object.keys(benchmarks)) {
  const { run } = await benchmarks[name]();
  for await (const { more = [], ...result } of run()) {
    results.push({ name, ...result });
    process.stdout.write(`${name}: ${result.what}: ${result.measured}\n`);
    for (const line of more) process.stdout.write(`  ${line}\n`);
  }
}

const [{ model } = {}] = cpus();
const today = new Date().toISOString().slice(0, 10);
process.stdout.write(`\n${today}, Node ${process.version}, ${cpus().length} × ${model}\n\n`);
process.stdout.write('| Benchmark | What | Measured | Aim | |\n| --- | --- | --- | --- | --- |\n');
for (const { name, what, measured, aim, reached } of results) {
  const verdict = aim === '' ? '' : reached ? 'ok' : 'MISSED';
  process.stdout.write(`| ${name} | ${what} | ${measured} | ${aim} | ${verdict} |\n`);
}
process.exit(results.every(({ reached }) => reached) ? 0 : 1);
