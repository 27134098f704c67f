// Runs the benchmarks named on the command line, or all of them: npm run bench -- registry
//
// Each measures its subject and a floor in the same run, on the same machine, so only the ratio means something. The
// benchmarks use the service from outside: HTTP, settings, its tables. `--write` puts the results into
// docs/operations/scale.md. `--short` only shows that the benchmarks still work. `bench/size.mjs` has the sizes.
import { parseArgs } from 'node:util';

const benchmarks = {
  budgets: () => import('./bench/budgets.mjs'),
  catalog: () => import('./bench/catalog.mjs'),
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
  streams: () => import('./bench/streams.mjs'),
  vacuum: () => import('./bench/vacuum.mjs'),
  webhooks: () => import('./bench/webhooks.mjs'),
  workers: () => import('./bench/workers.mjs'),
};

const { values: options, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' }, write: { type: 'boolean' } },
});
const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown benchmark: ${unknown.join(', ')}. Known: ${Object.keys(benchmarks).join(', ')}.\n`,
  );
  process.exit(2);
}
if (options.short) process.env.BENCH_SHORT = '1';

// The harness reads the environment when it is loaded, so these come after the settings.
const { isSkipped } = await import('./bench/service.mjs');
const { machineSpeed } = await import('./bench/speed.mjs');
const { tableOf, writeTable } = await import('./bench/tables.mjs');

const machine = machineSpeed();
process.stdout.write(`${machine}\n\n`);
const names = wanted.length > 0 ? wanted : Object.keys(benchmarks);
// Whole benchmarks must not disturb one another; short ones judge no times.
const lanes = options.short ? 4 : 1;
const waiting = [...names];
const results = [];
await Promise.all(
  Array.from({ length: lanes }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await measure(name);
  }),
);

process.stdout.write(`${machine}\nAfterwards: ${machineSpeed()}\n\n${tableOf(results)}`);
const isGood = (result) => (options.short ? !isSkipped(result) : result.reached);
process.exit(results.every(isGood) ? 0 : 1);

async function measure(name) {
  const { run } = await benchmarks[name]();
  const found = [];
  const startedMs = performance.now();
  for await (const { more = [], ...result } of run()) {
    found.push(result);
    process.stdout.write(`${name}: ${result.what}: ${result.measured}\n`);
    for (const line of more) process.stdout.write(`  ${line}\n`);
  }
  process.stdout.write(`${name}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s\n\n`);
  results.push(...found);
  if (options.write) await writeTable(name, found, machine);
}
