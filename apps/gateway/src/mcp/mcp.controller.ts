import { createMcpHandler } from '@modelcontextprotocol/server';
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
import { mayWait, mcpServer } from './mcp-server.js';
import { partsOf } from './message-parts.js';
import { ownRoutes } from './own-routes.js';

/** Larger inputs belong behind a URL. */
const maxMessageBytes = 1024 * 1024;

/** The Model Context Protocol (streamable HTTP, without sessions): agents call the routes of runs as tools. */
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
    summary: 'Send a message of the Model Context Protocol',
    description:
      'Streamable HTTP, without sessions. The tools find models, read what one takes, run it, follow and cancel the run, as the caller of this request; running requires the scope `run` as well. A message has at most 1 MiB, and at most 64 KiB beside the input of a run.',
    answers: [
      answer(200, 'The answer to the message.', { 'application/json': null, 'text/event-stream': null }),
      answer(202, 'A notification was taken.'),
      registryFailure(400, 'The message is malformed.'),
      registryFailure(401, 'The request carries no usable credential.'),
      registryFailure(403, 'The credential lacks the scope `catalog`.'),
      registryFailure(413, 'The message is too large.'),
      registryFailure(415, 'The message is not sent as `application/json`.'),
      registryFailure(503, 'The workspace holds too many connections open; retry when one has ended.'),
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
      const parsedBody = parseSmall(envelope);
      if (mayWait(parsedBody)) this.shares.holdConnection(reply, caller.workspaceId);
      const handler = createMcpHandler(() => mcpServer(ownRoutes(request), input, terms));
      const message = new Request(`${request.publicOrigin}/mcp`, {
        method: 'POST',
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
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
    summary: 'Learn that there is no stream of messages',
    description: 'As the protocol has it of a server that sends nothing on its own.',
    answers: [registryFailure(405, 'Messages are sent with POST.')],
  })
  get(@Res() reply: FastifyReply): void {
    void reply
      .code(405)
      .header('allow', 'POST')
      .send({ error: 'invalid_input', message: 'Messages are sent with POST.' });
  }
}
