// Every fixture of a partner says where it comes from. How many are only assumed is printed; the limit, given as the
// argument, may only fall.
import { readdirSync, readFileSync } from 'node:fs';

const limit = Number(process.argv[2]);
const forms = { documented: /^https:\/\//, recorded: /^https:\/\//, assumed: /^[A-Z].+\.$/ };
const providers = 'libs/providers/src/providers';
const files = readdirSync(providers, { recursive: true })
  .filter((file) => /\/fixtures\/.*\.json$/.test(file))
  .map((file) => `${providers}/${file}`);
const read = files.map((file) => ({ file, ...JSON.parse(readFileSync(file, 'utf8')) }));

const unsourced = read.filter(
  ({ source, date, kind }) => !forms[kind]?.test(source) || !/^\d{4}-\d\d-\d\d$/.test(date),
);
for (const { file } of unsourced)
  console.error(`${file}: source, date and kind (${Object.keys(forms).join(', ')}) are missing or malformed`);

const assumed = read.filter(({ kind }) => kind === 'assumed').length;
console.log(`${assumed} of ${read.length} fixtures are assumed, ${limit} may be`);
if (assumed > limit)
  console.error('Find a document for a fixture, or the reply itself, instead of raising the limit.');
else if (assumed < limit) console.log(`The limit of check:fixtures in package.json can be ${assumed} now.`);
if (unsourced.length > 0 || !(assumed <= limit)) process.exitCode = 1;
