// Writes the fixture of the facts that hosted routers publish about their models, one line per model, from a file
// of such facts: ids, which of them are another server of a model, required and known members of an input,
// enumerated values, and inputs of the published shape. Only facts are kept: prompts and addresses are replaced
// by our own.
//
// node scripts/public-models.mjs <facts.jsonl>
import { readFileSync, writeFileSync } from 'node:fs';

const [source] = process.argv.slice(2);
const fixture = 'libs/catalog/src/testing/public-models.jsonl';

const lines = readFileSync(source, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  .sort((one, other) => (one.id < other.id ? -1 : 1))
  .map(({ id, required, properties, example, examples = {}, alias_of: servesAs }) => {
    const enums = Object.entries(properties).flatMap(([name, { enum: values }]) =>
      values ? [[name, values]] : [],
    );
    const inputs = [example, ...Object.values(examples)].filter(Boolean);
    return JSON.stringify({
      id,
      ...(servesAs && { servesAs }),
      required,
      properties: Object.keys(properties),
      ...(enums.length > 0 && { enums: Object.fromEntries(enums) }),
      ...(inputs.length > 0 && { inputs: inputs.map(inOurWords) }),
    });
  });
writeFileSync(fixture, `${lines.join('\n')}\n`);
process.stdout.write(`wrote ${fixture}: ${lines.length} models\n`);

/** The same input with every text that a person wrote replaced by our own. */
function inOurWords(value) {
  if (Array.isArray(value)) return value.map(inOurWords);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inOurWords(member)]));
  }
  if (typeof value !== 'string') return value;
  if (/^https?:/.test(value))
    return `https://files.example/file${/\.\w+$/.exec(new URL(value).pathname)?.[0] ?? ''}`;
  if (value.includes(' ')) return 'A fox in the snow';
  return value.replace(/^(data:[^,]*,)?[A-Za-z0-9+/]{40,}=*$/, '$1aGVsbG8=');
}
