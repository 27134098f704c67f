import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Metrics } from './metrics.js';
import { healthOf } from './release.js';
import { OBSERVABILITY_OPTIONS, type ObservabilityOptions } from './settings.js';
import { settlesWithin } from './waits.js';

/** Less than the three seconds after which Kubernetes takes a probe for failed. */
const maxScrapeWaitMs = 2_000;

interface Probes {
  /** Whether the process can take work, given its dependencies. A string gives the reason why not. */
  ready(): Promise<boolean | string>;
  /** False if a restart would help. Depends on nothing outside the process. */
  live(): boolean;
}

/**
 * Serves `/metrics`, `/health`, `/health/ready` and `/health/live` to operators and probes, never to callers. It listens
 * once every module is initialised, so an app sets its probes and mounts in `onModuleInit`.
 */
@Injectable()
export class InternalServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly server = createServer((request, response) => this.answer(request, response));
  private probes: Probes = { ready: async () => true, live: () => true };
  private readonly mounts = new Map<string, RequestListener>();

  constructor(
    @Inject(OBSERVABILITY_OPTIONS) private readonly options: ObservabilityOptions,
    private readonly metrics: Metrics,
  ) {
    metrics.watchReadiness(() => this.isReadyInTime());
  }

  setProbes(probes: Probes): void {
    this.probes = probes;
  }

  /** Passes requests at and below `path` to the listener. */
  mount(path: string, listener: RequestListener): void {
    this.mounts.set(path, listener);
  }

  /** The address that it listens on. */
  get address(): AddressInfo | string | null {
    return this.server.address();
  }

  async onApplicationBootstrap(): Promise<void> {
    const { INTERNAL_PORT: port, INTERNAL_HOST: host } = this.options;
    await once(this.server.listen(port, host), 'listening');
  }

  onApplicationShutdown(): void {
    this.server.close();
  }

  /** A probe that waits for a silent dependency must not cost the scrape, which has all other metrics. */
  private async isReadyInTime(): Promise<boolean> {
    let isReady = false;
    const probe = this.probes.ready().then((ready) => (isReady = ready === true));
    await settlesWithin(probe, maxScrapeWaitMs);
    return isReady;
  }

  private readonly answer: RequestListener = (request, response) => {
    const send = (status: number, type: string, text: string) =>
      response.writeHead(status, { 'content-type': type }).end(text);
    const notReady = () => send(503, 'text/plain', 'not ready\n');
    const url = request.url ?? '';
    const mounted = [...this.mounts].find(([path]) => isBelow(url, path));
    if (mounted) {
      mounted[1](request, response);
    } else if (url === '/metrics') {
      const { registry } = this.metrics;
      registry.metrics().then((text) => send(200, registry.contentType, text), notReady);
    } else if (url === '/health') {
      const sendHealth = (ready: boolean | string) =>
        send(ready === true ? 200 : 503, 'application/json', `${JSON.stringify(healthOf(ready))}\n`);
      this.probes.ready().then(sendHealth, () => sendHealth(false));
    } else if (url === '/health/ready') {
      this.probes.ready().then((ready) => {
        if (ready === true) return send(200, 'text/plain', 'ready\n');
        return ready === false ? notReady() : send(503, 'text/plain', `not ready: ${ready}\n`);
      }, notReady);
    } else if (url === '/health/live') {
      const live = this.probes.live();
      send(live ? 200 : 503, 'text/plain', live ? 'live\n' : 'not live\n');
    } else {
      send(404, 'text/plain', 'not found\n');
    }
  };
}

const isBelow = (url: string, path: string): boolean =>
  url === path || /^[/?]/.test(url.startsWith(path) ? url.slice(path.length) : '');
