import { type Json, type JsonPointer, valueAt, valuesAt } from '#schemas';
import type { FailureClass, HttpReply } from '../../contract.js';
import { fieldError, type FieldReader, isObject, pathOf } from '../../fields.js';
import { jsonOf } from '../../reply.js';
import type { Rule } from '../../rules.js';

/** `error.code` of a failed operation: a google.rpc code, while HTTP error bodies have the HTTP status there. */
const operationCodes: Record<number, FailureClass | 'canceled'> = {
  1: 'canceled',
  3: 'rejected_input',
  4: 'provider_timeout',
  7: 'provider_account',
  8: 'provider_unavailable',
  9: 'rejected_input',
  14: 'provider_unavailable',
  16: 'provider_account',
};

const guidelines = /usage guidelines|support codes?:/i;

export const videoRules: readonly Rule[] = [
  { phase: 'submit', http: 400, path: '/error/message', matches: guidelines, class: 'content_policy' },
  { phase: 'poll', http: 200, path: '/error/message', matches: guidelines, class: 'content_policy' },
  ...Object.entries(operationCodes).map(([code, failure]): Rule => ({
    phase: 'poll',
    http: 200,
    path: '/error/code',
    equals: Number(code),
    class: failure,
    ...(failure === 'provider_account' && { account: 'key' as const }),
  })),
  { phase: 'poll', http: 200, path: '/error', class: 'provider_failed' },
  // Some videos may be filtered out; the run has a result if at least one is left.
  {
    phase: 'poll',
    http: 200,
    path: '/response/raiMediaFilteredCount',
    matches: /^[1-9]/,
    unless: '/response/videos/*',
    class: 'content_policy',
  },
];

/** Finish reasons of an answer that is complete or reached the caller's limit. */
export const ended = /^(STOP|MAX_TOKENS)$/;

/** Finish reasons of an answer that was refused or broken off. */
export const refused =
  /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_SAFETY|IMAGE_PROHIBITED_CONTENT|IMAGE_RECITATION)$/;

/** Rules for refused answers. An answer with a value at `result` was only cut off, and is a result. */
export const answerRules = (result: JsonPointer): readonly Rule[] => [
  { http: 400, path: '/error/message', matches: guidelines, class: 'content_policy' },
  {
    http: 200,
    path: '/promptFeedback/blockReason',
    matches: /^(SAFETY|OTHER|BLOCKLIST|PROHIBITED_CONTENT|IMAGE_SAFETY|MODEL_ARMOR|JAILBREAK)$/,
    unless: result,
    class: 'content_policy',
  },
  {
    http: 200,
    path: '/candidates/*/finishReason',
    matches: refused,
    unless: result,
    class: 'content_policy',
  },
  {
    http: 200,
    path: '/predictions/*/raiFilteredReason',
    unless: '/predictions/*/bytesBase64Encoded',
    class: 'content_policy',
  },
];

/** The answer without its thoughts: a draft among them, as text or as an image, is not a result. */
export function withoutThoughts(reply: HttpReply): Json | undefined {
  const answer = jsonOf(reply);
  if (!isObject(answer) || !valuesAt(answer, '/candidates/*/content/parts/*/thought').includes(true))
    return answer;
  return { ...answer, candidates: valuesAt(answer, '/candidates/*').map(withoutThought) };
}

function withoutThought(candidate: Json): Json {
  const content = valueAt(candidate, '/content');
  if (!isObject(candidate) || !isObject(content)) return candidate;
  const parts = valuesAt(content, '/parts/*').filter((part) => valueAt(part, '/thought') !== true);
  return { ...candidate, content: { ...content, parts } };
}

/** `fieldViolations` from the error's details or, if there are none, its message. */
export const violations: FieldReader = (body) => {
  const status = valueAt(body, '/error/status');
  const type = typeof status === 'string' ? status.toLowerCase() : undefined;
  const found = valuesAt(body, '/error/details/*/fieldViolations/*').map((violation) => {
    const field = valueAt(violation, '/field');
    return fieldError(
      typeof field === 'string' ? pathOf(field) : [],
      valueAt(violation, '/description'),
      type,
    );
  });
  const message = valueAt(body, '/error/message');
  if (found.length > 0 || typeof message !== 'string') return found.length > 0 ? found : undefined;
  return [fieldError([], message, type)];
};
