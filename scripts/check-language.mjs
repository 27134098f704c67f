// Keeps the English plain: fails on comments and sentences that open without a subject, and on phrases that read as if they
// were translated. Frozen migrations are left out.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { marked } from 'marked';

const headless = /^(What|Who|Whose|Whoever|Of|Those|By)\b(?! default\b| course\b)/;
const isHeadless = (text) => headless.test(text) && !text.endsWith('?');

/** Each phrase with the wording to use instead. */
const phrases = [
  [/\b(whoever|anybody)\b/gi, 'which process or person'],
  [/\bin the air\b/gi, 'in flight'],
  [/\bcomes? to (its|an|their) end\b/gi, 'finishes'],
  [/\blies (in|at|behind|beside|below|there)\b/gi, 'is in, is stored in'],
  [/\bstands (at|behind|beside|below|there|on)\b/gi, 'is at, is listed in'],
  [/(?<!\b(there|which) )\bis no (?!longer\b)\w+/gi, 'is not a'],
  [/\bleft alone\b/gi, 'not changed'],
  [/\bso many (?!that\b)/gi, 'at most, the number of'],
  [/\bbeforehand\b/gi, 'first, in advance'],
  [/\bheeds?\b/gi, 'follows'],
  [/\bmend(s|ed|ing)?\b/gi, 'fix'],
  [/\b(runs?|calls?|it|that|tasks?|work) go(es)? on\b/gi, 'continues'],
  [/\bin vain\b/gi, 'without a result'],
  [/\bpass(es)? over\b/gi, 'skips'],
  [/\bputs? off\b/gi, 'postpones'],
  [/\bany more\b(?=[.,;:)'"’]|$)/gim, 'no longer'],
  [/\bcomes? again\b/gi, 'is retried, is delivered again'],
  [/\b(redis|postgres|server|database|store) is away\b/gi, 'is unreachable'],
  [/\bNot before:|\bOnly then\b/g, 'the rule, then its reason'],
];

// A block of comment lines counts once, by its opening.
const comment = /\/\*(.*?)\*\/|((?:^[ \t]*\/\/[^\n]*\n)+)/gms;

function* comments(source) {
  for (const { 0: block, index } of source.matchAll(comment)) {
    const text = block
      .replaceAll(/^[\s*/]+/gm, '')
      .replaceAll(/[\s*/]+$/g, '')
      .trim();
    if (text.split(/\s+/).length >= 3) yield { text, line: lineAt(source, index) };
  }
}

const lineAt = (source, index) => source.slice(0, index).split('\n').length;

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

const skipped = /^(?:node_modules|dist|migrations|package-lock\.json|\..+)$|\.d\.ts$/;

/** Every file below a folder; links are left out, because their target is checked where it is stored. */
const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !skipped.test(entry.name) && !entry.isSymbolicLink())
    .flatMap((entry) => {
      const name = path.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(name) : [name];
    });

const code = /\.(tsx?|mjs)$/;
const prose = /\.(tsx?|mjs|md|ya?ml|py|tpl|txt)$/;

/** They contain what this check rejects. */
const exempt = new Set(['scripts/check-language.mjs', 'test/operations/planted.spec.ts']);

const found = [];
for (const name of filesBelow('.').filter((name) => prose.test(name) && !exempt.has(name))) {
  const source = readFileSync(name, 'utf8');
  if (code.test(name)) {
    for (const { text, line } of comments(source))
      if (isHeadless(text)) found.push(`${name}:${line}: no subject: ${text.split('\n')[0]}`);
  } else if (name.endsWith('.md')) {
    for (const text of sentences(source))
      if (isHeadless(text)) found.push(`${name}: no subject: ${text.slice(0, 100)}`);
  }
  for (const [phrase, instead] of phrases)
    for (const { 0: text, index } of source.matchAll(phrase))
      found.push(`${name}:${lineAt(source, index)}: '${text}'; say ${instead}`);
}

for (const each of found) process.stderr.write(`${each}\n`);
process.stdout.write(`${found.length} places to reword.\n`);
process.exitCode = found.length === 0 ? 0 : 1;
