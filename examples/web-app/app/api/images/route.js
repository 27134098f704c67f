import { createRouter, RouterError } from 'model-router-client';

const { BASE_URL = '', API_KEY = '' } = process.env;
const router = createRouter({ baseUrl: BASE_URL, key: API_KEY });

/**
 * What the page may be told, and with which status; everything else is ours to look into.
 * @type {Partial<Record<RouterError['bucket'], number>>}
 */
const shown = {
  invalid_input: 422,
  content_policy_violation: 422,
  concurrency_limit_exceeded: 503,
  service_unavailable: 503,
};

/**
 * POST {"prompt": "…"} answers {"url": "…"}. A page that goes away ends the waiting, not the run.
 * @param {Request} request
 */
export async function POST(request) {
  const { prompt } = await request.json();
  try {
    const { output } = await router.run('bfl/flux-2-pro', { prompt }, { signal: request.signal });
    return Response.json({ url: output.result?.sample });
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    const status = shown[error.bucket];
    if (status === undefined) throw error;
    return Response.json({ error: error.message }, { status });
  }
}
