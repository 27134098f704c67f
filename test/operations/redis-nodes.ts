import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../harness/faults.js';
import { temporaryFolder, trackChild, waitFor } from '../harness/index.js';
import { redisCommand } from '../faults/redis-side.js';

interface RedisNode {
  port: number;
  url: string;
  isLost(): boolean;
  /** Kills it without warning, like a lost machine. */
  lose(): Promise<void>;
}

export interface RedisNodes {
  /** The value of `REDIS_URL`. */
  url: string;
  /** The nodes that accept writes at the start. */
  primaries: RedisNode[];
  /** The nodes that accept writes now. */
  primariesNow(): Promise<string[]>;
  stop(): Promise<void>;
}

async function startNode(folder: string, ...words: string[]): Promise<RedisNode> {
  const port = await freePort();
  const configuration = path.join(folder, `${port}.conf`);
  writeFileSync(configuration, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...words, ''].join('\n'));
  const isSentinel = words.some((word) => word.startsWith('sentinel '));
  const child = spawn(
    process.env['TEST_REDIS_SERVER'] ?? '',
    [configuration, ...(isSentinel ? ['--sentinel'] : [])],
    { stdio: 'ignore' },
  );
  trackChild(child, `redis ${port}`);
  const ended = once(child, 'exit');
  const url = `redis://127.0.0.1:${port}`;
  await waitFor(() => redisCommand(url, 'PING').then(Boolean, () => false), {
    withinMs: 30_000,
    what: `the Redis node ${port}`,
  });
  return {
    port,
    url,
    isLost: () => child.exitCode !== null || child.signalCode !== null,
    lose: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const nodeWords = ['save ""', 'maxmemory-policy noeviction'];

/** Three primaries, each with a replica. */
export async function startCluster(): Promise<RedisNodes> {
  const folder = temporaryFolder('redis-nodes');
  const nodes: RedisNode[] = [];
  for (let index = 0; index < 6; index += 1)
    nodes.push(
      await startNode(
        folder,
        ...nodeWords,
        'cluster-enabled yes',
        `cluster-config-file nodes-${index}.conf`,
        'cluster-node-timeout 2000',
      ),
    );
  const primaries = nodes.slice(0, 3);
  const slots = [0, 5461, 10_923, 16_384];
  const [first] = nodes;
  for (const [index, { url }] of primaries.entries())
    await redisCommand(url, 'CLUSTER', 'ADDSLOTSRANGE', `${slots[index]}`, `${(slots[index + 1] ?? 0) - 1}`);
  for (const { url } of nodes.slice(1))
    await redisCommand(url, 'CLUSTER', 'MEET', '127.0.0.1', `${first?.port}`);
  for (const [index, { url }] of nodes.slice(3).entries()) {
    const id = String(await redisCommand(primaries[index]?.url ?? '', 'CLUSTER', 'MYID'));
    await waitFor(
      () =>
        redisCommand(url, 'CLUSTER', 'REPLICATE', id).then(
          () => true,
          () => false,
        ),
      {
        withinMs: 30_000,
        what: 'a replica to know its primary',
      },
    );
  }
  const whole = async () => {
    const infos = await Promise.all(nodes.map(({ url }) => redisCommand(url, 'CLUSTER', 'INFO')));
    const links = await Promise.all(
      nodes.slice(3).map(({ url }) => redisCommand(url, 'INFO', 'replication')),
    );
    return (
      infos.every((info) => String(info).includes('cluster_state:ok')) &&
      links.every((link) => String(link).includes('master_link_status:up'))
    );
  };
  await waitFor(whole, { withinMs: 60_000, what: 'the cluster' });
  return {
    url: primaries.map(({ url }) => url).join(','),
    primaries,
    primariesNow: primariesOf(nodes),
    stop: stopping(nodes, folder),
  };
}

/** A primary, two replicas and three sentinels. */
export async function startSentinels(): Promise<RedisNodes> {
  const folder = temporaryFolder('redis-nodes');
  const primary = await startNode(folder, ...nodeWords);
  const replicaOf = `replicaof 127.0.0.1 ${primary.port}`;
  const replicas = [1, 2].map(() => startNode(folder, ...nodeWords, replicaOf));
  const nodes = [primary, ...(await Promise.all(replicas))];
  const watch = [
    `sentinel monitor primary 127.0.0.1 ${primary.port} 2`,
    'sentinel down-after-milliseconds primary 2000',
    'sentinel failover-timeout primary 5000',
  ];
  const sentinels = await Promise.all([1, 2, 3].map(() => startNode(folder, ...watch)));
  const known = async () => {
    const words = await Promise.all(
      sentinels.map(({ url }) => redisCommand(url, 'SENTINEL', 'CKQUORUM', 'primary').then(String, String)),
    );
    const [about] =
      (await redisCommand(sentinels[0]?.url ?? '', 'SENTINEL', 'REPLICAS', 'primary').then((all) => [
        all as unknown[],
      ])) ?? [];
    return words.every((word) => word.startsWith('OK 3')) && about?.length === 2;
  };
  await waitFor(known, { withinMs: 60_000, what: 'the sentinels to know each other' });
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/primary`,
    primaries: [primary],
    primariesNow: primariesOf(nodes),
    stop: stopping([...nodes, ...sentinels], folder),
  };
}

const primariesOf = (nodes: readonly RedisNode[]) => async (): Promise<string[]> => {
  const roles = await Promise.all(
    nodes.map(async (node) => ({
      url: node.url,
      // A replica that took over reports it; a lost node does not answer.
      isPrimary:
        !node.isLost() && String(await redisCommand(node.url, 'INFO', 'replication')).includes('role:master'),
    })),
  );
  return roles.filter(({ isPrimary }) => isPrimary).map(({ url }) => url);
};

const stopping = (nodes: readonly RedisNode[], folder: string) => async () => {
  await Promise.all(nodes.map((node) => node.lose()));
  rmSync(folder, { recursive: true, force: true });
};
