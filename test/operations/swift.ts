import { BucketAlreadyOwnedByYou, CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startServer, type ServerProcess } from '../../apps/local/src/servers/server-process.js';
import { freePort } from '../harness/faults.js';
import { temporaryFolder, waitFor } from '../harness/index.js';
import { noteEnded, noteStarted, runRecords } from '../harness/running.js';
import {
  ringProgram,
  serverProgram,
  storageServers,
  type SwiftPorts,
  swiftRegion,
  swiftUser,
  writeConfiguration,
} from './swift-configuration.js';
import type { SwiftPackages } from './swift-packages.js';

export interface Swift {
  /** The `S3_*` part of an environment, with an existing bucket. */
  settings: Record<
    'S3_ENDPOINT' | 'S3_REGION' | 'S3_BUCKET' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY',
    string
  >;
  port: number;
  logs(): string;
  stop(): Promise<void>;
}

/** A separate S3 service on this machine, from `swiftPackages()`; starts within a few seconds. */
export async function startSwift(packages: SwiftPackages): Promise<Swift> {
  const folder = temporaryFolder('swift');
  const ports = await freePorts();
  writeConfiguration(folder, ports);
  await makeRings(packages, folder, ports);
  const start = (name: string, command: string, args: string[]) => run(packages, folder, name, command, args);
  const servers = await Promise.all([
    start('memcached', packages.memcached, ['-u', 'root', '-l', '127.0.0.1', '-p', String(ports.memcached)]),
    ...[...storageServers, 'proxy'].map((server) =>
      start(`swift ${server}`, packages.python, ['-c', serverProgram, folder, server]),
    ),
  ]);
  const logs = () => readFileSync(path.join(folder, 'log'), 'utf8');
  const stop = async () => {
    await Promise.all(servers.map((server) => end(server)));
    rmSync(folder, { recursive: true, force: true });
  };
  const settings = {
    S3_ENDPOINT: `http://127.0.0.1:${ports.proxy}`,
    S3_REGION: swiftRegion,
    S3_BUCKET: 'assets',
    S3_ACCESS_KEY_ID: `${swiftUser.account}:${swiftUser.user}`,
    S3_SECRET_ACCESS_KEY: swiftUser.key,
  };
  try {
    await createBucket({ settings });
  } catch (error) {
    const log = logs();
    await stop();
    throw new Error(`Swift did not start. Its log:\n${log}`, { cause: error });
  }
  return { settings, port: ports.proxy, logs, stop };
}

async function freePorts(): Promise<SwiftPorts> {
  const names = ['account', 'container', 'object', 'proxy', 'memcached'] as const;
  const ports = await Promise.all(names.map(async (name) => [name, await freePort()] as const));
  return Object.fromEntries(ports) as SwiftPorts;
}

async function makeRings(packages: SwiftPackages, folder: string, ports: SwiftPorts): Promise<void> {
  const storagePorts = storageServers.map((server) => String(ports[server]));
  await promisify(execFile)(packages.python, ['-c', ringProgram, folder, ...storagePorts], {
    env: packages.env,
    timeout: 60_000,
  });
}

async function run(packages: SwiftPackages, folder: string, name: string, command: string, args: string[]) {
  const server = await startServer({
    name,
    command,
    args,
    env: packages.env,
    logPath: path.join(folder, 'log'),
    records: runRecords(),
  });
  noteStarted({ pid: server.pid, name, end: () => end(server) });
  return server;
}

async function end(server: ServerProcess): Promise<void> {
  if (server.running) await server.stop();
  noteEnded(server.pid);
}

/** Retries until it succeeds, because all servers must be up for that. */
async function createBucket(swift: Pick<Swift, 'settings'>): Promise<void> {
  const client = rawClient(swift);
  const create = async () => {
    const command = new CreateBucketCommand({ Bucket: swift.settings.S3_BUCKET });
    await client.send(command, { abortSignal: AbortSignal.timeout(20_000) }).catch((error: unknown) => {
      // An earlier try created it, but its answer came too late.
      if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
    });
    return true;
  };
  try {
    await waitFor(create, { withinMs: 60_000, everyMs: 100, what: 'Swift to create a bucket' });
  } finally {
    client.destroy();
  }
}

/** For operations that the port lacks. */
export function rawClient({ settings }: Pick<Swift, 'settings'>): S3Client {
  // The SDK would print an announcement in the middle of the results.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  return new S3Client({
    endpoint: settings.S3_ENDPOINT,
    region: settings.S3_REGION,
    credentials: {
      accessKeyId: settings.S3_ACCESS_KEY_ID,
      secretAccessKey: settings.S3_SECRET_ACCESS_KEY,
    },
    forcePathStyle: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
}
