import { routerProviderSegment } from '#schemas';
import { z } from 'zod';
import { baseUrl } from '../base-url.js';
import { credential } from './credential-shape.js';
import { encode } from './encode-shape.js';
import { account, condition, header, pointer, pointers, rule, status } from './rule-shape.js';

const headers = z.record(header, z.string().regex(/^[\t\x20-\x7e]*$/, 'visible ASCII characters'));
const seconds = z.number().positive().max(3600);
const word = z.enum(['queued', 'running', 'succeeded', 'failed', 'canceled']);

const template = z
  .string()
  .min(1)
  .describe('A text with values in braces: {base}, {upstream.<name>}, or the name of a handle field.');

const url = z
  .union([template, z.array(template).min(1)])
  .describe('The address; of several the first whose values are all there.');

const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE') =>
  z.strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).default(method).describe('The HTTP method.'),
    url,
    headers: headers
      .optional()
      .describe('More header fields; {<name>} is a value of the handle that the row gave.'),
    body: z.json().optional().describe('Sent as JSON; its texts are templates.'),
  });

/** How one kind of generation is started, followed and read. */
const protocol = z.strictObject({
  submit: z
    .strictObject({
      url: template.describe('The address of the POST: {base}/ and {upstream.<name>}.'),
      headers: headers.optional().describe('More header fields; {upstream.<name>} is of the model’s row.'),
      encode: encode.optional(),
      variant: z
        .strictObject({
          members: z.array(z.string()).min(1).describe('Members of the input.'),
          url: template.describe('The address for such an input.'),
          encode: encode.optional(),
        })
        .optional()
        .describe(
          'The address and encoding for an input that holds one of these members, if the model’s row has the values of the address.',
        ),
      base64: z
        .array(
          z.strictObject({
            at: pointer.describe('The place in the input.'),
            as: z.literal('data_url').optional().describe('As a data: URL; left out, bare.'),
          }),
        )
        .optional()
        .describe(
          'Places in the input that take a file in base64: the URL of a file that was uploaded to the router is replaced by it.',
        ),
      upload: z
        .strictObject({
          at: z
            .array(pointer)
            .min(1)
            .describe('Places in the input that take the id of an upload: files there are uploaded first.'),
          url: template.describe('The address that takes one file as multipart/form-data: {base}/.'),
          part: z
            .string()
            .regex(/^[\w.[\]-]+$/)
            .describe('The field that the file is.'),
          id: pointer.describe('Where its reply has the id.'),
        })
        .optional()
        .describe(
          'The call that gives a file to the provider before the submission. The URL of a file that was uploaded to the router, or a data: URL, stands in the input for the id.',
        ),
      refusals: z
        .array(status)
        .default([])
        .describe(
          'Statuses beside 429 that say that it has not accepted the submission, which is made again.',
        ),
      timeout_seconds: seconds.default(30).describe('How long a submission may take.'),
    })
    .describe('The call that starts a generation.'),
  handle: z
    .record(
      z
        .string()
        .regex(/^(?!(v|step|base|secret|upstream)$)[a-zA-Z][a-zA-Z0-9_]*$/, 'a name of letters and digits'),
      z.union([
        z.strictObject({
          at: pointer.describe('Where the value stands in the reply.'),
          url: z.literal(true).optional().describe('It is an address to call.'),
          optional: z.literal(true).optional().describe('It may be missing.'),
        }),
        z.strictObject({
          at: pointer.describe('Where the value stands in the reply.'),
          polled: z.literal(true).describe('Of the last poll, for the fetch.'),
        }),
        z.strictObject({ upstream: z.string().min(1).describe('The name in the row’s `upstream`.') }),
      ]),
    )
    .optional()
    .describe(
      'What is kept to find the generation again: of the submit reply, of the model row’s address, or, for the fetch, of the poll that says that it has ended (polled).',
    ),
  poll: call('GET')
    .extend({
      status: z
        .union([pointer, z.literal('http')])
        .describe('Where its word for the state stands, or `http` for the status of the reply.'),
      statuses: z
        .record(z.string(), word)
        .describe('What its words mean; one that is missing here means running.'),
      every_seconds: seconds.min(0.05).describe('The pause between two polls.'),
      progress: z
        .strictObject({
          at: pointer.describe('Where the number stands.'),
          of: z.number().positive().default(1).describe('The number that means all.'),
        })
        .optional()
        .describe('How far it is, where the replies say so.'),
    })
    .optional()
    .describe('The call that asks how it is doing; without it the submit reply is the result.'),
  fetch: call('GET')
    .optional()
    .describe(
      'The call that gets the result of what has succeeded; without it the poll’s reply is the result.',
    ),
  cancel: call('POST')
    .extend({
      replies: z
        .array(
          z.strictObject({
            http: status.optional().describe('The status of the reply.'),
            where: pointer.optional().describe('The place that must hold something, or hold what `is` says.'),
            is: z.union([z.string(), z.boolean()]).optional().describe('The value at `where`.'),
            answer: z
              .enum(['requested', 'too_late'])
              .describe('Whether the provider will try, or has ended already.'),
          }),
        )
        .default([])
        .describe('What its replies mean; the first that fits counts.'),
    })
    .optional()
    .describe('The call that cancels; there is none for a run that lacks a value of its address.'),
  rules: z.array(rule).default([]).describe('Replies that are failures; the first rule that holds counts.'),
  retry_after: pointer
    .optional()
    .describe('Where an error body says how many seconds to wait, if no Retry-After header does.'),
  result_at: z
    .union([z.array(pointer), z.literal('assets')])
    .optional()
    .describe(
      'A JSON result with nothing at any of these places is no result; an empty list: no JSON is, only the file itself; `assets`: the places are the `assets` of the model’s row.',
    ),
  success_when: z
    .array(z.union([condition, z.array(condition).min(1)]))
    .min(1)
    .optional()
    .describe(
      'The replies that are a result, where the provider names a state: one that fits none of these conditions is no result. Conditions of an inner list hold together.',
    ),
  files: z
    .literal(true)
    .optional()
    .describe(
      'A result may be the file itself: a success that is an image, audio, a video or a model by its content type, or neither text nor JSON.',
    ),
  rejections: z
    .strictObject({
      msg: pointers.describe('Where the sentence stands.'),
      type: pointers.optional().describe('Where the kind of error stands.'),
      field: pointer.optional().describe('Where the name of the field stands.'),
    })
    .optional()
    .describe('Where a rejected input is worded as one sentence; left out, as FastAPI does.'),
});

/** One provider as a file of a catalog directory: its protocol, or several beside what they share. */
export const providerRow = z
  .strictObject({
    provider: routerProviderSegment.describe(
      'The provider segment of model ids; also names PROVIDER_<NAME>_BASE_URL and _KEY.',
    ),
    base: baseUrl().describe('Where the API is reached, without a trailing slash.'),
    credential_origins: z
      .array(
        z
          .string()
          .regex(/^https:\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'such as https://*.provider.example'),
      )
      .default([])
      .describe('Origins beside that of the base that may see the key and be polled.'),
    assets_need_key: z
      .boolean()
      .default(false)
      .describe('Whether assets on these origins open with the key alone; else it is not sent for them.'),
    both_spellings: z
      .boolean()
      .default(false)
      .describe(
        'Whether its JSON is protobuf’s, which takes each field in snake case and in camel case: what is read of the input is then read in both.',
      ),
    assets_from_base: z
      .boolean()
      .default(false)
      .describe(
        'Whether assets lie on the origin of the base, which is called for them although it is not public: whatever else opens there without the key can be read by callers.',
      ),
    auth: headers.default({}).describe('Header fields that authenticate a call; {secret} is the key.'),
    auth_query: z
      .record(z.string().min(1), z.string())
      .default({})
      .describe('The same in the query of each address, for a provider that takes its key there.'),
    credential: credential
      .optional()
      .describe('In the place of `auth`, or beside it: what is made of the key for each call, by its name.'),
    account: account
      .optional()
      .describe(
        'How the provider reports trouble with our account. A submission ends with it, a poll is repeated, and the operator gets an alert. It is read before the rules, except those that say that content was refused. Where both are silent about an HTTP status from 400 to 429, words such as “insufficient credits” or “monthly quota” mean the same.',
      ),
    unique_header: header.optional().describe('A header field that gets a new UUID in every call.'),
    ...protocol.shape,
    submit: protocol.shape.submit.optional().describe('The call that starts a generation.'),
    protocols: z
      .record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'a name of letters and digits'), protocol)
      .refine((several) => Object.keys(several).length > 0, { message: 'at least one protocol' })
      .optional()
      .describe(
        'In the place of `submit`: several protocols by name. The fields of each count before those of the file, its rules too. A row names one as `upstream.protocol`; without it the first counts.',
      ),
  })
  .refine(({ submit, protocols }) => (submit === undefined) !== (protocols === undefined), {
    message: 'either submit or protocols',
  });

export type ProviderRow = z.infer<typeof providerRow>;

/** One protocol of a provider, with all that it shares with the others. */
export type ProtocolRow = Omit<ProviderRow, 'protocols'> & z.infer<typeof protocol>;

/** The protocols of a file by name; the only one of a file has none. */
export function protocolsOf({
  protocols,
  submit,
  ...shared
}: ProviderRow): [name: string, row: ProtocolRow][] {
  if (submit) return [['', { ...shared, submit }]];
  return Object.entries(protocols ?? {}).map(([name, own]) => [
    name,
    { ...shared, ...own, rules: [...own.rules, ...shared.rules] },
  ]);
}
