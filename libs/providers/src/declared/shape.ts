import { routerProviderSegment } from '#schemas';
import { z } from 'zod';
import { baseUrl } from '../base-url.js';
import { check } from './check-shape.js';
import { credential } from './credential-shape.js';
import { generated } from './generated.js';
import {
  account,
  condition,
  header,
  headers,
  pointer,
  pointers,
  rule,
  status,
  takenHeaders,
} from './rule-shape.js';
import { stream } from './stream-shape.js';
import { callerTools, providerTools, tokenCount } from './tool-shape.js';

const seconds = z.number().positive().max(3600);
const word = z.enum(['queued', 'running', 'succeeded', 'failed', 'canceled']);

const forcedNames = z.array(z.string().min(1));

const encode = z
  .union([
    z.strictObject({
      envelope: z.string().min(1).describe('The field of the body that contains the caller’s input.'),
      upstream_fields: z
        .array(z.string())
        .default([])
        .describe('Entries of the row’s `upstream` that are added to the body as fields of the same names.'),
    }),
    z.strictObject({
      form: z
        .strictObject({
          files: z
            .array(z.string())
            .default([])
            .describe('Fields with base64 or a data: URL, which are sent as files.'),
          lists: z
            .record(z.string(), z.string().min(1))
            .default({})
            .describe(
              'Fields with a list whose elements are sent as fields of their own, and the name of these fields. Other lists are sent as JSON.',
            ),
        })
        .describe('Sends each field of the input as a field of `multipart/form-data`.'),
    }),
    z.strictObject({
      asset_fields: z
        .strictObject({
          key: z.string().min(1).describe('The key of each value in its new object.'),
          fields: z
            .record(
              z.string(),
              z.strictObject({
                name: z.string().min(1).describe('The name of the field in the body.'),
                list: z
                  .literal(true)
                  .optional()
                  .describe('Sends a list with one object per element of the value.'),
              }),
            )
            .describe('The fields to wrap, by their names in the input.'),
          force_false: forcedNames
            .default([])
            .describe('Fields that request another kind of reply. As in `force_false` of `encode`.'),
        })
        .describe(
          'Wraps the values of fields in objects. For example, with the key `image_url`, `"image": "u"` becomes `"images": [{"image_url": "u"}]`.',
        ),
    }),
    z.strictObject({
      set: z
        .record(z.string(), z.json())
        .describe(
          'Fields that the router sets, replacing any value from the caller. {uuid} in a text is a UUID of the run, which is the same in every attempt.',
        ),
      list: z.literal(true).optional().describe('Sends the body as the only element of a list.'),
    }),
    z.strictObject({
      force_false: forcedNames
        .min(1)
        .describe(
          'Fields that request another kind of reply, such as `background`. An input in which one is true is rejected, except for the `member` of `stream`. In inputs that earlier releases accepted, they are sent as false.',
        ),
    }),
  ])
  .describe('How the body is built from the input. Without it, the body is the input, byte for byte.');

const template = z
  .string()
  .min(1)
  .describe('A text with placeholders in braces: {base}, {upstream.<name>}, or the name of a handle field.');

const url = z
  .union([template, z.array(template).min(1)])
  .describe('The URL of the call. In a list, the first URL whose values are all known is used.');

const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE') =>
  z.strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).default(method).describe('The HTTP method.'),
    url,
    headers: headers
      .optional()
      .describe('Additional headers. {<name>} is replaced by a handle field that comes from `upstream`.'),
    body: z
      .json()
      .optional()
      .describe('The body, sent as JSON. Its texts may contain the same placeholders as the URL.'),
  });

const replyPath = pointer.describe('The place of the value in the reply.');

/** How one kind of run is started, polled and read. */
const protocol = z.strictObject({
  submit: z
    .strictObject({
      url: template.describe(
        'The URL of the POST: {base}/ and a path, which may contain {upstream.<name>} and {input.<name>}. The latter is a text field of the input, which is then left out of the body.',
      ),
      headers: headers
        .optional()
        .describe('Additional headers. {upstream.<name>} is replaced by an entry of the model’s row.'),
      encode: encode.optional(),
      variant: z
        .strictObject({
          contains: z
            .array(z.string())
            .min(1)
            .describe('Fields of the input. The variant is used if one of them has a value.'),
          url: template.describe('The URL for such an input.'),
          encode: encode.optional(),
        })
        .optional()
        .describe(
          'A different URL and encoding for inputs with certain fields. It is used only for models whose row has all values of the URL.',
        ),
      base64: z
        .array(
          z.strictObject({
            path: pointer.describe('The place of the file in the input.'),
            format: z
              .literal('data_url')
              .optional()
              .describe('Sends a data: URL. Without it, plain base64 is sent.'),
          }),
        )
        .optional()
        .describe(
          'Places in the input where the provider expects a file in base64. There, the router replaces the URL of an uploaded file by its content.',
        ),
      upload: z
        .strictObject({
          paths: z
            .array(pointer)
            .min(1)
            .describe('Places in the input where the provider expects the id of an upload.'),
          url: template.describe(
            'The URL, beginning with {base}/, that accepts one file as `multipart/form-data`.',
          ),
          part: z
            .string()
            .regex(/^[\w.[\]-]+$/)
            .describe('The name of the form field with the file.'),
          id: pointer.describe('The place of the id in the reply.'),
        })
        .optional()
        .describe(
          'The call that uploads a file to the provider before the submission. The id replaces the URL of a file uploaded to the router, or a data: URL.',
        ),
      retry_statuses: z
        .array(status)
        .default([])
        .describe(
          'HTTP statuses, besides 429, which mean that the provider did not accept the submission. The submission is then repeated.',
        ),
      timeout_seconds: seconds.default(30).describe('The time limit of a submission, in seconds.'),
    })
    .describe('The call that starts a run.'),
  handle: z
    .record(
      z
        .string()
        .regex(
          /^(?!(v|step|base|secret|upstream)$)[a-zA-Z][a-zA-Z0-9_]*$/,
          'expected a name of letters and digits',
        ),
      z.union([
        z.strictObject({
          path: replyPath,
          url: z.literal(true).optional().describe('Marks a value that is a URL to call.'),
          optional: z.literal(true).optional().describe('Marks a value that the reply may lack.'),
        }),
        z.strictObject({
          path: replyPath,
          polled: z.literal(true).describe('Reads the value from the last poll, for use in the fetch.'),
        }),
        z.strictObject({
          upstream: z.string().min(1).describe('The name of the entry in the row’s `upstream`.'),
        }),
      ]),
    )
    .optional()
    .describe(
      'The values that identify the run in later calls. They come from the reply to the submission, from the model’s row, or, for the fetch, from the last poll.',
    ),
  poll: call('GET')
    .extend({
      status: z
        .union([pointer, z.literal('http')])
        .describe('The place of the status in the reply, or `http` to use the HTTP status.'),
      statuses: z
        .record(z.string(), word)
        .describe(
          'The meaning of each status, and of a reply without one (an empty name). A status without an entry means `running`, and is counted as an unexpected reply.',
        ),
      interval_seconds: seconds.min(0.05).describe('The pause between two polls, in seconds.'),
      progress: z
        .strictObject({
          path: pointer.describe('The place of the progress in the reply, a number.'),
          max: z
            .number()
            .positive()
            .default(1)
            .describe('The progress of a finished run: 1 for fractions, 100 for percent.'),
        })
        .optional()
        .describe('The progress of the generation, if the replies report it.'),
    })
    .optional()
    .describe(
      'The call that reads the status of the run. Without it, the reply to the submission is the result.',
    ),
  fetch: call('GET')
    .optional()
    .describe(
      'The call that gets the result after a successful poll. Without it, the last poll is the result.',
    ),
  cancel: call('POST')
    .extend({
      replies: z
        .array(
          z.strictObject({
            http: status.optional().describe('The HTTP status that the reply must have.'),
            path: pointer.optional().describe('The place in the reply that must have the value of `equals`.'),
            equals: z
              .union([z.string(), z.boolean()])
              .optional()
              .describe('The value that `path` must have.'),
            answer: z
              .enum(['requested', 'too_late'])
              .describe(
                '`requested` if the provider will try to cancel, `too_late` if the run has already ended.',
              ),
          }),
        )
        .default([])
        .describe('The meaning of replies. The first match counts.'),
    })
    .optional()
    .describe('The call that cancels a run. It is skipped if a value of its URL is missing.'),
  rules: z.array(rule).default([]).describe('The replies that are failures. The first matching rule counts.'),
  retry_after: pointer
    .optional()
    .describe(
      'The place of the waiting time in an error reply, in seconds. It is used if there is no `Retry-After` header.',
    ),
  result_paths: z
    .union([z.array(pointer), z.literal('assets')])
    .optional()
    .describe(
      'Places in a JSON result. If none of them has a value, the run costs only what the provider reports. An empty list accepts only files. `assets` stands for the `assets` of the model’s row.',
    ),
  success_when: z
    .array(z.union([condition, z.array(condition).min(1)]))
    .min(1)
    .optional()
    .describe('Conditions on a result. At least one must hold. In an inner list, all conditions must hold.'),
  file_results: z
    .literal(true)
    .optional()
    .describe(
      'Accepts a result that is the file itself: a successful reply whose content type is image, audio, video or model, or whose content is neither text nor JSON.',
    ),
  caller_tools: callerTools,
  provider_tools: providerTools,
  token_count: tokenCount,
  stream: stream
    .optional()
    .describe(
      'How the provider streams the result. Callers can then request server-sent events, which they receive unchanged.',
    ),
  rejections: z
    .strictObject({
      msg: pointers.describe('The place or places of the error message.'),
      type: pointers.optional().describe('The place or places of the type of the error.'),
      field: pointer.optional().describe('The place of the name of the invalid field.'),
    })
    .optional()
    .describe(
      'The places of the error in the reply to a rejected input. Without it, the reply is read in FastAPI’s format.',
    ),
});

/** A provider in a file of a catalog directory: its protocol, or several with the fields that they share. */
export const providerRow = z
  .strictObject({
    provider: routerProviderSegment.describe(
      'The name of the provider. It is the first segment of model ids, and part of the settings PROVIDER_<NAME>_BASE_URL and PROVIDER_<NAME>_KEY.',
    ),
    base: baseUrl().describe('The base URL of the API, without a trailing slash.'),
    credential_origins: z
      .array(
        z
          .string()
          .regex(
            /^https:\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/,
            'expected an origin such as https://*.provider.example',
          ),
      )
      .default([])
      .describe(
        'Origins besides that of `base` that may be polled and that receive the key. `*.` matches subdomains.',
      ),
    assets_need_key: z
      .boolean()
      .default(false)
      .describe(
        'Whether the key is needed to download assets from these origins. If false, they are downloaded without it.',
      ),
    snake_and_camel_case: z
      .boolean()
      .default(false)
      .describe(
        'Whether the provider accepts each field in both snake case and camel case, like protobuf’s JSON. The router then reads both in the input.',
      ),
    assets_from_base: z
      .boolean()
      .default(false)
      .describe(
        'Whether assets are served by the origin of `base`, which may then be a private address. Callers can then read everything that this origin serves without the key.',
      ),
    auth: headers
      .default({})
      .describe('Headers that authenticate each call. {secret} is replaced by the key.'),
    input_headers: takenHeaders.default({}),
    auth_query: z
      .record(z.string().min(1), z.string())
      .default({})
      .describe('Query parameters that authenticate each call. {secret} is replaced by the key.'),
    credential: credential
      .optional()
      .describe('A credential that is derived from the key, instead of `auth` or in addition to it.'),
    account: account
      .optional()
      .describe(
        'Replies that report a problem with our account. A submission then fails, a poll is repeated, and the operator gets an alert. They are checked before `rules`, except for content-policy rules. If neither covers an HTTP status from 400 to 429, texts such as “insufficient credits” or “monthly quota” count as account problems.',
      ),
    check: check
      .optional()
      .describe('A free call that proves the key, for `admin provider check` and the console.'),
    unique_header: header.optional().describe('The name of a header that gets a new UUID in every call.'),
    ...protocol.shape,
    submit: protocol.shape.submit.optional().describe('The call that starts a run.'),
    protocols: z
      .record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'expected a name of letters and digits'), protocol)
      .refine((several) => Object.keys(several).length > 0, { message: 'expected at least one protocol' })
      .optional()
      .describe(
        'Several protocols by name, instead of `submit`. The fields of a protocol override those of the file, and its rules come first. A row selects one with `upstream.protocol`; by default, the first is used.',
      ),
    generated,
  })
  .refine(({ submit, protocols }) => (submit === undefined) !== (protocols === undefined), {
    message: 'expected either submit or protocols',
  });

export type ProviderRow = z.infer<typeof providerRow>;

/** One protocol of a provider, with the fields that all protocols share. */
export type ProtocolRow = Omit<ProviderRow, 'protocols'> & z.infer<typeof protocol>;

/** The protocols of a file by name. A single protocol has an empty name. */
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
