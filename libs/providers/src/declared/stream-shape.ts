import { z } from 'zod';
import type { StreamSpec } from '../event-fold.js';
import type { HttpCall, StreamTerms } from '../contract.js';
import { conditionOf, eventCondition, pointer, pointers, status } from './rule-shape.js';
import { filled } from './templates.js';

const place = z.union([pointer, z.literal('')]);

/** How a provider streams a result, and how its events form the result. */
export const stream = z.strictObject({
  member: z
    .string()
    .min(1)
    .describe('The field of the input that requests a stream when it is true, such as `stream`.'),
  value: z.string().min(1).optional().describe('The value of `member` that requests a stream, if not true.'),
  include_usage: z
    .literal(true)
    .optional()
    .describe(
      'Whether the provider reports the usage of a stream only on request. The router then sets `stream_options.include_usage`, and keeps the event that has only the usage from a caller who did not set it. `answered` and `usage_when` are then those of OpenAI’s chat completions by default.',
    ),
  max_tokens: z
    .array(pointer)
    .default([])
    .describe(
      'The places in the input of the maximum number of tokens of the answer. If a stream ends before its usage arrives, the terms of the price that depend on them are billed for what the model wrote.',
    ),
  fold: z
    .array(
      z.strictObject({
        when: eventCondition.optional().describe('The events that have the value. Defaults to all events.'),
        from: place.default('').describe('The place of the value in the event, or "" for the whole event.'),
        to: z
          .union([pointer, z.literal('')])
          .default('')
          .describe(
            'The place of the value in the reply, or "" for the whole reply. {<name>} is replaced by the number of that name in the event.',
          ),
      }),
    )
    .min(1)
    .describe(
      'How the events form the reply that the provider would send without a stream, which rules, `success_when` and prices then read. Objects are merged, and later values replace earlier ones unless they are null.',
    ),
  names: z
    .record(z.string(), z.string().min(1))
    .default({})
    .describe('Fields of events that have another name in the reply, such as `delta` for `message`.'),
  appended: z
    .array(pointer)
    .default([])
    .describe(
      'Lists in events whose elements are appended to those of earlier events. Elements of other lists are merged by their `index`, or by their position.',
    ),
  text: z
    .array(pointers)
    .default([])
    .describe(
      'The places of the text in an event, whose parts are joined. If an inner list has several places with text, the first is shown. Empty for pictures and sounds.',
    ),
  written: z
    .array(place)
    .optional()
    .describe(
      'The places in an event of everything that the model writes, such as text, reasoning and tool calls. If a stream ends before its usage arrives, every text in them counts. Defaults to the places of `text`, up to a member `delta`.',
    ),
  written_tokens: z
    .array(pointer)
    .default([])
    .describe(
      'The places in the reply of the numbers of tokens that the model wrote. A usage that arrived early is billed with at least the tokens that arrived.',
    ),
  answered: z
    .union([
      z.strictObject({
        every: z
          .string()
          .regex(
            /^(\/[^/*]+)+\/\*(\/[^/*]+)+$/,
            'expected a pointer with one `*`, such as /choices/*/finish_reason',
          )
          .describe('The place in the reply that every element of a list has by then.'),
      }),
      z.array(eventCondition).min(1),
    ])
    .optional()
    .describe(
      'The last part of the answer: events, or a place in the reply. If the caller leaves the stream later, the router reads on for the usage, at most ten seconds.',
    ),
  usage_when: eventCondition
    .optional()
    .describe(
      'The event that reports the usage. It is final in or after the last part of the answer. By default, the usage is final at the end.',
    ),
  record: z
    .strictObject({
      id: pointer.describe('The place in the reply of the id of the record.'),
      url: z
        .string()
        .regex(/^\{base\}.*\{id\}/, 'expected {base} and {id}')
        .describe('The address of the record. {id} is replaced by the id.'),
      usage: z
        .array(
          z.strictObject({
            from: pointer.describe('The place in the record.'),
            to: pointer.describe('The place in the reply.'),
          }),
        )
        .min(1)
        .describe('The usage in the record, and its places in the reply.'),
    })
    .optional()
    .describe(
      'The record that the provider keeps of a stream. If the caller leaves before the usage arrives, the router reads the cost from it.',
    ),
  end: z
    .union([z.string().min(1), z.array(eventCondition).min(1)])
    .describe(
      'The last event of a complete stream: its data, such as `[DONE]`, or conditions, of which one must hold.',
    ),
  error_when: eventCondition.describe('The event that reports an error.'),
  error_status: pointer
    .default('/error/code')
    .describe(
      'The place in an error of its HTTP status or of a word in `statuses`. An error without either counts as 500.',
    ),
  statuses: z
    .record(z.string(), status.min(400))
    .default({})
    .describe('The HTTP status of each error, with which rules and account reports read it.'),
});

type Declared = z.infer<typeof stream>;

const chatAnswered = { every: '/choices/*/finish_reason' };
const chatUsage = { path: '/usage' } as const;

export const streamSpecOf = (
  base: string,
  {
    member,
    value,
    include_usage: includeUsage,
    max_tokens: maxTokens,
    fold,
    written_tokens: writtenTokens,
    answered = includeUsage && chatAnswered,
    usage_when: usageWhen = includeUsage && chatUsage,
    end,
    error_when: errorWhen,
    error_status: errorStatus,
    record,
    ...same
  }: Declared,
): StreamSpec => ({
  ...same,
  request: { member, ...(value !== undefined && { value }) },
  includeUsage,
  maxTokens,
  fold: fold.map(({ when, ...places }) => ({ ...places, when: when && conditionOf(when) })),
  writtenTokens,
  answered: Array.isArray(answered) ? { when: answered.map(conditionOf) } : answered,
  usageWhen: usageWhen && conditionOf(usageWhen),
  end: typeof end === 'string' ? end : end.map(conditionOf),
  errorWhen: conditionOf(errorWhen),
  errorStatus,
  record: record && { ...record, call: (id) => recordCall(record.url, base, id) },
});

const recordCall = (url: string, base: string, id: string): HttpCall => ({
  method: 'GET',
  url: filled(url, (name) => (name === 'base' ? base : encodeURIComponent(id))) ?? url,
});

export const streamTermsOf = ({ member, value, max_tokens: maxTokens, text }: Declared): StreamTerms => ({
  request: { member, ...(value !== undefined && { value }) },
  maxTokens,
  text,
});
