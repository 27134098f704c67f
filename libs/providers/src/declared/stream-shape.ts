import { z } from 'zod';
import type { StreamSpec } from '../event-fold.js';
import type { StreamTerms } from '../contract.js';
import { conditionOf, eventCondition, pointer, pointers, status } from './rule-shape.js';

const place = z.union([pointer, z.literal('')]);

/** How a provider streams a result, and how its events form the result. */
export const stream = z.strictObject({
  member: z
    .string()
    .min(1)
    .describe('The field of the input that requests a stream when it is true, such as `stream`.'),
  include_usage: z
    .literal(true)
    .optional()
    .describe(
      'Whether the provider reports the usage of a stream only on request. The router then adds `stream_options.include_usage` unless the caller sets it, and keeps the event that has only the usage from the caller.',
    ),
  max_tokens: z
    .array(pointer)
    .default([])
    .describe(
      'The places in the input of the maximum number of tokens of the answer. If a stream breaks off before its usage arrives, the terms of the price that depend on them are billed for the text that arrived.',
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
    .min(1)
    .describe(
      'The places of the text in an event, whose parts are joined and counted. If an inner list has several places with text, the first is counted.',
    ),
  usage_when: eventCondition
    .optional()
    .describe('The event that reports the final usage. Defaults to any event with usage.'),
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

export const streamSpecOf = ({
  member,
  include_usage: includeUsage,
  max_tokens: maxTokens,
  fold,
  usage_when: usageWhen,
  end,
  error_when: errorWhen,
  error_status: errorStatus,
  ...same
}: Declared): StreamSpec => ({
  ...same,
  request: { member },
  includeUsage,
  maxTokens,
  fold: fold.map(({ when, ...places }) => ({ ...places, when: when && conditionOf(when) })),
  usageWhen: usageWhen && conditionOf(usageWhen),
  end: typeof end === 'string' ? end : end.map(conditionOf),
  errorWhen: conditionOf(errorWhen),
  errorStatus,
});

export const streamTermsOf = ({ member, max_tokens: maxTokens, text }: Declared): StreamTerms => ({
  request: { member },
  maxTokens,
  text,
});
