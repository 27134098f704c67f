import { z } from 'zod';
import { pointer } from './rule-shape.js';

export const callerTools = z
  .record(z.string(), z.number().min(0))
  .optional()
  .describe(
    'The kinds of tools that run at the caller, and how many tokens the provider adds to the text of each. Prices count their text; all other tools may add any number of tokens. The kind is the `type` of the tool. A tool without one is of the kind "" or, if that is not listed, of the kinds that its fields name. `bash_*` matches kinds that begin with “bash_”.',
  );

const calls = z.union([
  z.strictObject({ path: pointer.describe('The place in the reply of the number of calls.') }),
  z.strictObject({
    count: pointer.describe(
      'The place in the reply of the calls. Each element of a list and each different text there counts once.',
    ),
    only: z.record(z.string(), z.string()).optional().describe('Counts only objects that have these values.'),
    most: z.int().min(1).optional().describe('The most that are billed.'),
  }),
]);

const fee = z
  .strictObject({
    usd: z.number().positive().describe('The fee of one call in US dollars.'),
    reported: calls.describe('The part of the reply that tells the calls.'),
    early: calls
      .optional()
      .describe('The same in the events of a stream that ended before its usage, if that differs.'),
    limit: pointer.optional().describe('The place in the input of the maximum number of calls.'),
    tool_limit: pointer.optional().describe('The place in the tool of the maximum number of its calls.'),
    likely: z
      .number()
      .min(0)
      .describe('The calls of a run that are reserved, unless the input allows fewer.'),
    most: z.number().min(1).describe('The most calls of a run if the input sets no maximum, for its bound.'),
  })
  .optional()
  .describe('The fee of each call. Without it, only tokens are billed.');

export const providerTools = z
  .record(
    z.string(),
    z.strictObject({
      likely_tokens: z.number().min(0).describe('The tokens that its use likely adds to the input of a run.'),
      fee,
      source: z.url().describe('The document from which the fee was taken.'),
      date: z.iso.date().describe('The day on which it was read.'),
    }),
  )
  .optional()
  .describe(
    'The kinds of tools that run at the provider and whose cost is known, as in `caller_tools`. A run with any other tool reserves the whole context of its model.',
  );

export const tokenCount = z
  .strictObject({
    upstream: z.record(z.string(), z.string()).describe('The values that replace those of the model’s row.'),
    source: z.string().min(1).describe('The document that describes the call.'),
    date: z.iso.date().describe('The day on which the document was read.'),
  })
  .optional()
  .describe('The free call that counts the tokens of an input.');
