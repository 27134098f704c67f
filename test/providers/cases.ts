import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { Bucket } from '#errors';
import { checkout } from '../../apps/local/src/checkout.js';
import type { TestedRow } from './rows.js';

/** How a simulated provider handles a run, and what the caller sees. */
export interface Case {
  name: string;
  /** Tokens that control the simulated provider, separated by spaces. */
  tokens: string;
  /** Success if omitted. */
  bucket?: Bucket;
  /** Number of submissions that the provider accepts. */
  accepted: 0 | 1;
  /** Uses the row with the short time budget. */
  short?: true;
  /** `poll` rows are polled; `fetch` rows also fetch their result after the polls. */
  only?: TestedRow['answers'];
}

/** Run with each row: how the whole path handles a reply, beyond the provider's fixtures. */
export const ofEachRow: readonly Case[] = [
  // Copies get new URLs. A missing asset is not copied, so the result stays the provider's, byte for byte.
  { name: 'success with a 64-bit id', tokens: 'int64_id asset_404', accepted: 1 },
  { name: 'field error', tokens: 'field_error', bucket: 'invalid_input', accepted: 0 },
  { name: 'failure of the provider', tokens: 'job_failed', bucket: 'provider_error', accepted: 1 },
  { name: 'reset after acceptance', tokens: 'reset_after_accept', bucket: 'provider_error', accepted: 1 },
  {
    name: 'a result of 0 bytes',
    tokens: 'no_bytes',
    bucket: 'provider_error',
    accepted: 1,
    only: 'at once',
  },
];

/** Run with one row of each shape, because the provider makes no difference. No case waits for a clock. */
export const ofEachShape: readonly Case[] = [
  { name: 'refused by policy', tokens: 'policy_output', bucket: 'content_policy_violation', accepted: 1 },
  { name: '500 at submission', tokens: '500_submit', bucket: 'provider_error', accepted: 0 },
  { name: '502 at submission', tokens: '502_submit', bucket: 'provider_error', accepted: 0 },
  { name: '504 at submission', tokens: '504_submit', bucket: 'provider_timeout', accepted: 0 },
  { name: 'garbage', tokens: 'garbage', bucket: 'provider_error', accepted: 1 },
  { name: 'a page of HTML', tokens: 'html', bucket: 'provider_error', accepted: 1 },
  { name: 'half a reply', tokens: 'truncated', bucket: 'provider_error', accepted: 1 },
  {
    name: 'ended, and then unknown',
    tokens: 'result_404',
    bucket: 'provider_error',
    accepted: 1,
    only: 'fetch',
  },
  {
    name: 'a result that is broken twice, then success',
    tokens: 'result_500=2 asset_404',
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
  { name: 'a success without its result', tokens: 'no_asset asset_404', accepted: 1, only: 'poll' },
  // The provider's URL is kept for an empty asset.
  { name: 'an asset of 0 bytes', tokens: 'asset_empty', accepted: 1 },
];

const refusedPolls = 2;

/** These cases spend a time budget, a provider's pause or the router's own pauses between polls. */
export const ofTime: readonly Case[] = [
  { name: 'success', tokens: '', accepted: 1 },
  { name: 'success after a while', tokens: 'queued=200 takes=400 unknown_status', accepted: 1 },
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
  { name: '429 that asks for a second, then success', tokens: '429=1 retry_after=1', accepted: 1 },
  // The next attempt would come too late, so the budget cuts off no answer.
  {
    name: '429 until the end',
    tokens: '429 retry_after=60',
    bucket: 'service_unavailable',
    accepted: 0,
    short: true,
  },
  {
    name: 'bad polls, then success',
    tokens: 'poll_502=2 poll_garbage=3 poll_reset=4',
    accepted: 1,
    only: 'poll',
  },
  {
    name: 'polls that refuse our account, then success',
    tokens: `poll_402=${refusedPolls}`,
    accepted: 1,
    only: 'poll',
  },
  {
    name: 'a result that our account is refused, then success',
    tokens: `result_401=${refusedPolls} asset_404`,
    accepted: 1,
    only: 'fetch',
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
    name: 'ended, and at work forever',
    tokens: 'result_early',
    bucket: 'provider_error',
    accepted: 1,
    only: 'fetch',
  },
  { name: 'half a result, then success', tokens: 'result_truncated=1', accepted: 1, only: 'fetch' },
];

/**
 * Run with each row, because each provider words these replies in its own way and some keys are exchanged. They
 * may pause a provider. The account is refused with every reply that the simulated provider has for it.
 */
export const ofAccount = ({ provider }: TestedRow): Case[] => [
  { name: '429 twice, then success', tokens: '429=2', accepted: 1 },
  ...accountReplies(provider).map((name): Case => ({
    name: `our account, ${name}`,
    tokens: `account=${name}`,
    bucket: 'provider_error',
    accepted: 0,
  })),
];

/** The names of the replies with which the simulated provider refuses an account. */
function accountReplies(provider: string): string[] {
  const file = path.join(checkout, 'apps/simulator/replies', `${provider}.yaml`);
  const { replies } = parse(readFileSync(file, 'utf8')) as { replies: Record<string, unknown> };
  return Object.keys(replies).flatMap((name) => /^account-(.*)/.exec(name)?.[1] ?? []);
}

/** The number of replies in a case that refuse the account; each one alerts the operator. */
export const alertsOf = ({ tokens }: Case): number =>
  tokens.startsWith('account=') ? 1 : /(poll|result)_40[12]/.test(tokens) ? refusedPolls : 0;

/** According to their documents, nothing distinguishes a refusal from any other failure. */
const refusesWithoutASign = new Set([
  'beeble',
  'byteplus-speech',
  'gemini-interactions',
  'heygen',
  'krea',
  'meshy',
  'pruna',
  'recraft',
  'synclabs',
]);

export function bucketOf({ name, bucket }: Case, { provider }: TestedRow): Bucket | undefined {
  if (name === 'refused by policy' && refusesWithoutASign.has(provider)) return 'provider_error';
  return bucket;
}
