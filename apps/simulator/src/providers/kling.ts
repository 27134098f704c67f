import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { bearerOf, type Provider, type Protocol } from '../provider.js';

const videos = [
  'text2video',
  'image2video',
  'omni-video',
  'avatar/image2video',
  'lip-sync',
  'effects',
  'video-extend',
].map((kind) => `videos/${kind}`);
const images = ['generations', 'omni-image', 'kolors-virtual-try-on'].map((kind) => `images/${kind}`);

const accessKey = 'simulated-access-key';
const secretKey = 'simulated-secret-key';

const older = [...videos, ...images].map((kind): Protocol => ({
  submits: [
    {
      path: `/v1/${kind}`,
      modelOf: (_params, { model_name }) => model_name ?? kind,
      promptOptional: kind !== 'videos/text2video',
    },
  ],
  poll: { path: `/v1/${kind}/:id` },
  variantOf: () => (kind.startsWith('images') ? '-image' : ''),
}));

const tasks: Protocol = {
  name: 'tasks',
  submits: [{ path: '/text-to-video/:model', modelOf: (params) => params['model'] }],
  poll: { path: '/tasks', idOf: ({ query }) => query['task_ids'] ?? '' },
};

/** Each call has a token signed for it, and every reply body has a status code. */
export const kling: Provider = {
  name: 'kling',
  authorized: holdsGoodToken,
  issueKey: () => `${accessKey}:${secretKey}`,
  protocols: [...older, tasks],
};

/** Whether the bearer token is signed with the account's secret key and currently valid. */
function holdsGoodToken(headers: IncomingHttpHeaders, nowMs: number): boolean {
  const [header = '', claims = '', signature = ''] = bearerOf(headers).split('.');
  const expected = createHmac('sha256', secretKey).update(`${header}.${claims}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  const { alg } = decode(header);
  const { iss, exp, nbf } = decode(claims);
  const nowS = nowMs / 1000;
  return alg === 'HS256' && iss === accessKey && Number(exp) > nowS && Number(nbf) <= nowS;
}

const decode = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
