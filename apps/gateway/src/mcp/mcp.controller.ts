import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { parseSmall } from '../bodies/parse-input.js';
import { Readiness } from '../http/readiness.js';
import { callerGone } from '../http/replies.js';
import { answer, ApiRoute, registryFailure } from '../http/api-route.js';
import { HeldShares } from '../runs/held/held-shares.js';
import { mayWait, partsOf, withArguments } from './message-parts.js';
import { ownRoutes } from './own-routes.js';

/** Larger inputs must be passed by URL. */
const maxMessageBytes = 1024 * 1024;

const answered = ['application/json', 'text/event-stream'];

/** The protocol's library knows only the two media types in lower case, not the media ranges of HTTP or a missing header. */
function acceptOf(accept = '*/*'): string {
  const ranges = accept.split(',').filter((each) => !/;[ \t]*q=0(\.0*)?[ \t]*(;|$)/i.test(each));
  const names = ranges.map((each) => each.split(';', 1)[0]?.trim().toLowerCase() ?? '');
  const takes = (type: string) =>
    [type, type.replace(/\/.*/, '/*'), '*/*'].some((range) => names.includes(range));
  return answered.filter(takes).join(', ');
}

/** The Model Context Protocol (streamable HTTP, without sessions). Agents call the routes of runs as tools. */
@Controller('mcp')
export class McpController {
  constructor(
    private readonly bodies: BodyReader,
    private readonly readiness: Readiness,
    private readonly shares: HeldShares,
  ) {}

  @Post()
  @Access({ scope: 'catalog' })
  @ApiRoute({
    name: 'callTool',
    area: 'Agents',
    summary: 'Send a Model Context Protocol message',
    description:
      'Streamable HTTP, without sessions. The tools find, describe, price and run models, follow, cancel and list runs, and upload files, with the credential of this request; running, prices and uploads also require the scope `run`, and the list of runs `requests`. A message may have at most 1 MiB, and at most 64 KiB without the input of a run or the bytes of a file.',
    answers: [
      answer(200, 'The response to the message.', { 'application/json': null, 'text/event-stream': null }),
      answer(202, 'The notification was accepted.'),
      registryFailure(400, 'The message is malformed.'),
      registryFailure(401, 'The request carries no usable credential.'),
      registryFailure(403, 'The credential lacks the scope `catalog`.'),
      registryFailure(413, 'The message is too large.'),
      registryFailure(415, 'The message was not sent as `application/json`.'),
      registryFailure(429, 'The workspace has too many open connections; retry when one has closed.'),
      registryFailure(503, 'Too many connections are open; retry later.'),
    ],
  })
  async post(
    @Calling() caller: Caller,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const gone = callerGone(reply);
    const terms = { signal: gone, isStopping: () => this.readiness.stopping };
    const { bytes, release } = await this.bodies.readBody(request.raw, caller.workspaceId, {
      maxBytes: maxMessageBytes,
    });
    try {
      const { envelope, input } = partsOf(bytes);
      const parsedBody = withArguments(parseSmall(envelope));
      if (mayWait(parsedBody)) this.shares.holdConnection(reply, caller.workspaceId);
      // The protocol's library is loaded with the first message, because many gateways never get one.
      const { mcpHandler } = await import('./mcp-server.js');
      const handler = mcpHandler(ownRoutes(request), input, terms);
      const message = new Request(`${request.publicOrigin}/mcp`, {
        method: 'POST',
        headers: [
          ...Object.entries(request.headers)
            .filter(([name]) => name !== 'accept')
            .map(([name, value]): [string, string] => [name, String(value)]),
          ['accept', acceptOf(request.headers.accept)],
        ],
        signal: gone,
      });
      await reply.send(await handler.fetch(message, { parsedBody }));
    } finally {
      release();
    }
  }

  @Get()
  @ApiRoute({
    name: 'openMessageStream',
    area: 'Agents',
    summary: 'Reject a message stream',
    description: 'The protocol requires this answer from a server that never sends messages on its own.',
    answers: [registryFailure(405, 'Send messages with POST.')],
  })
  get(@Res() reply: FastifyReply): void {
    void reply
      .code(405)
      .header('allow', 'POST')
      .send({ error: 'invalid_input', message: 'Send messages with POST.' });
  }
}
