// Writes the fixture of what hosted routers publish of their models, one line a model, from a file of such facts: the ids,
// which of them are another server of a model, which members of an input are required, which there are, the values that
// are enumerated, and inputs of the published shape. Facts alone: prompts and addresses become ones of our own.
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

/** The same input; what people wrote in it is ours. */
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
