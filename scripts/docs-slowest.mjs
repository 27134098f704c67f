// Writes the twenty slowest files of `npm test` into CONTRIBUTING.md: npm run docs:slowest [-- --from results.json]
//
// Runs the suite, unless --from names the file of an earlier `npm test -- --json --outputFile results.json`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';

const { from } = parseArgs({ options: { from: { type: 'string' } } }).values;
const { testResults, startTime, success } = from ? readResults(from) : measure();
if (!success) {
  process.stderr.write('A test failed, so its file may have ended early: nothing is written.\n');
  process.exit(1);
}

const files = testResults
  .map(({ name, startTime, endTime, assertionResults }) => ({
    name: path.relative(process.cwd(), name).replaceAll(path.sep, '/'),
    seconds: (endTime - startTime) / 1000,
    cases: assertionResults.length,
  }))
  .sort((left, right) => right.seconds - left.seconds);
const seconds = (Math.max(...testResults.map(({ endTime }) => endTime)) - startTime) / 1000;
const cases = files.reduce((sum, file) => sum + file.cases, 0);
const text = [
  `${cases.toLocaleString('en')} cases in ${files.length} files took ${Math.round(seconds)} s on ${os.cpus().length} cores (${new Date(startTime).toISOString().slice(0, 10)}).`,
  '',
  '| Seconds | File | Cases |',
  '| ---: | --- | ---: |',
  ...files.slice(0, 20).map((file) => `| ${file.seconds.toFixed(1)} | \`${file.name}\` | ${file.cases} |`),
].join('\n');

const page = path.resolve('CONTRIBUTING.md');
const before = readFileSync(page, 'utf8');
const place = /(<!-- slowest -->\n)[^]*?(<!-- end -->)/;
if (!place.test(before)) throw new Error('CONTRIBUTING.md has no <!-- slowest --> … <!-- end -->');
const written = before.replace(place, (_all, begin, end) => `${begin}\n${text}\n\n${end}`);
writeFileSync(page, await format(written, { ...(await resolveConfig(page)), filepath: page }));

function measure() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-slowest-'));
  const file = path.join(folder, 'results.json');
  spawnSync('npm', ['run', '--silent', 'jest', '--', '--json', '--outputFile', file], { stdio: 'inherit' });
  const results = readResults(file);
  rmSync(folder, { recursive: true });
  return results;
}

function readResults(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
