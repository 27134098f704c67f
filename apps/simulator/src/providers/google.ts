import { createVerify, generateKeyPairSync, randomUUID } from 'node:crypto';
import { bearerOf, type Provider, type Reply, type Submit } from '../provider.js';
import { answers } from '../event-forms.js';

const models = '/projects/:project/locations/:location/publishers/google/models';
const submitTo = (method: string, promptOf: NonNullable<Submit['promptOf']>): Submit => ({
  path: `${models}/:model([^:/]+)::${method}`,
  modelOf: (params) => params['model'],
  promptOf,
});
const firstOf = (list: unknown): Record<string, unknown> => Object(Array.isArray(list) ? list[0] : undefined);
const instancePrompt = (body: Record<string, unknown>) => {
  const { prompt, content } = firstOf(body['instances']);
  return prompt ?? content;
};

const spokenPrompt = ({ contents }: Record<string, unknown>) => {
  const { parts } = firstOf(contents);
  return (Array.isArray(parts) ? parts : []).map((part) => Object(part)['text']).find(Boolean);
};

/** A service account: its key pair, created when first needed, and the expiry of its tokens. */
const email = 'router@simulated.iam.gserviceaccount.example';
const expiresAtMs = new Map<string, number>();
let pair: { publicKey: string; privateKey: string } | undefined;
const keys = () =>
  (pair ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }));

/** Vertex AI: short-lived tokens, video operations polled by POST, and images returned directly. */
export const google: Provider = {
  name: 'google',
  authorized: (headers, nowMs) => (expiresAtMs.get(bearerOf(headers)) ?? 0) > nowMs,
  issueKey: (api) =>
    JSON.stringify({
      type: 'service_account',
      project_id: 'simulated',
      private_key_id: 'key-1',
      private_key: keys().privateKey,
      client_email: email,
      token_uri: `${api}/token`,
    }),
  open: { path: '/token', answer: giveToken },
  protocols: [
    {
      name: 'video',
      submits: [submitTo('predictLongRunning', instancePrompt)],
      poll: {
        method: 'POST',
        path: `${models}/:model([^:/]+)::fetchPredictOperation`,
        idOf: ({ body }) => String(body['operationName']).split('/').at(-1) ?? '',
      },
      variantOf: ({ generation }) => (storageOf(generation.body) === undefined ? '' : '-in-storage'),
      values: ({ generation: { body, id, path } }) => ({
        operation: `${path.replace(/^\/google\//, '').replace(/:\w+$/, '')}/operations/${id}`,
        storage: storageOf(body) ?? '',
      }),
    },
    {
      name: 'image',
      submits: [
        submitTo('predict', instancePrompt),
        submitTo('generateContent', spokenPrompt),
        submitTo('streamGenerateContent', spokenPrompt),
        submitTo('countTokens', spokenPrompt),
      ],
      stream: answers,
      variantOf: ({ generation: { path, model } }) =>
        path.endsWith(':countTokens')
          ? '-count'
          : model.includes('embedding')
            ? '-embedding'
            : path.endsWith(':predict')
              ? '-imagen'
              : /image|banana/.test(model)
                ? ''
                : '-text',
    },
  ],
};

/** The storage address for the video, from the caller's parameters. */
const storageOf = (body: Buffer): string | undefined =>
  /"storageUri"\s*:\s*"([^"]+)"/.exec(body.toString())?.[1];

/** Shorter than the assertion's lifetime, so that moving the clock can expire the token alone. */
const tokenLifeS = 1800;

function giveToken({ body, url, nowMs }: { body: Buffer; url: string; nowMs: number }): Reply {
  const form = new URLSearchParams(body.toString());
  const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const signed = createVerify('RSA-SHA256')
    .update(`${header}.${claims}`)
    .verify(keys().publicKey, Buffer.from(signature, 'base64url'));
  if (!signed || form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return refused;
  const { iss, aud, exp, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const fits = iss === email && aud === url && exp * 1000 > nowMs && String(scope).endsWith('cloud-platform');
  if (!fits) return refused;
  const token = `ya29.${randomUUID()}`;
  expiresAtMs.set(token, nowMs + tokenLifeS * 1000);
  return { status: 200, body: { access_token: token, expires_in: tokenLifeS, token_type: 'Bearer' } };
}

const refused: Reply = {
  status: 400,
  body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
};
