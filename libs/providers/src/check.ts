import { type Json, type ProviderCheckResult, valuesAt } from '#schemas';
import type { CheckSpec } from './check-spec.js';
import { type AccountReports, type Condition, isDocumented } from './condition.js';
import type { Fault, HttpCall, HttpReply, ProviderDefinition, Signal } from './contract.js';
import { isReply, isSuccess, jsonOf } from './reply.js';
import { holds } from './rules.js';

export interface CheckAnswer {
  result: Extract<ProviderCheckResult, 'ok' | 'rejected' | 'unreachable' | 'no_key'>;
  httpStatus?: number;
  balance?: { amount: number; unit: string };
  /** The reason, in a sentence that quotes nothing. */
  detail?: string;
}

/** The check of a provider at one base URL. */
export interface KeyCheck {
  call: HttpCall;
  read(signal: Signal): CheckAnswer;
}

/** Undefined if the provider declares no free call. */
export function keyCheck(
  { check, account, defaultBase }: Pick<ProviderDefinition, 'check' | 'account' | 'defaultBase'>,
  base: string,
): KeyCheck | undefined {
  if (check === undefined) return undefined;
  const { method = 'GET', headers, body, uniqueHeader } = check;
  return {
    call: {
      method,
      url: urlOf(check.url, base, defaultBase),
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(uniqueHeader !== undefined && { uniqueHeader }),
      ...(body !== undefined && { body: new TextEncoder().encode(JSON.stringify(body)) }),
    },
    read: (signal) => (isReply(signal) ? readReply(check, account, signal) : readFault(signal)),
  };
}

/** A proxy or a simulator serves all addresses of the provider below its own base. */
function urlOf(url: string, base: string, defaultBase: string): string {
  if (!url.startsWith('https://')) return url.replace('{base}', () => base);
  const { pathname, search } = new URL(url);
  return base === defaultBase ? url : `${base}${pathname}${search}`;
}

function readFault(fault: Fault): CheckAnswer {
  if (fault.fault === 'oversize') return { result: 'unreachable', detail: 'The reply is too large.' };
  if (fault.cause === 'no_key') return { result: 'no_key' };
  if (fault.cause === 'token_refused')
    return { result: 'rejected', detail: 'The key cannot be exchanged for a token.' };
  return { result: 'unreachable', detail: `There was no answer: ${fault.cause}.` };
}

function readReply(check: CheckSpec, account: AccountReports | undefined, reply: HttpReply): CheckAnswer {
  const json = jsonOf(reply);
  const isOneOf = (conditions: readonly Condition[] = []) =>
    conditions.some((condition) => holds(condition, 'submit', reply, json));
  const reported = (name: keyof AccountReports) => {
    const reports = account?.[name];
    return reports !== undefined && isDocumented(reports) && isOneOf(reports);
  };
  const httpStatus = reply.status;
  if (isOneOf(check.rejected) || reported('key')) return answer('rejected');
  if (reported('balance') || reported('quota'))
    return answer('ok', 'The provider accepts the key, but reports that our balance or quota is used up.');
  if (httpStatus === 401 || httpStatus === 403) return answer('rejected');
  if (!isSuccess(reply)) return answer('unreachable', `The provider answered HTTP ${httpStatus}.`);
  if (check.ok ? !isOneOf(check.ok) : json === undefined)
    return answer('unreachable', 'The reply has another form than the documented one.');
  const amounts = check.balance ? valuesAt(json, check.balance.path).map(numberOf) : [];
  const amount = amounts.reduce<number | undefined>(
    (sum, each) => (each === undefined ? sum : (sum ?? 0) + each),
    undefined,
  );
  return {
    ...answer('ok'),
    ...(check.balance && amount !== undefined && { balance: { amount, unit: check.balance.unit } }),
  };

  function answer(result: CheckAnswer['result'], detail?: string): CheckAnswer {
    return { result, httpStatus, ...(detail !== undefined && { detail }) };
  }
}

/** Providers write amounts as numbers or as texts. */
function numberOf(value: Json): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
