import type { Json } from '#schemas';
import { signsBody } from './credential-shape.js';
import type { ProtocolRow } from './shape.js';
import { namesIn, ofInput } from './templates.js';

interface Problem {
  path: (string | number)[];
  message: string;
}

/** Checks the fields of a declaration together: every value in braces must exist where it is used. */
export function* placeholderProblems(row: ProtocolRow): Generator<Problem> {
  const { handle = {}, submit, poll, fetch, cancel } = row;
  const kept = Object.entries(handle);
  const polled = kept.flatMap(([name, field]) => ('polled' in field ? [name] : []));
  const required = kept.flatMap(([name, field]) => ('optional' in field && field.optional ? [] : [name]));
  const ofRow = kept.flatMap(([name, field]) => ('upstream' in field ? [name] : []));
  const isKept = (name: string) => name === 'base' || Object.hasOwn(handle, name);
  /** Values of the last poll exist for the fetch only. */
  const isThereFor = (step: string) => (name: string) =>
    isKept(name) && (step === 'fetch' || !polled.includes(name));
  const urls = kept.flatMap(([name, field]) => ('url' in field && field.url ? [name] : []));
  yield* addressProblems(['submit', 'url'], submit.url, isOfRun);
  if (submit.variant) yield* addressProblems(['submit', 'variant', 'url'], submit.variant.url, isOfRun);
  if (submit.upload)
    yield* addressProblems(['submit', 'upload', 'url'], submit.upload.url, (name) => name === 'base');
  yield* authProblems(row);
  for (const encode of [submit.encode, submit.variant?.encode]) {
    for (const text of encode && 'set' in encode ? textsIn(encode.set) : [])
      yield* unknown(['submit', 'encode', 'set'], text, (name) => name === 'uuid', namesIn);
  }
  yield* unknownInHeaders(['submit', 'headers'], submit.headers, (name) => name.startsWith('upstream.'));
  if (!poll) yield* withoutPoll(row);
  for (const name of fetch ? [] : polled)
    yield { path: ['handle', name, 'polled'], message: 'is allowed only with fetch' };
  if (poll && kept.length === polled.length)
    yield { path: ['handle'], message: 'a poll needs a handle field that identifies the generation' };
  for (const [step, call] of Object.entries({ poll, fetch, cancel })) {
    if (call === undefined) continue;
    const alternatives = [call.url].flat();
    for (const url of alternatives) yield* addressProblems([step, 'url'], url, isThereFor(step), urls);
    const isSure = (url: string) => namesIn(url).every((name) => name === 'base' || required.includes(name));
    if (step !== 'cancel' && !alternatives.some(isSure)) {
      const message = 'every address depends on a value that may be missing; add one that does not';
      yield { path: [step, 'url'], message };
    }
    // Values from the provider may contain characters that headers do not allow.
    yield* unknownInHeaders([step, 'headers'], call.headers, (name) => ofRow.includes(name));
    for (const text of textsIn(call.body ?? null))
      yield* unknown([step, 'body'], text, isThereFor(step), namesIn);
  }
}

function* authProblems({ auth, auth_query: query, credential, submit }: ProtocolRow): Generator<Problem> {
  const encodings = [submit.encode, submit.variant?.encode];
  const takesFiles =
    [submit.base64, submit.upload].some((files) => files !== undefined) ||
    encodings.some((encode) => encode && 'form' in encode);
  const hasKey =
    credential !== undefined ||
    [auth, query].flatMap(Object.values).some((value: string) => namesIn(value).includes('secret'));
  yield* unknownInHeaders(['auth'], auth, (name) => name === 'secret');
  yield* unknownInHeaders(['auth_query'], query, (name) => name === 'secret');
  if (!hasKey) yield { path: ['auth'], message: 'a call without {secret} has no key' };
  // Files are read from the store while they are sent, after the header that would have to sign them.
  if (credential && signsBody(credential) && takesFiles)
    yield { path: ['credential'], message: 'a signed body cannot contain files' };
}

const withoutPoll = ({ handle, fetch, cancel }: ProtocolRow): Problem[] =>
  Object.entries({ handle, fetch, cancel })
    .filter(([, part]) => part !== undefined)
    .map(([name]) => ({
      path: [name],
      message: 'is allowed only with poll; without it, the submit reply is the result',
    }));

const isOfRow = (name: string): boolean => name === 'base' || name.startsWith('upstream.');

const isOfRun = (name: string): boolean => isOfRow(name) || name.startsWith(ofInput);

/** Anything in braces is treated as a placeholder, even `{secret|base64}`. */
const bracesIn = (template: string): string[] =>
  [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);

const unknown = (
  path: string[],
  template: string,
  known: (name: string) => boolean,
  namesOf = bracesIn,
): Problem[] =>
  namesOf(template)
    .filter((name) => !known(name))
    .map((name) => ({ path, message: `there is no {${name}} here` }));

const unknownInHeaders = (
  path: string[],
  headers: Readonly<Record<string, string>> = {},
  known: (name: string) => boolean,
): Problem[] => Object.entries(headers).flatMap(([name, value]) => unknown([...path, name], value, known));

/** An address starts with the base or is a URL from the handle: nothing else may choose where our key goes. */
const addressProblems = (
  path: string[],
  url: string,
  known: (name: string) => boolean,
  urls: readonly string[] = [],
): Problem[] => [
  ...unknown(path, url, known),
  ...(/^\{base\}(\/|$)/.test(url) || urls.some((name) => url === `{${name}}`)
    ? []
    : [{ path, message: 'an address must start with {base}/ or be a handle field with url: true' }]),
];

function textsIn(template: Json): string[] {
  if (typeof template === 'string') return [template];
  return typeof template === 'object' && template !== null ? Object.values(template).flatMap(textsIn) : [];
}
