/** Declares a scripted provider, which answers like fal's queue, and a model whose results contain images. */
export const scriptedModel = (provider: string, base: string, more = ''): Record<string, string> => ({
  [`${provider}.yaml`]: `provider: ${provider}
base: ${base}
${more}
auth: { authorization: 'Key {secret}' }
submit: { url: '{base}/{upstream.path}' }
handle:
  statusUrl: { path: /status_url, url: true }
  responseUrl: { path: /response_url, url: true }
poll:
  url: '{statusUrl}'
  status: /status
  statuses: { COMPLETED: succeeded }
  interval_seconds: 0.1
fetch: { url: '{responseUrl}' }
`,
  [`${provider}-pictures.yaml`]: `id: ${provider}/pictures
upstream: { path: pictures }
charges_on_policy_rejection: unknown
price: { usd: 0.001 }
assets: [/images/*/url]
input: { type: object, required: [prompt], properties: { prompt: { type: string } } }
example: { prompt: a cat }
`,
});
