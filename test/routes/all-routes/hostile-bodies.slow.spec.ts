import { newEncryptionKeys } from '#schemas';
import { beforeAll, expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateways.js';
import { bearer } from '../generations.js';
import { hostileBodies, type HostileBody } from '../hostile-bodies.js';
import { routesWithBody, type RouteWithBody } from '../served-routes.js';

/** A body that happens to be good begins a run, for which the call waits half a second. */
const gateway = gatewayForFile({
  SYNC_DEADLINE_MS: '500',
  ENCRYPTION_PUBLIC_KEY: newEncryptionKeys().publicKey,
});
const size = 9_900;
const routes = await routesWithBody();

let authorization: string;
beforeAll(async () => {
  ({ authorization } = await bearer((await gateway().caller()).workspace.id));
});

/** Describes an answer that neither serves the call nor refuses it in words; undefined for any other answer. */
async function wrongAnswer(
  { method, path }: RouteWithBody,
  { bytes, contentType }: HostileBody,
): Promise<string | undefined> {
  const answer = await fetch(`${gateway().url}${path}`, {
    method,
    body: new Uint8Array(bytes),
    headers: { authorization, 'content-type': contentType, accept: 'application/json, text/event-stream' },
    redirect: 'manual',
  });
  const text = await answer.text();
  const bucket = answer.headers.get('x-service-error-type');
  if (answer.status >= 500 && bucket !== 'deadline_exceeded') return `${answer.status} ${text}`;
  if (answer.status < 400) return undefined;
  const isRefusal = typeof JSON.parse(text) === 'object' && (bucket !== null || path === '/mcp');
  return isRefusal ? undefined : `${answer.status} ${text}, without a bucket`;
}

it.concurrent.each(routes)('$route answers every hostile body with a refusal in words', async (route) => {
  const wrong: string[] = [];
  let count = 0;
  for (const body of hostileBodies(route.usual, size)) {
    const found = await wrongAnswer(route, body).catch(String);
    if (found !== undefined) wrong.push(`${body.what}: ${found.slice(0, 200)}`);
    count += 1;
  }
  expect(count).toBeGreaterThan(50);
  expect(wrong).toEqual([]);
});
