/** A row without a schema: it accepts undocumented fields, and has no document to point to. */
export const openRow = `id: bfl/open
upstream: { path: flux-2-pro }
charges_on_policy_rejection: unknown
price: { usd: 0.04 }
`;
