import { afterAll, expect, it } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import { workerSettings } from '../../apps/worker/src/settings.js';
import { textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { temporaryFolder } from '../harness/index.js';
import { Chart, chart, find, stored } from './chart.js';

const { describeWith, tools } = await withTools('helm');
const packed = new Chart(tools.helm);

interface Schema {
  properties: { config: { properties: Record<string, { $ref?: string; enum?: string[] }> } };
}
const { properties } = (JSON.parse(textOf('k8s/chart/values.schema.json')) as Schema).properties.config;

const known = { ...workerSettings, ...gatewaySettings };
/** A valid value of each setting of the pods that is not a secret. */
const examples = Object.fromEntries(
  Object.entries(known).flatMap(([name, schema]) => {
    const { example } = schema.meta() as { example: string };
    return Object.hasOwn(properties, name) ? [[name, example] as const] : [];
  }),
);

describeWith('config', () => {
  const folder = temporaryFolder('settings');
  afterAll(() => rmSync(folder, { recursive: true }));
  const withConfig = (config: object) => {
    const file = path.join(folder, 'values.yaml');
    writeFileSync(file, JSON.stringify({ config }));
    return ['--values', file];
  };

  it.each([
    ['a misspelt name', 'MAX_CONECTIONS', '5'],
    ['a text in place of a number', 'SYNC_DEADLINE_MS', 'ten'],
    ['an unknown word', 'LOG_LEVEL', 'loud'],
    ['a time of nothing', 'SYNC_DEADLINE_MS', '0'],
  ])('is refused with its name: %s', (_what, name, value) => {
    for (const command of [
      ['template', 'model-router', chart],
      ['lint', chart],
    ]) {
      const { status, stdout, stderr } = packed.helm(
        ...command,
        ...stored,
        '--set',
        `config.${name}=${value}`,
      );
      expect(status).not.toBe(0);
      expect(stdout + stderr).toContain(name);
    }
  });

  it('refuses every number that is a text, and names each', () => {
    const numbers = Object.keys(properties).filter((name) =>
      /(count|[nN]umber)$/.test(properties[name]?.$ref ?? ''),
    );
    expect(numbers.length).toBeGreaterThan(50);
    const config = Object.fromEntries(numbers.map((name) => [name, 'ten']));
    const { status, stderr } = packed.helm('template', 'model-router', chart, ...withConfig(config));
    expect(status).not.toBe(0);
    expect(numbers.filter((name) => !stderr.includes(name))).toEqual([]);
  });

  it('takes a valid value of every setting, as a text and as a number', () => {
    expect(Object.keys(examples).length).toBeGreaterThan(120);
    const numbers = Object.fromEntries(
      Object.entries(examples).map(([name, text]) => [name, /^\d+$/.test(text) ? Number(text) : text]),
    );
    for (const config of [examples, numbers]) {
      const map = find(packed.templated(...withConfig(config)), 'ConfigMap', 'model-router');
      expect(map).toMatchObject({ data: examples });
    }
  });

  it('knows every setting of the pods, except secrets', () => {
    const missing = Object.keys(known).filter((name) => !Object.hasOwn(properties, name));
    expect(missing.filter((name) => !/(_URL|_SECRET|_KEYS?|_TOKEN|_PASSWORD|_HEADERS)$/.test(name))).toEqual(
      [],
    );
    expect(missing).toContain('JWT_SECRET');
  });
});
