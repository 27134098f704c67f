import { LiveCatalog } from '#catalog';
import { RouterError } from '#errors';
import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { unknownPath } from '../answers/error.filter.js';
import { type Caller, maySee } from '../auth/caller.js';
import { Access, Calling } from '../auth/caller.guard.js';
import { answer, ApiRoute, failure, registryFailure } from '../http/api-route.js';
import { ifNoneMatch, sentUnchanged } from '../http/replies.js';
import { type ClientPackage, ClientPackages, npmName } from './client-packages.js';

const bytes = { 'application/octet-stream': null };
const immutable = 'max-age=31536000, immutable';
const noPackage = failure(
  404,
  ['invalid_input'],
  'There is no such package for the caller now. The catalog or the release has changed, or the caller may see other models.',
);

/** Serves the router's own clients, so that `npm install` and `pip install` need nothing but its URL. */
@Controller()
export class ClientsController {
  constructor(
    private readonly packages: ClientPackages,
    private readonly catalog: LiveCatalog,
  ) {}

  @Get('clients')
  @ApiRoute({
    name: 'getClientPackages',
    area: 'Clients',
    summary: 'List the packages of the clients',
    description:
      'A page of links for people and for `pip --find-links`. Each link contains the digest of its package, and always has the same bytes.',
    answers: [answer(200, 'The page.', { 'text/html': null }, ['Cache-Control'])],
  })
  list(@Res() reply: FastifyReply): void {
    const links = this.packages.ofRelease.map(
      (each) => `<a href="clients/${pathOf(each)}#sha256=${each.sha256}">${each.name}</a><br>\n`,
    );
    void reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('x-content-type-options', 'nosniff')
      .send(`<!doctype html>\n<html lang="en">\n<title>Clients</title>\n${links.join('')}</html>\n`);
  }

  @Get('clients/:name')
  @ApiRoute({
    name: 'findClientPackage',
    area: 'Clients',
    summary: 'Find a client package',
    description:
      'Redirects to the package of this release: `model-router-client.tgz` for npm, with the types of the built-in models, or `model_router_client-{version}-py3-none-any.whl` for pip.',
    answers: [
      answer(302, 'Its URL.', {}, ['Location', 'Cache-Control']),
      registryFailure(404, 'This release has no such package.'),
    ],
  })
  find(@Param('name') name: string, @Res() reply: FastifyReply): void {
    const found = this.packages.find(name);
    if (found === undefined) throw unknownPath();
    redirectTo(found, reply);
  }

  @Get('clients/:digest/:name')
  @ApiRoute({
    name: 'getClientPackage',
    area: 'Clients',
    summary: 'Get a client package',
    description: 'The URL has these bytes or none: those of another release have another digest.',
    headers: ifNoneMatch,
    answers: [
      answer(200, 'The package.', bytes, ['ETag', 'Cache-Control']),
      answer(304, 'The package has not changed.', {}, ['ETag', 'Cache-Control']),
      registryFailure(404, 'This release has no such package.'),
    ],
  })
  read(
    @Param() { digest, name }: { digest: string; name: string },
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    const found = this.packages.find(name);
    if (found?.digest !== digest || found.name !== name) throw unknownPath();
    send(found, 'public', request, reply);
  }

  @Get('v2/clients/:name')
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'FindTypedClient',
    area: 'Clients',
    summary: 'Find the client for your models',
    description:
      'Redirects to `model-router-client.tgz`, the TypeScript client with the types of the models that the caller may see: built-in models and those of the operator.',
    answers: [answer(302, 'Its URL.', {}, ['Location', 'Cache-Control']), noPackage],
  })
  async findTyped(
    @Calling() caller: Caller,
    @Param('name') name: string,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    redirectTo(await this.typed(caller, name), reply);
  }

  @Get('v2/clients/:digest/:name')
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'GetTypedClient',
    area: 'Clients',
    summary: 'Get the client for your models',
    description:
      'The digest changes with the catalog, as far as the caller may see it, and with the release. The URL has these bytes or none.',
    headers: ifNoneMatch,
    answers: [
      answer(200, 'The package.', bytes, ['ETag', 'Cache-Control']),
      answer(304, 'The package has not changed.', {}, ['ETag', 'Cache-Control']),
      noPackage,
    ],
  })
  async readTyped(
    @Calling() caller: Caller,
    @Param() { digest, name }: { digest: string; name: string },
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const found = await this.typed(caller, name);
    if (found.digest !== digest) throw unknownPackage();
    send(found, 'private', request, reply);
  }

  private async typed(caller: Caller, name: string): Promise<ClientPackage> {
    if (name !== npmName) throw unknownPackage();
    return this.packages.typed(this.catalog.current, caller.visible, ({ id }) => maySee(caller, id));
  }
}

const pathOf = ({ digest, name }: ClientPackage) => `${digest}/${name}`;

/** Relative, so that it also holds behind a proxy that adds a prefix. */
function redirectTo(found: ClientPackage, reply: FastifyReply): void {
  void reply.header('cache-control', 'no-cache').redirect(pathOf(found), 302);
}

function send(found: ClientPackage, scope: string, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('cache-control', `${scope}, ${immutable}`).header('x-content-type-options', 'nosniff');
  if (sentUnchanged(request, reply, `"${found.sha256}"`)) return;
  void reply.header('content-type', 'application/octet-stream').send(found.bytes);
}

const unknownPackage = () =>
  new RouterError('invalid_input', 'There is no such package. See GET /v2/clients/model-router-client.tgz.', {
    status: 404,
  });
