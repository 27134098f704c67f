/** A provider that no release includes, as an operator declares it. */
export const provider = (name: string, base: string, more: string) => `
provider: ${name}
base: ${base}
auth: { x-lab-key: '{secret}' }
submit: { url: '{base}/{upstream.path}' }
${more}`;

/** How its jobs are polled and fetched. */
export const polled = `
handle:
  id: { path: /job/id }
poll:
  url: '{base}/jobs/{id}'
  status: /state
  statuses: { BUSY: running, FINE: succeeded, BAD: failed }
  interval_seconds: 0.1
fetch: { url: '{base}/jobs/{id}/result' }
`;

export const row = (id: string, upstream: string, micros: number) => `
id: ${id}
upstream: { path: ${upstream} }
charges_on_policy_rejection: no
price: { usd: ${micros / 1_000_000} }
input: { type: object, required: [prompt], properties: { prompt: { type: string }, seed: { type: [integer, 'null'] } } }
example: { prompt: a cat }
`;
