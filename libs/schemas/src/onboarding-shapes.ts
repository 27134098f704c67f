import { z } from 'zod';
import { workspaceScopes } from './access-token.js';
import { keyName, routerNewKey, routerSignInLink } from './account-shapes.js';
import { isUuid } from './identifiers.js';
import { maxCents } from './money.js';
import { operatorWorkspace } from './operator-shapes.js';

/** Whether the text can be the name of a workspace. It must fit on a command line and must not look like an id. */
export const isWorkspaceName = (text: string): boolean =>
  /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u.test(text) && !text.endsWith(' ') && !isUuid(text);

/** The credits of a new workspace, in US dollar cents, unless others are given. */
export const openingCents = 10_000;

/** The name of the first key, unless another is given. */
export const firstKeyName = 'first key';

const someScopes = z.array(z.enum(workspaceScopes)).min(1);

/** The body of a request for a new workspace. */
export const operatorNewWorkspace = z
  .strictObject({
    name: z
      .string()
      .refine(
        isWorkspaceName,
        'must be 1 to 100 letters, digits, spaces or characters of "._@-", and not an id',
      )
      .meta({ description: 'The name of the workspace.', example: 'acme' }),
    credits_cents: z
      .int()
      .min(0)
      .max(maxCents)
      .nullable()
      .default(openingCents)
      .describe('The opening credits in whole US dollar cents. Null for unlimited credits.'),
    key: z
      .strictObject({
        name: keyName.optional().meta({
          description: `The name of the first key; by default “${firstKeyName}”.`,
          example: firstKeyName,
        }),
        scopes: someScopes
          .default([...workspaceScopes])
          .describe('The scopes of the first key and of the session that the link opens.'),
      })
      .prefault({})
      .describe('The first key.'),
  })
  .meta({ id: 'OperatorNewWorkspace', description: 'A request for a new workspace.' });

export const operatorOpenedWorkspace = z
  .object({
    workspace: operatorWorkspace,
    key: routerNewKey,
    sign_in_link: routerSignInLink,
  })
  .meta({
    id: 'OperatorOpenedWorkspace',
    description: 'A new workspace, its first key, and a link that opens the console for the customer.',
  });

/** The body of a request for a sign-in link. */
export const operatorSignInLinkInput = z
  .strictObject({
    key_id: z
      .uuid()
      .describe(
        'The key that the link belongs to. The link and its session end with it. By default, the link belongs to the workspace.',
      ),
    scopes: someScopes.describe(
      'The scopes of the session. By default those of the key or, without a key, all except `manage`.',
    ),
  })
  .partial()
  .meta({ id: 'OperatorSignInLinkInput', description: 'A request for a sign-in link for a customer.' });

export type OperatorOpenedWorkspace = z.infer<typeof operatorOpenedWorkspace>;
