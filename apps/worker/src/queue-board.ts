import type { RunQueues } from '#queue';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import fastify from 'fastify';

/**
 * Opens a Bull Board for the queues. Jobs hold only run ids. The board is read-only unless it is writable. Changes
 * do no harm: the reconciler restores a job that was removed, and a job that was added finishes when the worker
 * finds nothing to do in the run's row.
 */
export async function openBoard(
  queues: Pick<RunQueues, 'all'>,
  { path, password, writable }: { path: string; password: string; writable: boolean },
): Promise<(request: IncomingMessage, response: ServerResponse) => void> {
  const server = new FastifyAdapter();
  server.setBasePath(path);
  createBullBoard({
    queues: queues.all.map(
      (queue) => new RunQueueAdapter(queue, { readOnlyMode: !writable, allowRetries: writable }),
    ),
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Queues', environment: undefined } },
  });
  const app = fastify({ logger: false });
  const expected = digest(`operator:${password}`);
  app.addHook('onRequest', (request, reply, done) => {
    if (!timingSafeEqual(digest(credentials(request.headers.authorization)), expected)) {
      void reply.code(401).header('www-authenticate', 'Basic realm="queues"').send('unauthorized\n');
      return;
    }
    done();
  });
  app.addHook('onSend', (_request, _reply, payload, done) => {
    done(null, typeof payload === 'string' ? payload.replace('</head>', `${hiddenTabs}$&`) : payload);
  });
  await app.register(server.registerPlugin(), { prefix: path });
  await app.ready();
  return (request, response) => app.routing(request, response);
}

/** Our jobs have no priority or children, finished jobs are not kept, and we pause providers, not queues. */
const impossible = ['waiting-children', 'prioritized', 'completed', 'failed', 'paused'];
/** The overview page shows a tab for every state that Bull Board knows, even if no queue uses it. */
const hiddenTabs = `<style>${impossible.map((state) => `li:has(> a[href$="?status=${state}"])`).join()}{display:none}</style>`;

class RunQueueAdapter extends BullMQAdapter {
  override getJobStatuses(): ReturnType<BullMQAdapter['getJobStatuses']> {
    return super.getJobStatuses().filter((state) => !impossible.includes(state));
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function credentials(header = ''): string {
  const [scheme = '', encoded = ''] = header.split(' ');
  return scheme.toLowerCase() === 'basic' ? Buffer.from(encoded, 'base64').toString() : '';
}
