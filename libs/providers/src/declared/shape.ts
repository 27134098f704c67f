import { routerProviderSegment } from '#schemas';
import { z } from 'zod';
import { baseUrl } from '../base-url.js';
import { credential } from './credential-shape.js';
import { account, condition, header, pointer, pointers, rule, status } from './rule-shape.js';

const headers = z.record(header, z.string().regex(/^[\t\x20-\x7e]*$/, 'visible ASCII characters'));
const seconds = z.number().positive().max(3600);
const word = z.enum(['queued', 'running', 'succeeded', 'failed', 'canceled']);

const forcedNames = z.array(z.string().min(1));

const encode = z
  .union([
    z.strictObject({
      envelope: z.string().min(1).describe('The field of the body whose value is the caller’s input.'),
      upstream_fields: z
        .array(z.string())
        .default([])
        .describe('Entries of the row’s `upstream` that the body has beside the input.'),
    }),
    z.strictObject({
      form: z
        .strictObject({
          files: z
            .array(z.string())
            .default([])
            .describe('Fields that hold base64 or a data: URL and are sent as files.'),
        })
        .describe('Sends each field of the input as a field of multipart/form-data.'),
    }),
    z.strictObject({
      asset_fields: z
        .strictObject({
          key: z.string().min(1).describe('The key of the object that each value is wrapped in.'),
          fields: z
            .record(
              z.string(),
              z.strictObject({
                name: z.string().min(1).describe('The name of the field in the body.'),
                list: z
                  .literal(true)
                  .optional()
                  .describe('The body has a list, with an object for each element.'),
              }),
            )
            .describe('The fields to wrap, by their names in the input.'),
          force_false: forcedNames
            .default([])
            .describe('Fields that are sent as false when the caller sets them.'),
        })
        .describe(
          'Wraps files in objects: with the key `image_url`, `"image": "u"` becomes `"images": [{"image_url": "u"}]`.',
        ),
    }),
    z.strictObject({
      set: z
        .record(z.string(), z.json())
        .describe(
          'Fields that the router sets, in place of any value from the caller. {uuid} in a text is a UUID of the run, the same in every attempt.',
        ),
      list: z.literal(true).optional().describe('Sends the body as the only element of a list.'),
    }),
    z.strictObject({
      force_false: forcedNames
        .min(1)
        .describe('Fields that are sent as false when the caller sets them, such as `stream`.'),
    }),
  ])
  .describe('How the input becomes the body. Left out, the body is the input, byte for byte.');

const template = z
  .string()
  .min(1)
  .describe('A text with values in braces: {base}, {upstream.<name>}, or the name of a handle field.');

const url = z
  .union([template, z.array(template).min(1)])
  .describe('The address. In a list, the first address whose values are all known is used.');

const call = (method: 'GET' | 'POST' | 'PUT' | 'DELETE') =>
  z.strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).default(method).describe('The HTTP method.'),
    url,
    headers: headers.optional().describe('More header fields; {<name>} is a handle field with `upstream`.'),
    body: z.json().optional().describe('The body, sent as JSON; its texts are templates.'),
  });

const replyPath = pointer.describe('The place of the value in the reply.');

/** How one kind of generation is started, polled and read. */
const protocol = z.strictObject({
  submit: z
    .strictObject({
      url: template.describe('The address of the POST, made of {base}/ and {upstream.<name>}.'),
      headers: headers
        .optional()
        .describe('More header fields; {upstream.<name>} is an entry of the model’s row.'),
      encode: encode.optional(),
      variant: z
        .strictObject({
          contains: z
            .array(z.string())
            .min(1)
            .describe('Fields of the input; one of them must have a value.'),
          url: template.describe('The address for such an input.'),
          encode: encode.optional(),
        })
        .optional()
        .describe(
          'Another address and encoding for inputs with certain fields, for models whose row has the values of the address.',
        ),
      base64: z
        .array(
          z.strictObject({
            path: pointer.describe('The place in the input.'),
            format: z.literal('data_url').optional().describe('Sends a data: URL. Left out, bare base64.'),
          }),
        )
        .optional()
        .describe(
          'Places in the input where the provider takes a file in base64. The URL of a file that was uploaded to the router is replaced there by the file.',
        ),
      upload: z
        .strictObject({
          paths: z
            .array(pointer)
            .min(1)
            .describe('Places in the input where the provider takes the id of an upload.'),
          url: template.describe('The address that takes one file as multipart/form-data, made of {base}/.'),
          part: z
            .string()
            .regex(/^[\w.[\]-]+$/)
            .describe('The form field of the file.'),
          id: pointer.describe('The place of the id in the reply.'),
        })
        .optional()
        .describe(
          'The call that uploads a file to the provider before the submission. The id replaces the URL of a file that was uploaded to the router, or a data: URL.',
        ),
      retry_statuses: z
        .array(status)
        .default([])
        .describe(
          'HTTP statuses, besides 429, by which the provider says that it did not accept the submission. The submission is repeated.',
        ),
      timeout_seconds: seconds.default(30).describe('The time limit of a submission.'),
    })
    .describe('The call that starts a generation.'),
  handle: z
    .record(
      z
        .string()
        .regex(/^(?!(v|step|base|secret|upstream)$)[a-zA-Z][a-zA-Z0-9_]*$/, 'a name of letters and digits'),
      z.union([
        z.strictObject({
          path: replyPath,
          url: z.literal(true).optional().describe('The value is an address to call.'),
          optional: z.literal(true).optional().describe('The reply may lack the value.'),
        }),
        z.strictObject({
          path: replyPath,
          polled: z.literal(true).describe('Reads the value from the last poll, for the fetch.'),
        }),
        z.strictObject({
          upstream: z.string().min(1).describe('The name of the value in the row’s `upstream`.'),
        }),
      ]),
    )
    .optional()
    .describe(
      'Values by which the generation is found again: from the reply to the submission, from the model’s row, or, for the fetch, from the last poll.',
    ),
  poll: call('GET')
    .extend({
      status: z
        .union([pointer, z.literal('http')])
        .describe('The place of the status word in the reply, or `http` for the HTTP status.'),
      statuses: z
        .record(z.string(), word)
        .describe('The meaning of each status word. A word without an entry means `running`.'),
      interval_seconds: seconds.min(0.05).describe('The pause between two polls.'),
      progress: z
        .strictObject({
          path: pointer.describe('The place of the number in the reply.'),
          max: z.number().positive().default(1).describe('The number of a finished generation.'),
        })
        .optional()
        .describe('How far the generation is, if the replies tell.'),
    })
    .optional()
    .describe('The call that asks for the state. Left out, the reply to the submission is the result.'),
  fetch: call('GET')
    .optional()
    .describe('The call that gets the result of a successful poll. Left out, the last poll is the result.'),
  cancel: call('POST')
    .extend({
      replies: z
        .array(
          z.strictObject({
            http: status.optional().describe('The HTTP status of the reply.'),
            path: pointer.optional().describe('The place in the reply whose value is `equals`.'),
            equals: z.union([z.string(), z.boolean()]).optional().describe('The value at `path`.'),
            answer: z
              .enum(['requested', 'too_late'])
              .describe('Whether the provider will try to cancel, or the generation has already ended.'),
          }),
        )
        .default([])
        .describe('What the replies mean; the first match counts.'),
    })
    .optional()
    .describe('The call that cancels a generation. It is not made if a value of its address is missing.'),
  rules: z.array(rule).default([]).describe('Replies that are failures; the first rule that matches counts.'),
  retry_after: pointer
    .optional()
    .describe('The place in an error reply of the seconds to wait, used if there is no Retry-After header.'),
  result_paths: z
    .union([z.array(pointer), z.literal('assets')])
    .optional()
    .describe(
      'Places in a JSON result; if none has a value, the reply is no result. An empty list accepts files only, and `assets` stands for the places in the `assets` of the model’s row.',
    ),
  success_when: z
    .array(z.union([condition, z.array(condition).min(1)]))
    .min(1)
    .optional()
    .describe('Conditions on a result, one of which must hold. Those of an inner list must hold together.'),
  file_results: z
    .literal(true)
    .optional()
    .describe(
      'The result may be the file itself: a successful reply whose content type is image, audio, video or model, or whose content is neither text nor JSON.',
    ),
  rejections: z
    .strictObject({
      msg: pointers.describe('The place of the sentence.'),
      type: pointers.optional().describe('The place of the kind of error.'),
      field: pointer.optional().describe('The place of the field’s name.'),
    })
    .optional()
    .describe('The error in the reply to a rejected input. Left out, the reply is read in FastAPI’s format.'),
});

/** A provider in a file of a catalog directory: its protocol, or several with the fields that they share. */
export const providerRow = z
  .strictObject({
    provider: routerProviderSegment.describe(
      'The name of the provider: the first segment of model ids, and a part of PROVIDER_<NAME>_BASE_URL and PROVIDER_<NAME>_KEY.',
    ),
    base: baseUrl().describe('The base URL of the API, without a trailing slash.'),
    credential_origins: z
      .array(
        z
          .string()
          .regex(/^https:\/\/(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'such as https://*.provider.example'),
      )
      .default([])
      .describe('More origins that may be polled and that get the key, besides the origin of `base`.'),
    assets_need_key: z
      .boolean()
      .default(false)
      .describe('Whether assets on these origins need the key. If false, they are downloaded without it.'),
    snake_and_camel_case: z
      .boolean()
      .default(false)
      .describe(
        'Whether the provider accepts each field in snake case and in camel case, as protobuf’s JSON does. The router then reads both in the input.',
      ),
    assets_from_base: z
      .boolean()
      .default(false)
      .describe(
        'Whether assets are on the origin of `base`, which may then be a private address. Callers can read everything that this origin serves without the key.',
      ),
    auth: headers.default({}).describe('Header fields that authenticate a call; {secret} is the key.'),
    auth_query: z
      .record(z.string().min(1), z.string())
      .default({})
      .describe('Query parameters that authenticate a call; {secret} is the key.'),
    credential: credential
      .optional()
      .describe('A credential made from the key for each call, instead of `auth` or with it.'),
    account: account
      .optional()
      .describe(
        'Replies by which the provider reports trouble with our account. The submission fails, a poll is repeated, and the operator gets an alert. They are read before `rules`, except rules that report refused content. If neither speaks about an HTTP status from 400 to 429, words such as “insufficient credits” or “monthly quota” mean the same.',
      ),
    unique_header: header.optional().describe('A header field that gets a new UUID in every call.'),
    ...protocol.shape,
    submit: protocol.shape.submit.optional().describe('The call that starts a generation.'),
    protocols: z
      .record(z.string().regex(/^[a-z][a-z0-9_]*$/, 'a name of letters and digits'), protocol)
      .refine((several) => Object.keys(several).length > 0, { message: 'at least one protocol' })
      .optional()
      .describe(
        'Several protocols by name, instead of `submit`. The fields of a protocol override those of the file, and its rules come first. A row names one as `upstream.protocol`; without it, the first is used.',
      ),
  })
  .refine(({ submit, protocols }) => (submit === undefined) !== (protocols === undefined), {
    message: 'either submit or protocols',
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
