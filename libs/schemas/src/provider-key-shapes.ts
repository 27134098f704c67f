import { z } from 'zod';
import { moment, text } from './fields.js';

/** Longer than any provider's key; a service account in JSON has about 2,400 characters. */
const maxKeyLength = 8_192;

/** The body of a call that sets a provider key. The characters are those that a header may have. */
export const routerProviderKeyInput = z
  .strictObject({
    key: z
      .string()
      .max(maxKeyLength, `must have at most ${maxKeyLength} characters`)
      .regex(/^[!-~](?:[ -~]*[!-~])?$/, 'must be visible ASCII characters, on one line')
      .meta({
        description: `The text of the key, as the provider gave it: 1 to ${maxKeyLength} visible ASCII characters. A key in JSON must be on one line.`,
        example: 'replace-with-the-key-from-the-provider',
      }),
  })
  .meta({ id: 'RouterProviderKeyInput', description: 'A provider key of the workspace.' });

export const routerProviderKey = z
  .object({
    provider: text('The name of the provider.'),
    last_characters: text('The last four characters of the key. Absent for a short key.').optional(),
    set_at: moment('When the key was set.'),
    set_by: text('The credential that set it: `key:<id>` or `token:<subject>`.'),
    state: z
      .enum(['unused', 'accepted', 'rejected'])
      .describe(
        'What the provider last said about the key. `unused`: no call with it was answered yet. `rejected`: it rejected the key or its account.',
      ),
    state_at: moment('When the state changed. Absent for an unused key.').optional(),
  })
  .meta({ id: 'RouterProviderKey', description: 'A provider key of the workspace, without its text.' });

export const routerProviderKeyListResponse = z
  .object({
    data: z
      .array(routerProviderKey)
      .describe('The keys, ordered by provider. At most one for each provider.'),
  })
  .meta({ id: 'RouterProviderKeyListResponse', description: 'The provider keys of the workspace.' });

export type RouterProviderKey = z.infer<typeof routerProviderKey>;
export type RouterProviderKeyListResponse = z.infer<typeof routerProviderKeyListResponse>;
