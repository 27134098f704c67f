/** A row without a schema: it accepts fields that the provider never wrote down, and has no document of its own to point to. */
export const openRow = `id: bfl/open
upstream: { path: flux-2-pro }
charges_on_policy_rejection: unknown
price: { usd: 0.04 }
`;
