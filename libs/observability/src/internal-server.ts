import { createServer, type Server } from 'node:http';
import type { Metrics } from './metrics.js';

interface Probes {
  /** Whether work should be sent here; asks the dependencies. */
  ready(): Promise<boolean>;
  /** Whether a restart would not help; asks nothing outside the process. */
  live(): boolean;
}

/** Answers operators and probes, never callers: `/metrics`, `/health/ready`, `/health/live`. */
export async function startInternalServer(
  address: { host: string; port: number },
  metrics: Metrics,
  probes: Probes,
): Promise<Server> {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': type }).end(text);
    const failed = () => answer(503, 'text/plain', 'not ready\n');
    if (request.url === '/metrics') {
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
