// Runs the benchmarks that are named on the command line, or all: npm run bench -- registry
// Each measures what it is about and its floor in the same run, on the same machine; only the ratio says something.
const benchmarks = {
  growth: () => import('./bench/growth.mjs'),
  registry: () => import('./bench/registry.mjs'),
  runs: () => import('./bench/runs.mjs'),
  workers: () => import('./bench/workers.mjs'),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  process.stderr.write(
    `There is no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}.\n`,
  );
  process.exit(2);
}

let missed = 0;
for (const name of wanted.length > 0 ? wanted : Object.keys(benchmarks)) {
  const { run } = await benchmarks[name]();
  for await (const { what, measured, aim, reached } of run()) {
    if (!reached) missed += 1;
    process.stdout.write(`${reached ? 'ok    ' : 'MISSED'}  ${name}: ${what}: ${measured} (aim: ${aim})\n`);
  }
}
process.exit(missed === 0 ? 0 : 1);
