import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bucket, buckets } from '#errors';
import {
  type Answer,
  failOnLeftovers,
  holdToInvariants,
  sha256,
  type Submitted,
  System,
  temporaryFolder,
  transports,
  waitFor,
} from '../harness/index.js';
import { callsMade } from '../faults/metrics.js';
import { testedRows, withWords } from './rows.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

interface Case {
  name: string;
  tokens: string;
  /** Left out, success. */
  bucket?: Bucket;
  accepted: 0 | 1;
  /** The row whose time budget is over soon. */
  short?: true;
  /** `poll` are those that are polled, `fetch` those of them whose result is fetched. */
  only?: 'poll' | 'fetch';
}

const cases: Case[] = [
  { name: 'success', tokens: '', accepted: 1 },
  { name: 'success with a 64-bit id', tokens: 'int64_id', accepted: 1 },
  { name: 'success after a while', tokens: 'queued=200 takes=400 unknown_status', accepted: 1 },
  { name: 'refused by policy', tokens: 'policy_output', bucket: 'content_policy_violation', accepted: 1 },
  { name: 'field error', tokens: 'field_error', bucket: 'invalid_input', accepted: 0 },
  { name: 'failure of the partner', tokens: 'job_failed', bucket: 'provider_error', accepted: 1 },
  {
    name: 'no answer to the submission',
    tokens: 'hang_submit',
    bucket: 'provider_timeout',
    accepted: 0,
    short: true,
  },
  {
    name: 'accepted, and no answer',
    tokens: 'hang_after_accept',
    bucket: 'provider_timeout',
    accepted: 1,
    short: true,
  },
  {
    name: 'polls without an answer',
    tokens: 'hang_poll',
    bucket: 'provider_timeout',
    accepted: 1,
    short: true,
    only: 'poll',
  },
  {
    name: 'polls that never end',
    tokens: 'takes=600000',
    bucket: 'provider_timeout',
    accepted: 1,
    short: true,
  },
  { name: '429 twice, then success', tokens: '429=2', accepted: 1 },
  { name: '429 that asks for a second, then success', tokens: '429=1 retry_after=1', accepted: 1 },
  // The next try would be too late: no answer to it is cut off by the budget.
  {
    name: '429 until the end',
    tokens: '429 retry_after=60',
    bucket: 'service_unavailable',
    accepted: 0,
    short: true,
  },
  { name: 'our account', tokens: 'locked', bucket: 'provider_error', accepted: 0 },
  { name: 'our key', tokens: '401', bucket: 'provider_error', accepted: 0 },
  { name: '500 at submission', tokens: '500_submit', bucket: 'provider_error', accepted: 0 },
  { name: '502 at submission', tokens: '502_submit', bucket: 'provider_error', accepted: 0 },
  { name: '504 at submission', tokens: '504_submit', bucket: 'provider_timeout', accepted: 0 },
  { name: 'garbage', tokens: 'garbage', bucket: 'provider_error', accepted: 1 },
  { name: 'a page of HTML', tokens: 'html', bucket: 'provider_error', accepted: 1 },
  { name: 'half a reply', tokens: 'truncated', bucket: 'provider_error', accepted: 1 },
  { name: 'reset after acceptance', tokens: 'reset_after_accept', bucket: 'provider_error', accepted: 1 },
  {
    name: 'bad polls, then success',
    tokens: 'poll_502=2 poll_garbage=3 poll_reset=4',
    accepted: 1,
    only: 'poll',
  },
  { name: 'a job that is lost', tokens: 'poll_404', bucket: 'provider_error', accepted: 1, only: 'poll' },
  {
    name: 'a status that goes backwards, then success',
    tokens: 'takes=1500 status_back',
    accepted: 1,
    only: 'poll',
  },
  { name: 'ended, at work again, then success', tokens: 'result_early=1', accepted: 1, only: 'fetch' },
  {
    name: 'ended, and at work for ever',
    tokens: 'result_early',
    bucket: 'provider_error',
    accepted: 1,
    only: 'fetch',
  },
  {
    name: 'ended, and then unknown',
    tokens: 'result_404',
    bucket: 'provider_error',
    accepted: 1,
    only: 'fetch',
  },
  {
    name: 'a result that is a page of HTML',
    tokens: 'result_html',
    bucket: 'provider_error',
    accepted: 1,
    only: 'fetch',
  },
  { name: 'half a result, then success', tokens: 'result_truncated=1', accepted: 1, only: 'fetch' },
  { name: 'a success without its result', tokens: 'no_asset', bucket: 'provider_error', accepted: 1 },
];

const folder = temporaryFolder('short-rows');
const rows = await testedRows(folder);

const planned = rows.flatMap((row) =>
  cases
    .filter(
      ({ only }) =>
        only === undefined || row.answers === only || (only === 'poll' && row.answers === 'fetch'),
    )
    .map((each) => ({ row, each, tag: `${row.model} ${each.name}`.replaceAll(/[^\w]+/g, '-') })),
);

/** fal reports a result without pictures as the model's own, which it is. */
const emptyIsAResult = new Set(['fal']);

/** Their documents name no sign by which a refusal differs from any other failure. */
const refusesWithoutASign = new Set(['meshy', 'recraft']);

function bucketOf({ name, bucket }: Case, provider: string): Bucket | undefined {
  if (name === 'a success without its result' && emptyIsAResult.has(provider)) return undefined;
  if (name === 'refused by policy' && refusesWithoutASign.has(provider)) return 'provider_error';
  return bucket;
}

/** Of the pages and half replies that the simulator sends in place of a partner. */
const spokenByPartners = /cloud edge|<html|6f1c0e|dashboard|billing/i;

let system: System;
let caller: TestCaller;
const ended = new Map<string, { answer: Answer; run: Submitted }>();

beforeAll(async () => {
  system = await System.start({
    transport: transports()[0] ?? 'postgres',
    takesMs: 50,
    issuedKeys: true,
    env: {
      CATALOG_DIR: folder,
      PROVIDER_POLL_PAUSE_MS: '300',
      PROVIDER_POLL_TIMEOUT_MS: '1000',
      // Each run is a case of its own here: none shall wait for another one's refusal.
      PROVIDER_LANE_PAUSE_MS: '10',
      // A copied asset has another URL; here results are compared as the partner sent them.
      ASSET_MEDIA_TYPES: 'no/media',
    },
  });
  caller = await system.caller({ inflightLimit: 1000, windowLimit: 10_000 });
  const runs = await inTurns(planned, async ({ row, each, tag }) => {
    const words = [`tag=${tag}`, ...each.tokens.split(' ').filter(Boolean)]
      .map((token) => `[[sim:${token}]]`)
      .join('');
    const body = `${JSON.stringify(withWords(row.example, words)).slice(0, -1)} }\n`;
    return caller.submit(each.short ? row.short : row.model, body);
  });
  await waitFor(
    async () => (await system.sql(`SELECT 1 FROM run WHERE stage <> 'completed' LIMIT 1`)).length === 0,
    { withinMs: 300_000, what: 'every run to end', everyMs: 200 },
  );
  const answers = await inTurns(runs, (run) => caller.collect(run));
  for (const [index, { tag }] of planned.entries()) {
    const [run, answer] = [runs[index], answers[index]];
    if (run && answer) ended.set(tag, { run, answer });
  }
}, 420_000);
afterAll(() => system.stop());

describe.each(rows)('$model', (row) => {
  it.each(planned.filter((each) => each.row === row))('$each.name', async ({ each, tag }) => {
    const { answer, run } = ended.get(tag) ?? fail(tag);
    const ledger = await system.partner.ledger(tag);
    expect(ledger.length).toBe(each.accepted);
    const bucket = bucketOf(each, row.provider);
    expect([answer.bucket, answer.bytes.subarray(0, 300).toString()]).toEqual([bucket, expect.anything()]);
    expect(answer.status).toBe(statusOf(bucket));
    expect(bucket === undefined ? '' : answer.bytes.toString()).not.toMatch(spokenByPartners);
    if (bucket !== undefined) return;
    const [entry] = ledger;
    expect(entry?.replySha256).toBe(sha256(answer.bytes));
    expect(withoutWrapping(row.wraps, entry?.bodyBase64 ?? '')).toBe(row.wraps === 'form' ? '' : run.body);
  });
});

it('holds to every rule, with no submission twice and every slot free', async () => {
  await holdToInvariants(system);
  expect(await system.sql('SELECT inflight, committed_micros::integer AS committed FROM workspace')).toEqual([
    { inflight: 0, committed: 0 },
  ]);
  const [worker] = system.workers;
  if (!worker) throw new Error('no worker');
  const refused = worker
    .logs()
    .split('\n')
    .filter((line) => line.includes('submission refused, trying again'))
    .map((line) => (JSON.parse(line) as { run_id: string }).run_id);
  const wereToBeRefused = planned.flatMap(({ each, tag }) =>
    each.tokens.startsWith('429') ? [ended.get(tag)?.run.requestId] : [],
  );
  expect(refused.filter((runId) => !wereToBeRefused.includes(runId))).toEqual([]);
  // Whatever else a partner says, nothing is sent to it again. The last refusal of a run that ends by it has no successor.
  const endedByIt = planned.filter(({ each }) => each.bucket === 'service_unavailable').length;
  expect(await callsMade(worker, 'submit')).toBe(planned.length + refused.length - endedByIt);
  const entries = await system.partner.ledger();
  expect(new Set(entries.map(({ tag }) => tag)).size).toBe(entries.length);
});
failOnLeftovers();

function statusOf(bucket: Bucket | undefined): number {
  if (bucket === undefined) return 200;
  return bucket === 'invalid_input' ? 422 : buckets[bucket].status;
}

/** A few at a time: this is not about load. */
async function inTurns<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 16)
    results.push(...(await Promise.all(items.slice(at, at + 16).map(act))));
  return results;
}

function fail(tag: string): never {
  throw new Error(`${tag} has not ended`);
}

function withoutWrapping(wraps: 'not' | 'envelope' | 'form', base64: string): string {
  const text = Buffer.from(base64, 'base64').toString();
  if (wraps === 'form') return '';
  return wraps === 'envelope' ? text.replace(/^\{"\w+":/, '').replace(/\}$/, '') : text;
}
