import { z } from 'zod';

/** How long the sign-in links of operators work. */
export const signInLinkSettings = {
  SIGN_IN_LINK_HOURS: z.coerce.number().int().min(1).max(168).default(24).meta({
    description:
      'How long a sign-in link that an operator creates for a customer works, in hours, from 1 to 168. Links that workspaces create for themselves work for 15 minutes.',
    example: '24',
  }),
};

/** The URL of a sign-in link. The code is in the fragment, which browsers send to no server and in no referrer. */
export const signInUrl = (baseUrl: string, code: string): string =>
  `${baseUrl.endsWith('/') ? baseUrl.slice(0, -1) : baseUrl}/console/#code=${code}`;
