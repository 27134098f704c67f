import { cut, essenceOf, type Json } from '#schemas';
import type { HttpReply, ProviderFailure, Surprise } from './contract.js';
import { isListedStatus } from './failure.js';

const maxWord = 60;

/** A status word that the provider does not list; an empty one if the reply has none. */
export const unknownStatus = (phase: string, words: readonly string[]): Surprise => ({
  kind: 'unknown_status',
  note:
    words.length === 0
      ? `The reply to ${phase} names no status.`
      : `The reply to ${phase} has the status ${words.map((word) => `“${cut(word, maxWord)}”`).join(', ')}.`,
});

/**
 * An error that no rule of the provider matches, in a form that its declaration does not describe. Undefined for one
 * whose status or plain text says enough. Outages are expected to answer anything, so errors from 500 on are none.
 */
export function unknownError(
  phase: string,
  reply: HttpReply,
  json: Json | undefined,
  {
    class: failureClass,
    fields,
    listed,
  }: Pick<ProviderFailure, 'class' | 'fields'> & { listed: readonly number[] },
): Surprise | undefined {
  const { status } = reply;
  const why = formOf();
  return why === undefined
    ? undefined
    : { kind: 'unknown_error', note: `The reply to ${phase} is HTTP ${status} with ${why}.` };

  function formOf(): string | undefined {
    if (listed.includes(status)) return undefined;
    if (!isListedStatus(status)) return 'a status that is not documented';
    if (status >= 500 || [404, 408, 425, 429].includes(status)) return undefined;
    if (json === undefined) return isPlain(reply) ? undefined : 'a body that is neither JSON nor plain text';
    return failureClass === 'rejected_input' && fields === undefined
      ? 'a rejected input in an unknown form'
      : undefined;
  }
}

const isPlain = ({ headers, body }: HttpReply): boolean =>
  body.length === 0 || essenceOf(headers['content-type']) === 'text/plain';
