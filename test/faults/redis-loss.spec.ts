import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System, type TestServer } from '../harness/faults.js';
import {
  failOnLeftovers,
  startRedis,
  type Submitted,
  type TcpProxy,
  tcpProxy,
  unending,
  waitFor,
} from '../harness/index.js';
import { expectSuccess, roomy, submitMany } from './crowd.js';
import { queueSizes, onRedis, redisCommand } from './redis-side.js';

const healedWithinMs = 60_000;

/** Everything in Redis may vanish: the rows restore it, and no run is submitted twice. */
describe.each(onRedis())('%s forgets', () => {
  let system: System;
  let caller: Awaited<ReturnType<System['caller']>>;
  let former: TestServer;
  let latter: TestServer;
  let wayToProvider: TcpProxy;
  let wayToRedis: TcpProxy;
  /** Read at each new connection, so that the address can lead to another server. */
  let serving: { port: number };

  beforeAll(async () => {
    system = await System.start({ transport: 'redis', gateways: 0, workers: 0 });
    caller = await system.caller(roomy);
    latter = system.redis as TestServer;
    former = await startRedis();
    serving = { port: former.port };
    [wayToRedis, wayToProvider] = await Promise.all([
      tcpProxy(serving),
      tcpProxy({ port: system.simulator.port }),
    ]);
    const env = {
      REDIS_URL: `redis://${wayToRedis.address}`,
      PROVIDER_BFL_BASE_URL: `http://${wayToProvider.address}/bfl`,
      // One workspace gets at most five of six slots.
      WORKER_DISPATCH_CONCURRENCY: '6',
    };
    await Promise.all([system.startGateway(env), system.startWorker(env), system.startWorker(env)]);
  });
  afterAll(async () => {
    await system.stop();
    await Promise.all([wayToRedis.close(), wayToProvider.close(), former.stop()]);
  });

  it('the last writes, in a failover: all runs complete', async () => {
    await redisCommand(latter.url, 'REPLICAOF', '127.0.0.1', String(former.port));
    const runs = await crowd('failover');
    await waitFor(replicaIsLevel, { withinMs: 20_000, what: 'the replica to catch up' });
    await redisCommand(latter.url, 'REPLICAOF', 'NO', 'ONE');

    // The new primary misses new runs and progress of others.
    const later = await Promise.all([
      submitMany(caller, 'bfl/flux-2-pro', 20, 'missed by bfl'),
      submitMany(caller, 'fal/flux-dev', 20, 'missed by fal'),
    ]);
    wayToProvider.set('pass');
    await waitFor(async () => (await submissions()).waiting < 30, {
      withinMs: 20_000,
      what: 'runs to progress',
    });
    await former.kill('SIGKILL');
    serving.port = latter.port;

    await expectHealing([...runs, ...later.flat()]);
  });

  it('everything, in a FLUSHALL, with 50 runs waiting, 50 delayed and 10 active: all complete', async () => {
    serving.port = latter.port;
    const runs = await crowd('flush');
    await redisCommand(latter.url, 'FLUSHALL');
    wayToProvider.set('pass');
    await expectHealing(runs);
  });

  /**
   * 10 submissions in flight that their provider does not answer, 50 behind them, and 50 runs being
   * polled.
   */
  async function crowd(name: string): Promise<Submitted[]> {
    wayToProvider.set('blackhole');
    const groups = await Promise.all([
      submitMany(caller, 'bfl/flux-2-pro', 60, name),
      submitMany(caller, 'fal/flux-dev', 50, `${unending} ${name}`),
    ]);
    const url = `redis://127.0.0.1:${serving.port}`;
    await waitFor(
      async () => {
        const [dispatches, polls] = await Promise.all([submissions(), queueSizes(url, 'poll')]);
        return dispatches.active === 10 && dispatches.waiting === 50 && polls.delayed === 50;
      },
      { withinMs: 25_000, what: '50 waiting, 50 delayed and 10 active' },
    );
    return groups.flat();
  }

  /** The number of submissions in flight, and of runs that wait for a slot in the outbox. */
  async function submissions(): Promise<{ active: number; waiting: number }> {
    const [row] = await system.sql<{ active: number; waiting: number }>(
      `SELECT count(*) FILTER (WHERE stage = 'submitting')::integer AS active, count(*) FILTER (WHERE waiting)::integer AS waiting
       FROM run JOIN outbox ON run_id = run.id WHERE run.provider = 'bfl'`,
    );
    return row ?? { active: 0, waiting: 0 };
  }

  async function replicaIsLevel(): Promise<boolean> {
    const facts = String(await redisCommand(former.url, 'INFO', 'replication'));
    const ours = /master_repl_offset:(\d+)/.exec(facts)?.[1];
    const theirs = /state=online,offset=(\d+)/.exec(facts)?.[1];
    return ours !== undefined && ours === theirs;
  }

  async function expectHealing(runs: Submitted[]): Promise<void> {
    await system.provider.finish();
    const startedAtMs = performance.now();
    await expectSuccess(system, runs, healedWithinMs);
    process.stdout.write(
      `${runs.length} runs recovered in ${Math.round(performance.now() - startedAtMs)} ms\n`,
    );
    expect(performance.now() - startedAtMs).toBeLessThan(healedWithinMs);
    await holdToInvariants(system);
  }
});

failOnLeftovers();
