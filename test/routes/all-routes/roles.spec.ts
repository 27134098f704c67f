import { scopes } from '#schemas';
import { beforeAll, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';
import { servedRoutes, type ServedRoute } from '../served-routes.js';

const gateway = sharedGateway();

/** The routes that need no credential of a workspace, and why. */
const open: Record<string, string> = {
  'GET /health': 'probes',
  'GET /health/live': 'probes',
  'GET /health/ready': 'probes',
  'GET /assets/*': 'the address is the credential',
  'GET /mcp': 'there is no stream to read',
  'POST /v2/sign-in': 'the code is the credential',
  'GET /v2/sign-in/provider': 'the page of the sign-in',
  'GET /v2/sign-in/begin': 'the page of the sign-in',
  'GET /v2/sign-in/callback': 'the identity provider’s code is the credential',
  'PUT /v2/fal/uploads/:upload': 'the address is the credential',
  'GET /nodes': 'public',
  'GET /openapi.json': 'public',
  'GET /llms.txt': 'public',
  'GET /clients': 'public',
  'GET /clients/:name': 'public',
  'GET /clients/:digest/:name': 'public',
  'GET /': 'public',
  'GET /console': 'public',
  'GET /console/*': 'public',
  'GET /docs': 'public',
  'GET /v2/shared/:token': 'the address is the credential',
  'GET /v2/shared/:token/input': 'the address is the credential',
  'GET /v2/shared/:token/output': 'the address is the credential',
};

/** The scope that each other route needs; the first rule that fits decides. */
const rules: [scope: string, routes: RegExp][] = [
  ['operate', / \/v2\/operator\//],
  ['provider_keys', / \/v2\/provider-keys/],
  ['catalog', /^GET \/(replicate|openai|anthropic|gemini)\/\w+\/models|^POST \/mcp|^GET \/v2\/clients\//],
  ['run', / \/(replicate|openai|anthropic|gemini)\/|^POST \/v2\/fal\/uploads/],
  [
    'run',
    /\/models\/.*\/requests\/|^POST \/v\d\/models\/|^(POST \/v2\/files|(GET|DELETE) \/v2\/files\/:fileId)$/,
  ],
  ['catalog', /^GET \/v\d\/models/],
  ['manage', / \/v2\/(budgets|keys|sign-in\/links|webhooks\/(secret|test))|redeliver$/],
  ['manage', /^(PUT|DELETE) \/v2\/requests\//],
  ['requests', /^GET \/v2\/(requests|refusals|files|webhooks\/deliveries)/],
  ['usage', /^GET \/v2\/(usage|ledger)$/],
  ['manage', /^PATCH \/v2\/workspace$/],
  ['workspace', /^GET \/v2\/workspace$/],
];

/** Credentials that have one scope each: keys, and access tokens, which the first generation takes. */
type Holders = (readonly [scope: string, headers: Record<string, string>])[];

const holders = (made: (scope: string) => Promise<Record<string, string>>): Promise<Holders> =>
  Promise.all(scopes.map(async (scope) => [scope, await made(scope)] as const));

let keys: Holders;
let tokens: Holders;
beforeAll(async () => {
  const { workspace } = await gateway().caller();
  keys = await holders(async (scope) => ({ 'x-api-key': (await gateway().caller({}, [scope])).caller.key }));
  tokens = await holders((scope) => bearer(workspace.id, scope));
});

const unknownKey = { 'x-api-key': 'rk_live_nobody' };

/** The status and the bucket of a call whose body is cut off. */
async function answerTo({ method, path }: ServedRoute, headers: Record<string, string>): Promise<unknown[]> {
  const answer = await fetch(`${gateway().url}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...headers, 'content-type': 'application/json' },
    ...(method !== 'GET' && { body: '{' }),
  });
  const text = await answer.text();
  // Clients of MCP read the kind of error in the body.
  const bucket =
    path === '/mcp' ? /(?<="error":")\w+/.exec(text)?.[0] : answer.headers.get('x-service-error-type');
  return [answer.status, bucket];
}

const routes = servedRoutes();

it('every open route is served', () => {
  const served = routes.map(({ route }) => route);
  expect(Object.keys(open).filter((route) => !served.includes(route))).toEqual([]);
});

it.concurrent.each(routes.filter(({ route }) => route in open))(
  '$route needs no credential, so an unknown one changes nothing',
  async (route) => {
    const anonymous = await answerTo(route, {});
    expect(anonymous).not.toContain('forbidden');
    expect(await answerTo(route, unknownKey)).toEqual(anonymous);
  },
);

it.concurrent.each(routes.filter(({ route }) => !(route in open)))(
  '$route needs its scope and no other',
  async (route) => {
    expect([await answerTo(route, {}), await answerTo(route, unknownKey)]).toEqual([
      [401, 'unauthorized'],
      [401, 'unauthorized'],
    ]);
    const needed = rules.find(([, fitting]) => fitting.test(route.route))?.[0];
    const answers = await Promise.all(
      (route.path.startsWith('/v1/') ? tokens : keys).map(
        async ([scope, headers]) => [scope, await answerTo(route, headers)] as const,
      ),
    );
    const rejected = answers.filter(([, [status]]) => status === 401 || status === 403);
    expect(rejected).toEqual(
      scopes.filter((scope) => scope !== needed).map((scope) => [scope, [403, 'forbidden']]),
    );
  },
);

it('a disabled workspace gets not_enabled', async () => {
  const { caller } = await gateway().caller({ enabled: false });
  const answer = await caller.call('GET', '/v2/models');
  expect([answer.status, answer.bucket]).toEqual([403, 'not_enabled']);
});
