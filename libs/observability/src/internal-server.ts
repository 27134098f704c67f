import { createServer, type RequestListener, type Server } from 'node:http';
import type { Metrics } from './metrics.js';

interface Probes {
  /** Whether work should be sent here; asks the dependencies. */
  ready(): Promise<boolean>;
  /** Whether a restart would not help; asks nothing outside the process. */
  live(): boolean;
}

/** Further things for operators, each with what is below its path. */
type Mounts = Readonly<Record<string, RequestListener>>;

/** Answers operators and probes, never callers: `/metrics`, `/health/ready`, `/health/live`. */
export async function startInternalServer(
  address: { host: string; port: number },
  metrics: Metrics,
  probes: Probes,
  mounts: Mounts = {},
): Promise<Server> {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': type }).end(text);
    const failed = () => answer(503, 'text/plain', 'not ready\n');
    const mounted = Object.entries(mounts).find(([path]) => isBelow(request.url ?? '', path));
    if (mounted) {
      mounted[1](request, response);
    } else if (request.url === '/metrics') {
      metrics.registry.metrics().then((text) => answer(200, metrics.registry.contentType, text), failed);
    } else if (request.url === '/health/ready') {
      probes.ready().then((yes) => (yes ? answer(200, 'text/plain', 'ready\n') : failed()), failed);
    } else if (request.url === '/health/live') {
      const live = probes.live();
      answer(live ? 200 : 503, 'text/plain', live ? 'live\n' : 'not live\n');
    } else {
      answer(404, 'text/plain', 'not found\n');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, resolve);
  });
  return server;
}

const isBelow = (url: string, path: string): boolean =>
  url === path || /^[/?]/.test(url.startsWith(path) ? url.slice(path.length) : '');
