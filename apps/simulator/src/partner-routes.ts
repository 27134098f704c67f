import type { FastifyInstance } from 'fastify';
import { answerAsset } from './asset-route.js';
import type { Desk } from './desk.js';
import { answerCall, answerCancel } from './generation-calls.js';
import type { Partner } from './partner.js';
import { takeSubmission } from './submission.js';
import { cut, send } from './wire.js';

const bodyLimitBytes = 128 * 1024 * 1024;

/** The partner's API: submissions, calls on its own host, cancel. Everything here wants the partner's key. */
export function addApiRoutes(app: FastifyInstance, desk: Desk, partner: Partner): void {
  const { doors = [] } = partner;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    ['application/json', 'multipart/form-data', 'application/x-www-form-urlencoded'],
    { parseAs: 'buffer', bodyLimit: bodyLimitBytes },
    (_request, body, done) => done(null, body),
  );
  app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
    send(reply, { status: error.statusCode ?? 500, body: { detail: error.message } }),
  );
  app.setNotFoundHandler((_request, reply) => send(reply, { status: 404, body: { detail: 'Not Found' } }));

  app.addHook('onRequest', async (request, reply) => {
    if (doors.some(({ path }) => request.routeOptions.url?.endsWith(path))) return undefined;
    if (!partner.authorized(request.headers, desk.clock.now()))
      return send(reply, partner.refusals.unauthorized);
    const { traceHeader } = partner;
    if (traceHeader !== undefined && !desk.traces.isNew(request.headers[traceHeader]))
      return send(
        reply,
        partner.fieldErrors([{ loc: ['header', traceHeader], msg: 'used', type: 'invalid' }]),
      );
    return undefined;
  });

  // Only a queued scenario can name this fault before the body, and with it the prompt, has been read.
  const beforeRead = async (_request: unknown, reply: Parameters<typeof cut>[0]) => {
    if (!desk.scenarios.peek(partner.name).has('reset_before_read')) return undefined;
    desk.scenarios.take(partner.name);
    return cut(reply);
  };
  for (const submit of partner.submits)
    app.post(submit.path, { onRequest: beforeRead }, (request, reply) =>
      takeSubmission(desk, partner, submit, request, reply),
    );
  for (const door of doors)
    app.route({
      method: door.method,
      url: door.path,
      handler: (request, reply) => {
        const body = request.body instanceof Buffer ? request.body : Buffer.alloc(0);
        return send(
          reply,
          door.answer({ body, url: desk.addresses.api + request.url, nowMs: desk.clock.now() }),
        );
      },
    });
  addCalls(app, desk, partner, 'api');
  const { cancel } = partner;
  if (cancel)
    app.route({
      method: cancel.method,
      url: cancel.path,
      handler: (request, reply) => answerCancel(desk, partner, cancel, request, reply),
    });
}

/** The partner's other hosts: polling URLs and files, to which no key may ever be sent. */
export function addAssetRoutes(app: FastifyInstance, desk: Desk, partner: Partner): void {
  addCalls(app, desk, partner, 'assets');
  const { asset } = partner;
  if (asset) app.get(asset.path, (request, reply) => answerAsset(desk, partner, asset, request, reply));
}

function addCalls(app: FastifyInstance, desk: Desk, partner: Partner, listener: 'api' | 'assets'): void {
  for (const call of partner.calls.filter((each) => each.listener === listener))
    app.route({
      method: call.method,
      url: call.path,
      handler: (request, reply) => answerCall(desk, partner, call, request, reply),
    });
}
