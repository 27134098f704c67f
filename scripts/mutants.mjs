// Changes one operator or constant at a time and reports the changes that no test of `npm test` notices:
//
// npm run mutants [-- --seed 1] [--count 50] [--only <id> …] [--minutes 4] [--out results.json [--resume]] [--list]
//
// The sample depends on the seed. A mutant runs the spec files beside it and those that import it, then the others in
// the order of their likeness until --minutes have passed, and stops at the first failure. Mutants are tried in a copy of
// the checkout. `mutants/equivalent.json` lists the mutants that change no behaviour, each with its reason.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import picomatch from 'picomatch';
import jestConfig from '../jest.config.mjs';
import { applyMutant, compiling, copyOfCheckout } from './mutants/checkout.mjs';
import { runSpecs } from './mutants/run-specs.mjs';
import { mutantsByArea } from './mutants/sample.mjs';
import { specOrder } from './mutants/specs.mjs';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '50' },
    only: { type: 'string', multiple: true },
    minutes: { type: 'string', default: '4' },
    out: { type: 'string' },
    resume: { type: 'boolean' },
    list: { type: 'boolean' },
  },
});

/** How many spec files of a project a mutant runs before the other projects. */
const maxRelated = 6;
/** Ends a batch whose mutant never returns. */
const maxBatchMs = 10 * 60_000;
/** A change that Postgres rejects as a statement is not a mutant, like one that does not compile. */
const invalidSql =
  /operator does not exist|operator is not unique|syntax error at|function .* does not exist|argument of (AND|OR|NOT) must be|is not in select list|cannot cast type/;

const areas = mutantsByArea(options.seed);
const shareOf = ({ share }) => Math.round((share * Number(options.count)) / 50);
if (options.list) {
  for (const area of areas) for (const mutant of area.sample.slice(0, shareOf(area))) say(lineOf(mutant));
  process.exit();
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));

const sources = ['apps', 'libs', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll(path.sep, '/')}`)
    .filter((file) => /(?<!\.d)\.ts$/.test(file) && !/\/(node_modules|dist)\//.test(file)),
);
const suites = jestConfig.projects.map(
  ({ displayName: project, testMatch, testPathIgnorePatterns = [], globalSetup = '' }) => {
    const isOf = picomatch(testMatch.map((pattern) => pattern.replace('<rootDir>/', '')));
    const isIgnored = (file) => testPathIgnorePatterns.some((pattern) => new RegExp(pattern).test(file));
    const files = sources.filter((file) => isOf(file) && !isIgnored(file));
    return { project, files, services: /start-(\w+)\.mjs$/.exec(globalSetup)?.[1] };
  },
);
const order = specOrder(suites, sources);
const folder = copyOfCheckout();
const results = [];
/** Results of an interrupted run on the same tree. */
const known = new Map(options.resume ? readResults().map((result) => [result.id, result]) : []);

for (const area of areas) {
  const candidates = options.only ? area.all.filter(({ id }) => options.only.includes(id)) : [...area.sample];
  let left = options.only ? candidates.length : shareOf(area);
  while (left > 0 && candidates.length > 0)
    for (const mutant of compiling(folder, candidates.splice(0, left)))
      if (await tryMutant(mutant)) left -= 1;
}
await confirmKills();
say(`\n${tableOf(results)}`);
const survivors = results.filter(({ killedBy }) => killedBy === undefined).length;
say(`${results.length - survivors} of ${results.length} mutants were noticed.`);
process.exit();

/** Returns whether the mutant is valid. `isTrusted` excludes spec files that fail without any mutant. */
async function tryMutant(mutant, isTrusted = () => true) {
  if (known.has(mutant.id)) {
    results.push({ ...known.get(mutant.id), mutant });
    return true;
  }
  const startedMs = Date.now();
  const restore = applyMutant(folder, mutant);
  const failure = await firstFailure(mutant, isTrusted);
  restore();
  const { id, file, line, before, after } = mutant;
  // The next mutant of the sample takes its place.
  if (invalidSql.test(failure?.message ?? '')) return false;
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  const killedBy = failure && { file: failure.file, test: failure.test };
  const former = results.findIndex(({ id }) => id === mutant.id);
  results.splice(former === -1 ? results.length : former, 1, {
    id,
    file,
    line,
    before,
    after,
    killedBy,
    seconds,
    mutant,
  });
  if (options.out) save();
  const verdict = killedBy ? `noticed by ${nameOf(killedBy)}` : 'NOT NOTICED';
  say(`${lineOf(mutant)}\n  ${verdict} (${seconds} s)`);
  return true;
}

/** Whether the project's tests may use the mutant without importing it: they run the apps. */
function canUse(services, { file }) {
  return services === 'systems' || (services === 'gateways' && !file.startsWith('apps/worker/'));
}

async function firstFailure(mutant, isTrusted) {
  const specs = order(mutant).filter(({ file }) => isTrusted(file));
  const filesOf = (project) => specs.filter((spec) => spec.project === project);
  const related = suites
    .map(({ project, services }) => {
      const files = filesOf(project);
      const near = files.filter(({ isNear }) => isNear);
      return { project, files: (canUse(services, mutant) ? files : near).slice(0, maxRelated) };
    })
    .filter(({ files }) => files.length > 0)
    .sort((left, right) => right.files[0].score - left.files[0].score);
  // The likeliest file notices most mutants, so it runs alone first.
  const likeliest = related.slice(0, 1).map(({ project, files }) => ({ project, files: files.slice(0, 1) }));
  const done = new Set();
  const run = async (project, files, withinMs) => {
    const names = files.map(({ file }) => file).filter((file) => !done.has(file));
    if (names.length === 0) return undefined;
    for (const name of names) done.add(name);
    const { failed, isTimeout } = await runSpecs(folder, project, names, { withinMs });
    return { failure: failed[0], isTimeout };
  };
  for (const { project, files } of [...likeliest, ...related]) {
    const ran = await run(project, files, maxBatchMs);
    if (ran?.failure) return ran.failure;
    if (ran?.isTimeout) return { test: `${project} did not end` };
  }
  const lastMs = Date.now() + Number(options.minutes) * 60_000;
  for (const { project } of suites) {
    const leftMs = lastMs - Date.now();
    const ran = leftMs > 0 ? await run(project, filesOf(project), leftMs) : undefined;
    if (ran?.failure) return ran.failure;
  }
  return undefined;
}

/** Runs the files that noticed a mutant without any; the mutants of a file that fails anyway are tried again without it. */
async function confirmKills() {
  const untrusted = new Set();
  for (const { project, files } of suites) {
    const killers = files.filter((file) => results.some(({ killedBy }) => killedBy?.file === file));
    if (killers.length === 0) continue;
    const { failed } = await runSpecs(folder, project, killers, { withinMs: maxBatchMs, bail: false });
    for (const { file, test } of failed) {
      say(`${file ?? project} also fails without a mutant: ${test}`);
      untrusted.add(file);
    }
  }
  known.clear();
  const doubtful = results.filter(({ killedBy }) => untrusted.has(killedBy?.file));
  for (const { mutant } of doubtful) await tryMutant(mutant, (file) => !untrusted.has(file));
}

function readResults() {
  return JSON.parse(readFileSync(options.out, 'utf8')).results;
}

function save() {
  const plain = results.map(({ mutant: _mutant, ...result }) => result);
  writeFileSync(options.out, `${JSON.stringify({ seed: options.seed, results: plain }, null, 2)}\n`);
}

function cell(text) {
  return `\`${text.replaceAll('|', '\\|')}\``;
}

function tableOf(rows) {
  const lines = rows.map(({ id, file, line, before, after, killedBy }) => {
    const [was, is] = excerpt(before, after);
    return `| ${id} | ${file}:${line} | ${cell(was)} → ${cell(is)} | ${killedBy ? nameOf(killedBy) : '**not noticed**'} |`;
  });
  return ['| Mutant | Place | Change | Noticed by |', '| --- | --- | --- | --- |', ...lines, ''].join('\n');
}

/** The part of a line around its change. */
function excerpt(before, after) {
  let from = 0;
  while (before[from] === after[from]) from += 1;
  const start = Math.max(0, from - 30);
  const tail = before.length - from > 30 ? -Math.max(0, before.length - from - 30) : undefined;
  return [before, after].map((text) => text.slice(start, tail || undefined));
}

function nameOf({ file, test }) {
  return file === undefined ? test : `${file} (${test})`;
}

function lineOf({ id, file, line, before, after }) {
  const [was, is] = excerpt(before, after);
  return `${id}  ${file}:${line}  ${was}  →  ${is}`;
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
