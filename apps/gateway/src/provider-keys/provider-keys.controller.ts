import { didYouMean, LiveCatalog, suggesting, visibleProvider } from '#catalog';
import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import {
  maxOwnKeyChanges,
  type OwnKey,
  ownKeyContext,
  OwnKeyRepository,
  TooManyKeyChanges,
} from '#persistence';
import {
  type EncryptionSettings,
  type RouterProviderKey,
  routerProviderKey,
  routerProviderKeyInput,
  type RouterProviderKeyListResponse,
  routerProviderKeyListResponse,
  sealEnvelope,
} from '#schemas';
import { Controller, Delete, Get, Header, HttpCode, Inject, Param, Put, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Access, Calling, unlessDeleted } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { Identification } from '../auth/identification.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

/** The last characters of a shorter key would help to guess it. */
const minShownLength = 16;

const unknownProvider = failure(404, ['invalid_input'], 'There is no such provider, or no key of it.');

/** The provider keys of a workspace. Only workers can decrypt them; no route shows one. */
@Controller('v2/provider-keys')
export class ProviderKeysController {
  constructor(
    private readonly keys: OwnKeyRepository,
    private readonly catalog: LiveCatalog,
    private readonly bodies: BodyReader,
    private readonly identification: Identification,
    @Inject(SETTINGS) private readonly settings: EncryptionSettings,
  ) {}

  @Get()
  @Access({ scope: 'provider_keys' })
  @ApiRoute({
    name: 'ListProviderKeys',
    area: 'Account',
    summary: 'List the provider keys of the workspace',
    description: 'A key’s text is never shown.',
    answers: [answer(200, 'The keys.', json(routerProviderKeyListResponse))],
  })
  async list(@Calling() { workspaceId }: Caller): Promise<RouterProviderKeyListResponse> {
    return { data: (await this.keys.list(workspaceId)).map(keyView) };
  }

  @Get(':provider')
  @Access({ scope: 'provider_keys' })
  @ApiRoute({
    name: 'GetProviderKey',
    area: 'Account',
    summary: 'Get the state of a provider key of the workspace',
    description: 'The key’s text is never shown.',
    answers: [answer(200, 'The key.', json(routerProviderKey)), unknownProvider],
  })
  async read(
    @Calling() { workspaceId }: Caller,
    @Param('provider') provider: string,
  ): Promise<RouterProviderKey> {
    const key = (await this.keys.list(workspaceId)).find((each) => each.provider === provider);
    if (key !== undefined) return keyView(key);
    this.checkKnown(provider);
    throw noKey(provider);
  }

  @Put(':provider')
  @Header('cache-control', 'no-store')
  @Access({ scope: 'provider_keys' })
  @ApiRoute({
    name: 'SetProviderKey',
    area: 'Account',
    summary: 'Set or replace a provider key of the workspace',
    description:
      'From now on the workspace’s runs at this provider use the key, also if the operator has none, and are billed to its owner by the provider; their answers have the header `X-Service-Billed-To: workspace`. Runs that a former key submitted go on with that one. The key is encrypted at once and is never shown.',
    body: routerProviderKeyInput,
    answers: [
      answer(200, 'The key is set.', json(routerProviderKey), ['Cache-Control']),
      failure(400, ['invalid_input'], 'The body or the text of the key is malformed.'),
      unknownProvider,
      failure(429, ['rate_limited'], 'The key was set too often within 24 hours.'),
      failure(503, ['service_unavailable'], 'This router does not store provider keys of workspaces.'),
    ],
  })
  async set(
    @Calling() { workspaceId, credential }: Caller,
    @Param('provider') provider: string,
    @Req() request: FastifyRequest,
  ): Promise<RouterProviderKey> {
    const { ENCRYPTION_PUBLIC_KEY: publicKey } = this.settings;
    this.checkKnown(provider);
    if (publicKey === undefined)
      throw new RouterError(
        'service_unavailable',
        'This router does not store provider keys of workspaces; its operator can enable it.',
      );
    const { key } = await this.bodies.readObject(request.raw, workspaceId, routerProviderKeyInput);
    const envelope = sealEnvelope(publicKey, ownKeyContext(workspaceId, provider), key);
    const lastCharacters = key.length < minShownLength ? null : key.slice(-4);
    const setting = this.keys.set(workspaceId, provider, { envelope, lastCharacters }, credential);
    const row = await unlessDeleted(setting).catch((error: unknown) => {
      throw error instanceof TooManyKeyChanges ? tooManyChanges() : error;
    });
    // Other gateways hear of it from the database.
    this.identification.forget(workspaceId);
    return keyView(row);
  }

  @Delete(':provider')
  @HttpCode(204)
  @Access({ scope: 'provider_keys' })
  @ApiRoute({
    name: 'DeleteProviderKey',
    area: 'Account',
    summary: 'Delete a provider key of the workspace',
    description:
      'No further run is submitted with the key. Runs that it submitted go on, and its encrypted text is deleted when the last of them has ended, within a day at most. Runs that still wait fail unless the workspace sets another key.',
    answers: [answer(204, 'The key has been deleted.'), unknownProvider],
  })
  async delete(
    @Calling() { workspaceId, credential }: Caller,
    @Param('provider') provider: string,
  ): Promise<void> {
    const isDeleted = await this.keys.delete(workspaceId, provider, credential);
    this.identification.forget(workspaceId);
    if (isDeleted) return;
    this.checkKnown(provider);
    throw noKey(provider);
  }

  private checkKnown(provider: string): void {
    const { providers, models } = this.catalog.current;
    const known = providers.map(({ name }) => name);
    if (known.includes(provider)) return;
    // Some providers serve models whose ids begin with another name.
    const serving = new Set(
      models.flatMap((model) => (visibleProvider(model.id) === provider ? model.provider : [])),
    );
    const hint = serving.size > 0 ? suggesting([...serving].slice(0, 3)) : didYouMean(provider, known);
    throw new RouterError('invalid_input', `There is no such provider.${hint}`, { status: 404 });
  }
}

const noKey = (provider: string): RouterError =>
  new RouterError('invalid_input', `The workspace has no key of its own for ${provider}.`, { status: 404 });

const tooManyChanges = (): RouterError =>
  new RouterError(
    'rate_limited',
    `The workspace has set this key ${maxOwnKeyChanges} times within 24 hours, which is the limit; retry later.`,
  );

const keyView = ({ provider, lastCharacters, setAt, setBy, state, stateAt }: OwnKey): RouterProviderKey => ({
  provider,
  ...(lastCharacters !== null && { last_characters: lastCharacters }),
  set_at: setAt.toISOString(),
  set_by: setBy,
  state,
  ...(stateAt && { state_at: stateAt.toISOString() }),
});
