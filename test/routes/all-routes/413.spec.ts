import { request } from 'node:http';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { readServiceDocument } from '../../../apps/gateway/src/built-document.js';
import { sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';

const gateway = sharedGateway();
const small = 64 * 1024;
const mebibyte = 1024 * 1024;

/** Routes that need more than 64 KiB: inputs of models, which threads parse, and files, which are not parsed. */
const larger: Record<string, number> = {
  'POST /v1/models/{provider}/{model}': 32 * mebibyte,
  'POST /v2/models/{provider}/{model}': 32 * mebibyte,
  'POST /v2/models/{provider}/{model}/requests': 32 * mebibyte,
  'POST /v2/models/{provider}/{model}/cost': 32 * mebibyte,
  'POST /v2/files': 100 * mebibyte,
  'POST /mcp': mebibyte,
};
/** Routes that take a body but are not in the document, or do not describe it there. */
const undescribed = new Set(['POST /mcp', 'POST /fal/uploads']);

const routes = [
  ...Object.entries(readServiceDocument().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      isDescribed: operation.requestBody !== undefined,
    })),
  ),
  { route: 'POST /fal/uploads', isDescribed: false },
]
  .filter(({ route }) => !/^(GET|HEAD) /.test(route))
  .map(({ route, isDescribed }) => ({ route, takesBody: isDescribed || undescribed.has(route) }));

const segments: Record<string, string> = {
  provider: 'bfl',
  model: 'flux-2-pro',
  workspace: 'nobody',
};
const id = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

let authorization: string;
beforeAll(async () => {
  ({ authorization } = await bearer((await gateway().caller()).workspace.id));
});

/** The status of the answer to such a body, or `continue` if the route lets the body come. */
function answerTo(route: string, { bytes, body }: { bytes?: number; body?: string }): Promise<unknown> {
  const [method, path = ''] = route.split(' ');
  return new Promise((resolve, reject) => {
    const call = request(
      `${gateway().url}${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segments[name] ?? id)}`,
      {
        method,
        headers: {
          authorization,
          'content-type': 'application/json',
          ...(bytes === undefined
            ? { 'transfer-encoding': 'chunked' }
            : { 'content-length': bytes, expect: '100-continue' }),
        },
      },
    );
    const end = (answer: unknown) => {
      resolve(answer);
      call.destroy();
    };
    call
      .on('continue', () => end('continue'))
      .on('response', ({ statusCode }) => end(statusCode))
      .on('error', reject);
    if (bytes === undefined) call.end(body);
    else call.flushHeaders();
  });
}

it('the list of routes with a body is complete', () => {
  expect(routes.filter(({ takesBody }) => takesBody).length).toBeGreaterThan(9);
  const known = routes.map(({ route }) => route);
  expect(Object.keys(larger).filter((route) => !known.includes(route))).toEqual([]);
});

describe.each(routes.filter(({ takesBody }) => takesBody))('$route', ({ route }) => {
  const limit = larger[route] ?? small;

  it(`rejects a Content-Length above ${limit} bytes before the body comes`, async () => {
    expect(await answerTo(route, { bytes: limit + 1 })).toBe(413);
    expect(await answerTo(route, { bytes: limit })).toBe('continue');
  });
});

it.each(routes.filter(({ route, takesBody }) => takesBody && larger[route] === undefined))(
  '$route counts a body without Content-Length, and does not parse it',
  // If it were parsed, the answer would be 400.
  async ({ route }) => expect(await answerTo(route, { body: '['.repeat(small + 1) })).toBe(413),
);

it.each(routes.filter(({ takesBody }) => !takesBody))('$route does not read a body', async ({ route }) => {
  expect(await answerTo(route, { bytes: small + 1 })).not.toBe('continue');
});

it.each([
  ['POST /v2/keys', `{"name":"x","scopes":[${'1,'.repeat(2_000)}1]}`],
  ['POST /fal/uploads', `{"file_name":"x","a":[${'1,'.repeat(2_000)}1]}`],
  ['POST /mcp', `{"jsonrpc":"2.0","id":1,"method":"a","params":{"a":[${'{},'.repeat(2_000)}1]}}`],
])('%s rejects a small body with many values', async (route, body) => {
  expect(await answerTo(route, { body })).toBe(400);
});
