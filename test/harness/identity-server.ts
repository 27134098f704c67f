import { jest } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Configuration } from 'oidc-provider';
import { freePort } from './ports.js';

/** Facts about a person, as the identity server states them. */
type Claims = Record<string, unknown>;

/**
 * An OpenID Connect provider with one client, the console. A person signs in with any password; the login is the
 * subject. Its claims are read at each sign-in.
 */
export class IdentityServer {
  readonly people = new Map<string, Claims>();

  private constructor(
    readonly issuer: string,
    private readonly server: Server,
  ) {}

  static readonly client = { id: 'console-of-tests', secret: 'a-secret-of-the-console' };

  static async start(): Promise<IdentityServer> {
    const port = await freePort();
    const issuer = `http://127.0.0.1:${port}`;
    const server = createServer();
    const identity = new IdentityServer(issuer, server);
    const provider = await withoutWarnings(async () => {
      const { default: Provider } = await import('oidc-provider');
      return new Provider(issuer, identity.configuration());
    });
    // The port of the gateway is not known yet.
    provider.Client.prototype.redirectUriAllowed = (uri) =>
      /^http:\/\/127\.0\.0\.1:\d+\/v2\/sign-in\/callback$/.test(uri);
    provider.on('server_error', (_context, error) => process.stderr.write(`${String(error)}\n`));
    const handle = provider.callback();
    server.on('request', (request, response) => void handle(request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return identity;
  }

  /** The settings with which a gateway uses this server. */
  get settings(): Record<string, string> {
    return {
      OIDC_ISSUER: this.issuer,
      OIDC_CLIENT_ID: IdentityServer.client.id,
      OIDC_CLIENT_SECRET: IdentityServer.client.secret,
      OIDC_NAME: 'Test Login',
    };
  }

  /** Signs in as a browser does, from the address of the authorization. Returns the address of the callback. */
  async signIn(authorization: string, login: string): Promise<string> {
    const cookies = new Map<string, string>();
    let url = authorization;
    let form: URLSearchParams | undefined;
    for (let step = 0; step < 10; step += 1) {
      if (!url.startsWith(this.issuer)) return url;
      const answer = await fetch(url, {
        method: form ? 'POST' : 'GET',
        body: form ?? null,
        redirect: 'manual',
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      });
      for (const cookie of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = cookie.split(';', 1)[0]?.split(/=(.*)/s) ?? [];
        cookies.set(name, value);
      }
      await answer.arrayBuffer();
      const next = answer.headers.get('location');
      form = next === null ? new URLSearchParams({ prompt: 'login', login, password: 'any' }) : undefined;
      if (next !== null) url = new URL(next, url).href;
    }
    throw new Error(`the identity server did not lead back: ${url}`);
  }

  async stop(): Promise<void> {
    if (!this.server.listening) return;
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private configuration(): Configuration {
    return {
      clients: [
        {
          client_id: IdentityServer.client.id,
          client_secret: IdentityServer.client.secret,
          token_endpoint_auth_method: 'client_secret_post',
          redirect_uris: ['http://127.0.0.1/callback'],
        },
      ],
      ttl: {
        AccessToken: 60,
        AuthorizationCode: 60,
        Grant: 600,
        IdToken: 60,
        Interaction: 600,
        Session: 600,
      },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: true } },
      claims: { openid: ['sub'], email: ['email'], profile: ['groups', 'workspace'] },
      findAccount: (_context, login) => ({
        accountId: login,
        claims: () => ({ sub: login, ...this.people.get(login) }),
      }),
      loadExistingGrant: async (context) => {
        const { client, session, provider } = context.oidc;
        const grant = new provider.Grant({
          ...(client && { clientId: client.clientId }),
          ...(session?.accountId !== undefined && { accountId: session.accountId }),
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    };
  }
}

/** Silences the library's warnings that it keeps everything in memory, which tests want. */
async function withoutWarnings<Result>(work: () => Promise<Result>): Promise<Result> {
  const warnings = jest.spyOn(console, 'warn').mockImplementation(() => {});
  try {
    return await work();
  } finally {
    warnings.mockRestore();
  }
}
