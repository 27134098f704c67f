import { LiveCatalog, nearestIds } from '#catalog';
import { RouterError } from '#errors';
import { ProviderPauseRepository, ProviderReader, type ProviderState, providerView } from '#persistence';
import {
  type OperatorProvider,
  operatorPauseInput,
  operatorProvider,
  operatorProviderListResponse,
} from '#schemas';
import { Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

const unknownProvider = failure(404, ['invalid_input'], 'There is no such provider; `detail` suggests some.');

@Controller('v2/operator/providers')
export class OperatorProvidersController {
  constructor(
    private readonly reader: ProviderReader,
    private readonly pauses: ProviderPauseRepository,
    private readonly catalog: LiveCatalog,
    private readonly bodies: BodyReader,
  ) {}

  @Get()
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorListProviders',
    area: 'Operator',
    summary: 'List the providers: which have a key, which are paused, what is asked of them and how it ends',
    answers: [answer(200, 'All of them.', json(operatorProviderListResponse))],
  })
  async list(): Promise<{ data: OperatorProvider[] }> {
    const { models } = this.catalog.current;
    return { data: (await this.states()).map((state) => providerView(state, models)) };
  }

  @Get(':provider')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorGetProvider',
    area: 'Operator',
    summary: 'Read one provider',
    answers: [answer(200, 'As it is now.', json(operatorProvider)), unknownProvider],
  })
  async read(@Param('provider') provider: string): Promise<OperatorProvider> {
    return this.find(provider);
  }

  @Post(':provider/pause')
  @HttpCode(200)
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorPauseProvider',
    area: 'Operator',
    summary: 'Submit nothing more to a provider',
    description:
      'Until the pause is ended. Runs that wait keep their place; those under way are polled on. A second pause replaces the reason. Who paused it is recorded.',
    body: operatorPauseInput,
    answers: [
      answer(200, 'It is paused.', json(operatorProvider)),
      failure(400, ['invalid_input'], 'The body is malformed.'),
      unknownProvider,
    ],
  })
  async pause(
    @Calling() { workspaceId, credential }: Caller,
    @Param('provider') provider: string,
    @Req() request: FastifyRequest,
  ): Promise<OperatorProvider> {
    const { reason } = await this.bodies.readObject(request.raw, workspaceId, operatorPauseInput);
    await this.find(provider);
    await this.pauses.pause(provider, reason, credential);
    return this.find(provider);
  }

  @Delete(':provider/pause')
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorResumeProvider',
    area: 'Operator',
    summary: 'Call a provider again, whoever asked for the pause',
    description: 'What waits starts within seconds. A provider that is not paused stays so.',
    answers: [answer(200, 'It is not paused.', json(operatorProvider)), unknownProvider],
  })
  async resume(
    @Calling() { credential }: Caller,
    @Param('provider') provider: string,
  ): Promise<OperatorProvider> {
    await this.find(provider);
    await this.pauses.resume(provider, credential);
    return this.find(provider);
  }

  private states(): Promise<ProviderState[]> {
    return this.reader.list(this.catalog.current.providers.map(({ name }) => name));
  }

  private async find(provider: string): Promise<OperatorProvider> {
    const states = await this.states();
    const found = states.find((state) => state.provider === provider);
    if (found) return providerView(found, this.catalog.current.models);
    const names = states.map((state) => ({ id: state.provider, aliases: [] }));
    const near = nearestIds(provider, names).join(', ');
    throw new RouterError(
      'invalid_input',
      `There is no such provider.${near && ` Did you mean one of: ${near}?`}`,
      { status: 404 },
    );
  }
}
