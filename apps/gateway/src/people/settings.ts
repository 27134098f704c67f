import { z } from 'zod';
import { identityProviderUrl } from '../auth/settings.js';
import type { Role } from './roles.js';

const groupOf = (role: Role, rights: string) =>
  z
    .string()
    .trim()
    .min(1)
    .optional()
    .meta({
      description: `Group of the identity provider whose members sign in to the console as ${role}: they ${rights}.`,
      example: `router-${role}`,
    });

/** Settings of the sign-in through an identity provider. */
export const peopleSettings = {
  OIDC_ISSUER: identityProviderUrl().optional().meta({
    description:
      'Issuer of the OpenID Connect provider through which people sign in to the console. Register `<address of the gateway>/v2/sign-in/callback` there as a redirect URI.',
    example: 'https://login.example.com',
  }),
  OIDC_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Client id of the console at this provider.', example: 'model-router' }),
  OIDC_CLIENT_SECRET: z.string().min(1).optional().meta({
    description: 'Client secret at this provider. A public client has none; PKCE protects it.',
    example: 'replace-me',
  }),
  OIDC_NAME: z
    .string()
    .trim()
    .min(1)
    .max(60)
    .default('your identity provider')
    .meta({ description: 'Name of this provider on the sign-in page.', example: 'Example Login' }),
  OIDC_SCOPES: z
    .string()
    .regex(/^openid( \S+)*$/, 'must be scopes separated by spaces, of which the first is `openid`')
    .default('openid profile email')
    .meta({
      description:
        'Scopes to request, separated by spaces. Some providers reveal groups only for a scope such as `groups`.',
      example: 'openid profile email groups',
    }),
  OIDC_GROUPS_CLAIM: z.string().min(1).default('groups').meta({
    description: 'Claim with the groups of a person, as a list or one string.',
    example: 'groups',
  }),
  OIDC_WORKSPACE_CLAIM: z.string().min(1).default('workspace').meta({
    description: 'Claim with the id of a person’s workspace.',
    example: 'workspace',
  }),
  OIDC_WORKSPACE: z.uuid().optional().meta({
    description: 'Id of the workspace of people without that claim. If unset, they cannot sign in.',
    example: '018f3c1e-7d2a-7b4c-9e5f-0a1b2c3d4e5f',
  }),
  OIDC_VIEWER_GROUP: groupOf('viewer', 'see the models, runs and costs of their workspace'),
  OIDC_BILLING_GROUP: groupOf('billing', 'see the costs of their workspace, and none of its runs'),
  OIDC_DEVELOPER_GROUP: groupOf(
    'developer',
    'run models, and manage the keys and webhooks of their workspace',
  ),
  OIDC_OPERATOR_GROUP: groupOf('operator', 'operate the service: all workspaces, providers and queues'),
};

export type PeopleSettings = z.infer<z.ZodObject<typeof peopleSettings>>;
