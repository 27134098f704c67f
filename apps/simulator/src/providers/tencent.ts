import { createHash, createHmac } from 'node:crypto';
import type { Provider, ArrivedCall } from '../provider.js';

const secretId = 'simulated-secret-id';
const secretKey = 'simulated-secret-key';
const service = 'hunyuan';

const actions = [
  ['SubmitHunyuan3DPartJob', 'QueryHunyuan3DPartJob'],
  ['SubmitHunyuanTo3DTextureEditJob', 'QueryHunyuanTo3DTextureEditJob'],
  ['SubmitHunyuanTo3DUVJob', 'DescribeHunyuanTo3DUVJob'],
  ['Submit3DSmartTopologyJob', 'Describe3DSmartTopologyJob'],
];

/** Has a single address for every action, always answers HTTP 200, and requires signed calls. */
export const tencent: Provider = {
  name: 'tencent',
  numericIds: true,
  authorized: ({ authorization = '' }) => authorization !== '',
  signed: isSigned,
  issueKey: () => `${secretId}:${secretKey}`,
  addressOf: ({ headers }) => `/${String(headers['x-tc-action'])}`,
  protocols: actions.map(([submit = '', query = '']) => ({
    submits: [
      {
        path: `/${submit}`,
        headers: { 'x-tc-version': '2023-09-01' },
        modelOf: (_params, { File, File3D }) => (File ?? File3D) && submit,
        promptOf: ({ Prompt }) => Prompt,
        promptOptional: true,
      },
    ],
    poll: {
      method: 'POST',
      path: `/${query}`,
      idOf: ({ body: { JobId } }) => (typeof JobId === 'string' ? JobId : ''),
    },
  })),
};

/** Whether the call is signed with the account's key and its timestamp is within five minutes. */
function isSigned({ method, headers, body }: ArrivedCall, nowMs: number): boolean {
  const { authorization = '' } = headers;
  const at = Number(headers['x-tc-timestamp']);
  if (!(Math.abs(nowMs / 1000 - at) <= 300)) return false;
  const date = new Date(at * 1000).toISOString().slice(0, 10);
  const [, algorithm, id, scope, names = '', signature] =
    /^(\S+) Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(authorization) ?? [];
  if (algorithm !== 'TC3-HMAC-SHA256' || id !== secretId || scope !== `${date}/${service}/tc3_request`)
    return false;
  if (!/^content-type;host(;|$)/.test(names)) return false;
  const fields = names.split(';').map((name) => `${name}:${String(headers[name])}\n`);
  const request = `${method}\n/\n\n${fields.join('')}\n${names}\n${sha256(body)}`;
  const key = [date, service, 'tc3_request'].reduce<Buffer>(hmac, Buffer.from(`TC3${secretKey}`));
  return hmac(key, `${algorithm}\n${at}\n${scope}\n${sha256(request)}`).toString('hex') === signature;
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');
