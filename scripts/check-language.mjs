// Counts sentences without a subject: those that open with What, Who, Whose, Whoever, Of, Those or By. The limits, given as
// arguments for comments and for Markdown, may only fall. `--list` prints each place.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { marked } from 'marked';

const [commentLimit, sentenceLimit] = process.argv.slice(2).map(Number);
const opening = /^(What|Who|Whose|Whoever|Of|Those|By)\b/;
const isHeadless = (text) => opening.test(text) && !text.endsWith('?');

// A block of comment lines counts once, by its opening.
const comment = /\/\*(.*?)\*\/|((?:^[ \t]*\/\/[^\n]*\n)+)/gms;

function* comments(source) {
  for (const { 0: block, index } of source.matchAll(comment)) {
    const text = block
      .replaceAll(/^[\s*/]+/gm, '')
      .replaceAll(/[\s*/]+$/g, '')
      .trim();
    if (text.split(/\s+/).length >= 3) yield { text, line: source.slice(0, index).split('\n').length };
  }
}

/** The texts of a Markdown document that hold sentences: paragraphs, items of lists and cells of tables. */
function textsOf(token) {
  if (['heading', 'code', 'html', 'space'].includes(token.type)) return [];
  if (token.type === 'table') return token.rows.flat().map(({ text }) => text);
  const inner = token.items ?? (['list_item', 'blockquote'].includes(token.type) ? token.tokens : undefined);
  return inner === undefined ? [token.text ?? ''] : inner.flatMap(textsOf);
}

const sentences = (document) =>
  marked
    .lexer(document)
    .flatMap(textsOf)
    .flatMap((text) => text.replaceAll(/\s+/g, ' ').split(/(?<=[.!?])\s+/));

const skipped = /^(?:node_modules|dist|\..+)$|\.d\.ts$/;

/** Every file below a folder; links are left out, since what they lead to is counted where it is stored. */
const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !skipped.test(entry.name) && !entry.isSymbolicLink())
    .flatMap((entry) => {
      const name = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(name) : [name];
    });

const files = filesBelow('.');
const found = { comments: [], sentences: [] };
for (const name of files.filter((name) => /\.(tsx?|mjs)$/.test(name))) {
  for (const { text, line } of comments(readFileSync(name, 'utf8'))) {
    if (isHeadless(text)) found.comments.push(`${name}:${line}: ${text.split('\n')[0]}`);
  }
}
for (const name of files.filter((name) => name.endsWith('.md'))) {
  for (const text of sentences(readFileSync(name, 'utf8'))) {
    if (isHeadless(text)) found.sentences.push(`${name}: ${text.slice(0, 100)}`);
  }
}

if (process.argv.includes('--list')) {
  process.stdout.write([...found.comments, ...found.sentences, ''].join('\n'));
}
for (const [what, limit] of [
  ['comments', commentLimit],
  ['sentences', sentenceLimit],
]) {
  const { length } = found[what];
  process.stdout.write(`${length} ${what} open without a subject; the limit is ${limit}.\n`);
  if (length > limit) {
    process.exitCode = 1;
    process.stderr.write(
      `Begin new ${what} with their subject; 'node scripts/check-language.mjs --list' shows all.\n`,
    );
  } else if (length < limit) {
    process.exitCode = 1;
    process.stderr.write(`Lower the limit for ${what} of check:language in package.json to ${length}.\n`);
  }
}
