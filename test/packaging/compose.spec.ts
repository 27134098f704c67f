import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { readSettings } from '#schemas';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import { simulatorSettings } from '../../apps/simulator/src/settings.js';
import { workerSettings } from '../../apps/worker/src/settings.js';
import { textOf } from '../documents/checkout-files.js';

describe('docker/compose.yaml', () => {
  interface Service {
    image?: string;
    build?: { target: string };
    command?: string[];
    environment?: Record<string, string>;
    depends_on?: Record<string, object>;
  }
  const { services } = parse(textOf('docker/compose.yaml'), { merge: true }) as {
    services: Record<string, Service>;
  };
  const environmentOf = (name: string) => services[name]?.environment ?? {};

  it('gives gateway and worker environments that pass, with settings that exist', () => {
    expect(readSettings(gatewaySettings, environmentOf('gateway')).REDIS_URL).toBe('redis://valkey:6379');
    expect(readSettings(workerSettings, environmentOf('worker')).REDIS_URL).toBe('redis://valkey:6379');
    const shapes = { gateway: { ...gatewaySettings, ...workerSettings }, simulator: simulatorSettings };
    expect(unknown('gateway', shapes.gateway)).toEqual([]);
    expect(unknown('worker', shapes.gateway)).toEqual([]);
    expect(unknown('simulator', shapes.simulator)).toEqual([]);
  });

  it('sends the worker to the simulator', () => {
    const ports = readSettings(simulatorSettings, environmentOf('simulator'));
    const worker = readSettings(workerSettings, environmentOf('worker'));
    const named = Object.entries(environmentOf('worker')).filter(([name]) => name.endsWith('_BASE_URL'));
    expect(named.map(([, url]) => new URL(url).port)).toEqual(named.map(() => String(ports.SIMULATOR_PORT)));
    expect(worker.ASSET_ALLOWED_ORIGINS).toEqual([`http://127.0.0.1:${ports.SIMULATOR_ASSET_PORT}`]);
  });

  it('depends on services that exist and builds stages that exist', () => {
    const wanted = Object.values(services).flatMap(({ depends_on: others = {} }) => Object.keys(others));
    expect(wanted.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
    const stages = [...textOf('docker/Dockerfile').matchAll(/^FROM \S+ AS (\w+)$/gm)].map(
      ([, stage]) => stage,
    );
    const targets = Object.values(services).flatMap(({ build }) => (build ? [build.target] : []));
    expect(targets.filter((target) => !stages.includes(target))).toEqual([]);
  });

  const unknown = (name: string, shape: object): string[] =>
    Object.keys(environmentOf(name)).filter((each) => !Object.hasOwn(shape, each));
});
