// Every fixture of a provider names its source. Prints how many are only assumed; the limit, given as the
// argument, may only fall.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const limit = Number(process.argv[2]);
const forms = { documented: /^https:\/\//, recorded: /^https:\/\//, assumed: /^[A-Z].+\.$/ };
const providers = 'libs/providers/src/providers';

let count = 0;
let assumed = 0;
for (const name of readdirSync(providers, { recursive: true, encoding: 'utf8' })) {
  if (!/\/fixtures\/.*\.json$/.test(name)) continue;
  const { source, date, kind } = JSON.parse(readFileSync(path.join(providers, name), 'utf8'));
  count += 1;
  if (kind === 'assumed') assumed += 1;
  if (forms[kind]?.test(source) && /^\d{4}-\d\d-\d\d$/.test(date)) continue;
  process.exitCode = 1;
  process.stderr.write(
    `${name} needs a source, a date and a kind, one of ${Object.keys(forms).join(', ')}.\n`,
  );
}

process.stdout.write(`${assumed} of ${count} fixtures are assumed; the limit is ${limit}.\n`);
if (assumed > limit) {
  process.exitCode = 1;
  process.stderr.write('Find a document for a fixture, or the reply itself, instead of raising the limit.\n');
} else if (assumed < limit) {
  process.stdout.write(`Lower the limit of check:fixtures in package.json to ${assumed}.\n`);
}
