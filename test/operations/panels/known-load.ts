import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from 'pg';
import { answerOf } from '../../admin/run-admin.js';
import { metric } from '../../faults/metrics.js';
import { queueSizes } from '../../faults/redis-side.js';
import { type App, System } from '../../harness/faults.js';
import {
  type Answer,
  newTag,
  type TestCaller,
  type TransportKind,
  unending,
  waitFor,
} from '../../harness/index.js';
import { Receiver } from '../../harness/receiver.js';
import type { Expected } from './evaluated.js';

/** A call as its caller saw it. */
export interface MadeCall {
  beganMs: number;
  seconds: number;
  method: string;
  route: string;
  workspace: string;
  status: number;
  bucket: string;
}

interface KnownRun {
  runId: string;
  workspace: string;
  model: string;
}

/** A request as the simulated provider saw it. */
interface SeenRequest {
  atMs: number;
  listener: 'api' | 'assets';
  method: string;
  path: string;
  status: number | null;
}

/** The default settings of a worker. */
export const slotsEach = { dispatch: 250, poll: 200, assets: 20 };

/** The name of the key of bfl. */
export const keyName = 'main';

const bfl = 'bfl/flux-2-pro';
const fal = 'fal/flux-dev';
const paused = 'ltx/ltx-2-5-fast';
const oddTag = 'odd';
const roomy = { inflightLimit: 1_000, windowLimit: 100_000, backlogLimit: 100_000 };

/** A system under a load of every kind, with books of it that are kept beside the system. */
export class KnownLoad {
  readonly calls: MadeCall[] = [];
  readonly runs: KnownRun[] = [];
  /** How long the provider took to answer direct calls during the load. */
  readonly directSeconds: number[] = [];
  /** The calls of a stage that are still held. */
  private readonly holding: Promise<unknown>[] = [];
  private transactionBeganMs = Number.NaN;
  private slowestProbeSeconds = 0;
  private constructor(
    readonly system: System,
    readonly receiver: Receiver,
    private readonly callers: Record<string, TestCaller>,
  ) {}

  static async start(transport: TransportKind): Promise<KnownLoad> {
    const env = {
      QUEUE_LOCK_MS: '5000',
      QUEUE_STALLED_MS: '1000',
      RETENTION_EVERY_MS: '3600000',
      // A pool of one key, whose calls are counted by its name.
      PROVIDER_BFL_KEY: `${keyName}=provider-key-bfl weight=1`,
    };
    const receiver = await Receiver.start((call, response) =>
      response.writeHead(call.path === '/failing' ? 500 : 204).end(),
    );
    const system = await System.start({ transport, takesMs: 300, env });
    const open = (limits: Parameters<System['caller']>[0], name: string) =>
      system.caller({ ...roomy, ...limits }, name);
    const callers = {
      usual: await open({}, 'usual'),
      unlucky: await open({}, 'unlucky'),
      hasty: await open({ windowLimit: 0 }, 'hasty'),
      poor: await open({ balanceMicros: 1 }, 'poor'),
      capped: await open({ committedLimitMicros: 1 }, 'capped'),
      crowded: await open({ inflightLimit: 1 }, 'crowded'),
    };
    return new KnownLoad(system, receiver, callers);
  }

  /** Two workers, of which one dies during a submission and a poll. `scraped` waits until both are known. */
  async loseWorker(scraped: () => Promise<void>): Promise<number> {
    const [first] = this.system.workers as [App];
    const busy = (queue: string) => metric(first, 'router_worker_slots', { queue, state: 'busy' });
    await this.submit('unlucky', bfl, '[[sim:hang_submit]]');
    await this.submit('usual', fal, '[[sim:hang_poll=1]]');
    await waitFor(async () => (await busy('dispatch')) === 1 && (await busy('poll')) === 1, {
      withinMs: 60_000,
      what: 'a submission and a poll that hang',
    });
    await this.system.startWorker();
    await scraped();
    const killedMs = Date.now();
    await this.system.kill(first);
    await this.settled();
    return killedMs;
  }

  /** One of each kind, or more of some. Ends when every run has its outcome and every webhook was called. */
  async round(times: number): Promise<void> {
    const ended = new AbortController();
    const probing = this.probe(ended.signal);
    try {
      await this.makeRound(times);
    } finally {
      ended.abort();
      await probing;
    }
  }

  private async makeRound(times: number): Promise<void> {
    await all(3 * times, () => this.whole(`usual`, bfl));
    await all(times, () => this.sync('usual', bfl, 'held'));
    await all(times, () => this.sync('unlucky', bfl, '[[sim:policy_output]]'));
    await all(times, () => this.sync('unlucky', fal, '[[sim:reset_after_accept]]'));
    await all(times, () => this.submit('unlucky', bfl, '[[sim:job_failed]]'));
    await all(times, () => this.submit('unlucky', bfl, '[[sim:account=key]]'));
    await all(times, () => this.submit('usual', bfl, '[[sim:asset_404]]'));
    await this.submit('usual', bfl, `${newTag('throttled')} [[sim:429=1]][[sim:retry_after=1]]`);
    await this.submit('usual', bfl, `[[sim:tag=${oddTag}]][[sim:unknown_status]][[sim:takes=1500]]`);
    await all(2 * times, () => this.call('unlucky', 'POST', `/v2/models/${bfl}/requests`, '{"prompt":7}'));
    for (const name of ['hasty', 'poor', 'capped'])
      await all(times, () => this.call(name, 'POST', `/v2/models/${bfl}/requests`, body('too much')));
    await this.crowded(times);
    await all(times, () => this.submit('usual', bfl, 'webhook', this.webhook('/failing')));
    await all(2 * times, () => this.call('usual', 'GET', '/nodes'));
    await this.settled();
    await this.withoutStore(() =>
      all(times, () => this.call('usual', 'POST', `/v2/models/${bfl}/requests`, body('x'.repeat(300_000)))),
    );
  }

  /** The polls since then that the provider answered with an unknown status: all but the last one of a run. */
  async unknownStatuses(sinceMs: number): Promise<number> {
    const runs = (await this.system.provider.ledger(oddTag)).filter(({ atMs }) => atMs >= sinceMs);
    return runs.reduce((sum, { pollCount }) => sum + pollCount - 1, 0);
  }

  /** Everything that a gauge shows, for as long as `during` lasts. */
  async hold(during: () => Promise<void>): Promise<void> {
    const { provider } = this.system;
    const tag = newTag('held');
    const long = `[[sim:tag=${tag}]]${unending}`;
    const admin = (...words: string[]) => answerOf({ DATABASE_URL: this.system.database.url }, ...words);
    await admin('provider', 'pause', 'ltx', '--reason', 'a test');
    for (let index = 0; index < 3; index += 1) {
      this.holding.push(this.sync('usual', bfl, long));
      await this.submit('usual', paused, 'waits', '', { duration: 5, resolution: '1280x720' });
      await this.submit('crowded', bfl, long);
    }
    for (let index = 0; index < 2; index += 1) {
      await this.submit('usual', fal, '[[sim:hang_submit]]');
      await this.submit('usual', fal, '[[sim:hang_poll]]');
    }
    await this.submit('usual', bfl, '[[sim:asset_slow=40000]]');
    const session = new Client({
      connectionString: this.system.database.url,
      application_name: 'open transaction',
    });
    await session.connect();
    try {
      await session.query('BEGIN');
      await session.query('SELECT pg_current_xact_id()');
      this.transactionBeganMs = Date.now();
      await during();
    } finally {
      await session.end();
      await provider.finish(tag);
      await admin('provider', 'resume', 'ltx');
      await Promise.all(this.holding);
    }
  }

  /** Runs are awaited without calls, so that the books hold all of them. */
  private async settled(): Promise<void> {
    await waitFor(
      async () =>
        (await this.system.sql(`SELECT 1 FROM run WHERE stage <> 'completed' LIMIT 1`)).length === 0 &&
        (await this.system.sql('SELECT 1 FROM webhook WHERE tries = 0 LIMIT 1')).length === 0,
      { withinMs: 90_000, what: 'the end of all runs and webhooks', everyMs: 200 },
    );
  }

  requests(): Promise<SeenRequest[]> {
    return fetch(`${this.system.simulator.url}/requests`)
      .then((reply) => reply.json() as Promise<{ requests: SeenRequest[] }>)
      .then(({ requests }) => requests);
  }

  /** The total size of the stored files. */
  storedBytes(): number {
    return readdirSync(this.system.assets, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
  }

  /** The jobs in the keys of the queues, in whichever state they are at that moment. */
  async jobs(): Promise<Expected[]> {
    const { redis } = this.system;
    const waiting = { 'dispatch delayed': [3, 3] as const };
    if (!redis) return [{ bounds: waiting }];
    const { waiting: ready, active, delayed } = await queueSizes(redis.url, 'poll');
    const all = ready + active + delayed;
    return [
      {
        bounds: { ...waiting, 'poll active': [2, all], 'poll delayed': [0, all], 'assets active': [1, 1] },
      },
    ];
  }

  /** The slots of a provider of which one copies an asset. */
  slotsOf(): Expected[] {
    const { length } = this.system.workers;
    const totals = Object.entries(slotsEach).map(
      ([queue, total]) => [`${queue} total`, [total * length, total * length]] as const,
    );
    return [{ bounds: { ...Object.fromEntries(totals), 'assets busy': [1, 1], 'dispatch busy': [0, 0] } }];
  }

  /** The slowest answer of a gateway's or worker's liveness probe during the load. */
  slowestProbe(): number {
    return this.slowestProbeSeconds;
  }

  /** How long the test has held its transaction open. */
  transactionSeconds(): number {
    return (Date.now() - this.transactionBeganMs) / 1000;
  }

  private async probe(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      for (const { internalUrl } of [...this.system.gateways, ...this.system.workers]) {
        const taken = await secondsOf(`${internalUrl}/health/live`);
        this.slowestProbeSeconds = Math.max(this.slowestProbeSeconds, taken);
      }
      this.directSeconds.push(await secondsOf(`${this.system.simulator.url}/bfl/v1/get_result?id=unknown`));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** The number of calls that are held. */
  get held(): number {
    return this.holding.length;
  }

  /** Rejected submissions since a time, by the limit of their workspace. */
  rejected(sinceMs: number, limits: Record<string, string>): Record<string, number> {
    const counts = Object.fromEntries(Object.values(limits).map((limit) => [limit, 0]));
    for (const { beganMs, workspace, status } of this.calls) {
      const limit = limits[workspace];
      if (beganMs >= sinceMs && status >= 400 && limit !== undefined)
        counts[limit] = (counts[limit] ?? 0) + 1;
    }
    return counts;
  }

  async stop(): Promise<void> {
    await this.system.stop();
    await this.receiver.stop();
  }

  /** While the folder of assets is missing, inputs that are stored there are answered with 503. */
  private async withoutStore(during: () => Promise<unknown>): Promise<void> {
    const { assets } = this.system;
    renameSync(assets, `${assets}-away`);
    writeFileSync(assets, '');
    try {
      await during();
    } finally {
      rmSync(assets);
      renameSync(`${assets}-away`, assets);
    }
  }

  private readonly webhook = (at: string) => `?webhook_url=${encodeURIComponent(this.receiver.url + at)}`;

  /** A run whose caller polls it, collects the result and is called. */
  private async whole(name: string, model: string): Promise<void> {
    const run = await this.submit(name, model, 'whole', this.webhook('/well'));
    const at = `/v2/models/${model}/requests/${run}`;
    await waitFor(
      async () => (await this.call(name, 'GET', `${at}/status`)).json()['status'] === 'COMPLETED',
      {
        withinMs: 60_000,
        what: 'a run',
        everyMs: 200,
      },
    );
    await this.call(name, 'GET', at);
  }

  /** One run has the only slot, so the next is rejected if it cannot wait, and cancelled if it can. */
  private async crowded(times: number): Promise<void> {
    const tag = newTag('crowded');
    await this.submit('crowded', bfl, `[[sim:tag=${tag}]]${unending}`);
    for (let index = 0; index < times; index += 1) {
      await this.sync('crowded', bfl, 'no slot');
      const parked = await this.submit('crowded', bfl, 'parked');
      await this.call('crowded', 'PUT', `/v2/models/${bfl}/requests/${parked}/cancel`);
    }
    await waitFor(async () => (await this.system.provider.accepted(tag)) === 1, {
      withinMs: 60_000,
      what: 'the run that has the slot',
    });
    await this.system.provider.finish(tag);
  }

  private async submit(
    name: string,
    model: string,
    prompt: string,
    query = '',
    more: object = {},
  ): Promise<string> {
    const answer = await this.call(name, 'POST', `/v2/models/${model}/requests${query}`, body(prompt, more));
    if (answer.status !== 201)
      throw new Error(`submit answered ${answer.status}: ${answer.bytes.toString()}`);
    const runId = String(answer.json()['request_id']);
    this.runs.push({ runId, workspace: name, model });
    return runId;
  }

  private async sync(name: string, model: string, prompt: string): Promise<Answer> {
    const answer = await this.call(name, 'POST', `/v2/models/${model}`, body(prompt));
    const runId = answer.headers.get('x-service-run-id');
    if (runId !== null) this.runs.push({ runId, workspace: name, model });
    return answer;
  }

  private async call(name: string, method: string, at: string, text?: string): Promise<Answer> {
    const caller = this.callers[name];
    if (!caller) throw new Error(`no caller ${name}`);
    const [beganMs, began] = [Date.now(), performance.now()];
    const address = at === '/nodes' ? `${this.system.gateways[0]?.url}${at}` : at;
    const options = { withinMs: 120_000, ...(text !== undefined && { body: text }) };
    const answer = at === '/nodes' ? await nodes(address) : await caller.call(method, address, options);
    this.calls.push({
      beganMs,
      seconds: (performance.now() - began) / 1000,
      method,
      route: routeOf(at),
      workspace: name,
      status: answer.status,
      bucket: answer.bucket ?? '',
    });
    return answer;
  }
}

const all = (count: number, each: (index: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_each, index) => each(index)));

const body = (prompt: string, more: object = {}) => JSON.stringify({ prompt, ...more });

async function secondsOf(url: string): Promise<number> {
  const began = performance.now();
  await (await fetch(url, { signal: AbortSignal.timeout(30_000) })).arrayBuffer();
  return (performance.now() - began) / 1000;
}

/** The registry's answers have no headers of runs. */
async function nodes(address: string): Promise<Answer> {
  const reply = await fetch(address, { signal: AbortSignal.timeout(30_000) });
  const bytes = Buffer.from(await reply.arrayBuffer());
  return { status: reply.status, headers: reply.headers, bytes, json: () => ({}), bucket: undefined };
}

/** The route under which a gateway counts a path. */
const routeOf = (at: string): string =>
  at
    .replace(/\?.*$/, '')
    .replace(/^\/v2\/models\/[^/]+\/[^/]+/, '/v2/models/:provider/:model')
    .replace(/\/requests\/[0-9a-f-]{36}/, '/requests/:requestId');
