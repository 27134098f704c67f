import { type Log, LOG, Shares } from '#observability';
import { ApiKeyRepository, KeyRefused, UnknownWorkspace } from '#persistence';
import { signInUrl } from '#schemas';
import { Controller, Get, Header, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { unknownPath } from '../answers/error.filter.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { wideNetworkOf } from '../http/network.js';
import { type Attempt, IdentityProvider, SignInRefused } from './identity-provider.js';

/** A person has this long to authenticate at the identity provider. */
const attemptSeconds = 600;
/** A session ends after this time at the latest. */
const sessionMs = 12 * 60 * 60 * 1000;
/** Sign-ins that may wait for the identity provider at a time. Anyone can begin one, so networks share the places. */
const maxWaiting = 16;

const offered = z
  .object({
    name: z.string().nullable().describe('The name of the identity provider. Null if there is none.'),
  })
  .meta({ id: 'RouterIdentityProvider', description: 'How people sign in to the console.' });

/** Signs people in to the console through the operator's identity provider. */
@Controller('v2/sign-in')
export class PeopleController {
  private readonly places = new Shares(maxWaiting);

  constructor(
    private readonly provider: IdentityProvider,
    private readonly keys: ApiKeyRepository,
    @Inject(LOG) private readonly log: Log,
  ) {}

  @Get('provider')
  @ApiRoute({
    name: 'GetIdentityProvider',
    area: 'Account',
    summary: 'Whether people sign in through an identity provider',
    description: 'If there is one, `/v2/sign-in/begin` leads to it.',
    answers: [answer(200, 'The identity provider.', json(offered))],
  })
  read(): z.infer<typeof offered> {
    return { name: this.provider.name };
  }

  @Get('begin')
  @Header('cache-control', 'no-store')
  @ApiRoute({
    name: 'BeginSignIn',
    area: 'Account',
    summary: 'Sign in to the console through the identity provider',
    description: 'For browsers: a page links here.',
    answers: [
      answer(302, 'The identity provider, or the console if the provider cannot be reached.'),
      failure(404, ['invalid_input'], 'No identity provider is configured.'),
    ],
  })
  async begin(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.expectProvider();
    await this.leadOn(request, reply, async () => {
      const { url, attempt } = await this.provider.begin(callbackOf(request));
      reply.header('set-cookie', cookieOf(request, attempt));
      return url.href;
    });
  }

  @Get('callback')
  @Header('cache-control', 'no-store')
  @Header('referrer-policy', 'no-referrer')
  @ApiRoute({
    name: 'FinishSignIn',
    area: 'Account',
    summary: 'Come back from the identity provider',
    description: 'For browsers: the identity provider leads here.',
    answers: [
      answer(302, 'The console, signed in, or with the reason why not.'),
      failure(404, ['invalid_input'], 'No identity provider is configured.'),
    ],
  })
  async finish(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.expectProvider();
    reply.header('set-cookie', cookieOf(request, null));
    await this.leadOn(request, reply, async () => {
      const attempt = attemptOf(request);
      if (attempt === null) throw new SignInRefused('expired');
      const { search } = new URL(request.originalUrl, request.publicOrigin);
      const person = await this.provider.finish(new URL(callbackOf(request) + search), attempt);
      const { code } = await this.keys.createCode(
        person.workspaceId,
        person.scopes,
        {
          actor: `person:${person.subject}`,
          token: { subject: person.subject, expiresAt: new Date(Date.now() + sessionMs) },
        },
        { name: person.name },
      );
      return signInUrl(request.publicOrigin, code);
    });
  }

  private expectProvider(): void {
    if (this.provider.name === null) throw unknownPath();
  }

  /** Redirects a browser. People see the reason of a failure in the console. */
  private async leadOn(
    request: FastifyRequest,
    reply: FastifyReply,
    next: () => Promise<string>,
  ): Promise<void> {
    let url: string;
    const network = wideNetworkOf(request.ip);
    const hasPlace = this.places.take(network);
    try {
      if (!hasPlace) throw new Error('too many sign-ins wait for the identity provider');
      url = await next();
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === 'unavailable') this.log.warn({ error }, 'could not sign a person in');
      url = `${request.publicOrigin}/console/#sign-in=${reason}`;
    } finally {
      if (hasPlace) this.places.giveBack(network);
    }
    void reply.redirect(url, 302);
  }
}

/** A word that the console explains. */
function reasonOf(error: unknown): string {
  if (error instanceof SignInRefused) return error.reason;
  if (error instanceof UnknownWorkspace) return 'noWorkspace';
  return error instanceof KeyRefused ? 'tooMany' : 'unavailable';
}

const callbackOf = ({ publicOrigin }: FastifyRequest): string => `${publicOrigin}/v2/sign-in/callback`;

/** The prefix keeps other hosts of the domain from setting the cookie. Browsers accept it only over HTTPS. */
const cookieName = ({ publicOrigin }: FastifyRequest): string =>
  publicOrigin.startsWith('https:') ? '__Host-sign-in' : 'sign-in';

/** Null deletes the cookie. */
function cookieOf(request: FastifyRequest, attempt: Attempt | null): string {
  const value = attempt === null ? '' : [attempt.state, attempt.nonce, attempt.verifier].join('.');
  const secure = request.publicOrigin.startsWith('https:') ? '; Secure' : '';
  // The redirect back comes from another site, which `Strict` would leave without the cookie.
  return `${cookieName(request)}=${value}; Path=/; Max-Age=${attempt === null ? 0 : attemptSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

function attemptOf(request: FastifyRequest): Attempt | null {
  const prefix = `${cookieName(request)}=`;
  const cookies = (request.headers.cookie ?? '').split(/; */);
  const value = cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length);
  const [state, nonce, verifier, ...rest] = value?.split('.') ?? [];
  return state && nonce && verifier && rest.length === 0 ? { state, nonce, verifier } : null;
}
