import { expect } from '@jest/globals';
import { type Bucket, buckets } from '#errors';
import { type Answer, sha256, type Submitted, type SystemSide, type TestCaller } from '../harness/index.js';
import { bucketOf, type Case } from './cases.js';
import { type TestedRow, withoutUploads, withWords } from './rows.js';

interface Planned {
  row: TestedRow;
  each: Case;
  tag: string;
}

interface Ended {
  run: Submitted;
  answer: Answer;
}

export const plan = (rows: readonly TestedRow[], cases: readonly Case[]): Planned[] =>
  rows.flatMap((row) =>
    cases
      .filter(
        ({ only }) =>
          only === undefined || row.answers === only || (only === 'poll' && row.answers === 'fetch'),
      )
      .map((each) => ({ row, each, tag: `${row.model} ${each.name}`.replaceAll(/[^\w]+/g, '-') })),
  );

/** One row of each shape: the result comes at once, after polls, or by a fetch after the polls. */
export const oneOfEachShape = (rows: readonly TestedRow[]): TestedRow[] =>
  ['at once', 'poll', 'fetch'].flatMap((shape) => rows.find(({ answers }) => answers === shape) ?? []);

/** Runs the planned cases from the caller to the provider and back, by tag. */
export async function crossAll(
  system: SystemSide,
  caller: TestCaller,
  planned: readonly Planned[],
): Promise<Map<string, Ended>> {
  const runs = await inTurns(planned, async ({ row, each, tag }) => {
    const words = [`tag=${tag}`, ...each.tokens.split(' ').filter(Boolean)]
      .map((token) => `[[sim:${token}]]`)
      .join('');
    const body = `${JSON.stringify(withWords(row.example, words)).slice(0, -1)} }\n`;
    return { tag, run: await caller.submit(each.short ? row.short : row.model, body) };
  });
  await system.ended(caller, 300_000);
  const ended = await inTurns(
    runs,
    async ({ tag, run }) => [tag, { run, answer: await caller.collect(run) }] as const,
  );
  return new Map(ended);
}

/** A few at a time, because this does not test load. */
export async function inTurns<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 16)
    results.push(...(await Promise.all(items.slice(at, at + 16).map(act))));
  return results;
}

/** Words that the simulator sends in error pages and half replies. */
const spokenByProviders = /cloud edge|<html|6f1c0e|dashboard|billing/i;

/** Checks that the caller sees only what it may see, and that a success passes every byte through unchanged. */
export async function expectAsPlanned(
  system: SystemSide,
  { row, each, tag }: Planned,
  ended: ReadonlyMap<string, Ended>,
): Promise<void> {
  const { answer, run } = ended.get(tag) ?? fail(tag);
  const ledger = await system.provider.ledger(tag);
  expect(ledger.length).toBe(each.accepted);
  const bucket = bucketOf(each, row);
  expect([answer.bucket, answer.bytes.subarray(0, 300).toString()]).toEqual([bucket, expect.anything()]);
  expect(answer.status).toBe(statusOf(bucket));
  expect(bucket === undefined ? '' : answer.bytes.toString()).not.toMatch(spokenByProviders);
  if (bucket !== undefined) return;
  const [entry] = ledger;
  expect(entry?.replySha256).toBe(sha256(withoutSignature(row, answer.bytes)));
  const body = withoutTask(row, Buffer.from(entry?.bodyBase64 ?? '', 'base64').toString());
  const sent = withoutMembers(row, withoutTarget(row, body));
  const whole = (text: string) => withoutUploads(text, row.uploads);
  // A voice is a part of the address.
  const given = run.body.replace(/"voice_id":"[^"]*",/, '');
  expect(whole(withoutWrapping(row.wraps, sent))).toBe(row.wraps === 'form' ? '' : whole(given));
}

function statusOf(bucket: Bucket | undefined): number {
  if (bucket === undefined) return 200;
  return bucket === 'invalid_input' ? 422 : buckets[bucket].status;
}

function fail(tag: string): never {
  throw new Error(`${tag} has not ended`);
}

function withoutWrapping(wraps: TestedRow['wraps'], sent: string): string {
  if (wraps === 'form') return '';
  return wraps === 'envelope' ? sent.replace(/^\{"\w+":/, '').replace(/\}$/, '') : sent;
}

/** Without the model's own name, which comes first; the rest is the caller's. */
function withoutMembers({ members }: TestedRow, sent: string): string {
  const first = JSON.stringify(members).slice(0, -1);
  return sent.startsWith(`${first},`) ? `{${sent.slice(first.length + 1)}` : sent;
}

/** The only task of a list, without its name and type. */
const withoutTask = ({ wraps }: TestedRow, sent: string): string =>
  wraps === 'list' ? sent.replace(/^\[(\{)"taskType":.*?"includeCost":true,(.*)\]$/s, '$1$2') : sent;

/** Google's video models may be told where to store their result, in the caller's own `parameters`. */
const withoutTarget = ({ provider }: TestedRow, sent: string): string =>
  provider === 'google' ? sent.replace(/"storageUri":"[^"]*",/, '') : sent;

/** Results stored there are returned as signed links. */
const withoutSignature = ({ provider }: TestedRow, result: Buffer): Buffer =>
  provider === 'google'
    ? Buffer.from(
        result
          .toString()
          .replaceAll(
            /https:\/\/storage\.googleapis\.com\/([^"?]+)\?[^"]*/g,
            (_link, object: string) => `gs://${decodeURIComponent(object)}`,
          ),
      )
    : result;
