import type { OperatorAttempt, OperatorRunDetail } from '#schemas';

/** The provider calls of a run that did not simply succeed, as text that follows other lines. */
export function attemptLines(attempts: readonly OperatorAttempt[], leftOut: number): string {
  const between = leftOut === 0 ? '' : ` (${leftOut} further calls between the first ten and the last ten)`;
  return ['', `provider attempts${between}`, ...attempts.flatMap(linesOf)].join('\n');
}

/** The attempts of a webhook, as text that follows other lines. */
export const webhookLines = ({ url, attempts }: NonNullable<OperatorRunDetail['webhook']>): string =>
  [
    '',
    `webhook attempts at ${plain(url)}`,
    ...attempts.flatMap(({ at, duration_ms, status, problem, response }) => [
      `  ${at}  ${status === undefined ? 'no answer' : `HTTP ${status}`} after ${duration_ms} ms${problem === undefined ? '' : `: ${plain(problem)}`}`,
      ...(response === undefined ? [] : [`    answer: ${plain(response)}`]),
    ]),
  ].join('\n');

function linesOf(attempt: OperatorAttempt): string[] {
  const { at, last_at, count, provider, phase, status, retry, reading, provider_request_id, reply } = attempt;
  const times = count === 1 ? '' : `, ${count} times until ${last_at ?? at}`;
  const answer = status === undefined ? 'no reply' : `HTTP ${status}`;
  return [
    `  ${at}  ${phase} at ${provider}: ${answer}, ${attempt.class}${retry ? `, retry ${retry}` : ''}${times}`,
    `    ${reading}`,
    ...(provider_request_id === undefined
      ? []
      : [`    provider's request id: ${plain(provider_request_id)}`]),
    ...(reply === undefined ? [] : [`    reply: ${plain(reply)}`]),
  ];
}

/** In one line, without the control characters by which a provider could change a terminal. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
