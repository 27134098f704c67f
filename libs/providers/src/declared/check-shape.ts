import { z } from 'zod';
import type { CheckSpec } from '../check-spec.js';
import { condition, conditionOf, headers, pointer } from './rule-shape.js';

/** A free call that proves the key. */
export const check = z.strictObject({
  method: z.enum(['GET', 'POST']).default('GET').describe('The HTTP method.'),
  url: z
    .string()
    .min(1)
    .describe(
      'The URL of the call: {base}/ and a path, or an absolute URL on the origin of `base` or on one of `credential_origins`. With another base, such as that of a proxy, the path of an absolute URL is appended to it.',
    ),
  headers: headers.optional().describe('Additional headers. The call authenticates like every other.'),
  body: z.json().optional().describe('The body, sent as JSON.'),
  ok: z
    .array(condition)
    .min(1)
    .optional()
    .describe(
      'Replies that accept the key. At least one must hold. Defaults to JSON with any status of 2xx.',
    ),
  rejected: z
    .array(condition)
    .min(1)
    .optional()
    .describe('Replies that reject the key, in addition to those of `account.key`, 401 and 403.'),
  balance: z
    .strictObject({
      path: pointer.describe('The place of the balance. If it has several values, they are added.'),
      unit: z.string().min(1).max(40).describe('Its unit, such as `credits` or `USD`.'),
    })
    .optional()
    .describe('Our balance in a reply that accepts the key.'),
  source: z.string().min(1).describe('The URL of the document that shows the call.'),
  date: z.iso.date().describe('The day on which the document was read.'),
});

/** The fields of a provider's file that concern its check. */
interface CheckedRow {
  check?: z.infer<typeof check> | undefined;
  unique_header?: string | undefined;
  base: string;
  credential_origins: readonly string[];
}

export const checkOf = ({
  check: declared,
  unique_header: uniqueHeader,
}: CheckedRow): CheckSpec | undefined =>
  declared && {
    ...declared,
    uniqueHeader,
    ok: declared.ok?.map(conditionOf),
    rejected: declared.rejected?.map(conditionOf),
  };

/** The key is sent to the URL, so nothing but the file's own origins may be named. */
export function* checkProblems({ check: declared, base, credential_origins: origins }: CheckedRow) {
  if (declared === undefined || /^\{base\}\/[^{}]*$/.test(declared.url)) return;
  const { origin } = URL.canParse(declared.url) ? new URL(declared.url) : {};
  const known = [new URL(base).origin, ...origins];
  if (origin !== undefined && known.includes(origin) && !/[{}]/.test(declared.url)) return;
  yield {
    path: ['check', 'url'],
    message: 'the address must start with {base}/, or be on the origin of base or in credential_origins',
  };
}
