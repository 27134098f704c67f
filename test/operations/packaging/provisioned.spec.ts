import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { filesBelow, pathOf, textOf } from '../../documents/checkout-files.js';
import { withTools } from '../../harness/faults.js';
import { temporaryFolder } from '../../harness/index.js';
import { mounts, type Service, written } from './compose.js';

const { describeWith, tools } = await withTools('promtool');
const { prometheus = { image: '' }, grafana = { image: '' } } = written.services;
/** The file of the checkout that a service finds at a path. */
const mounted = (service: Service, there: string) =>
  mounts(service).find((mount) => mount.there === there)?.here ?? '';

describeWith('the Prometheus of docker/compose.yaml', () => {
  it('accepts its configuration and the alerts, according to its own tool', () => {
    const folder = temporaryFolder('prometheus');
    for (const { here, there } of mounts(prometheus))
      cpSync(pathOf(here), path.join(folder, path.basename(there)));
    const file = path.join(folder, 'prometheus.yaml');
    const { status, stdout } = spawnSync(tools.promtool, ['check', 'config', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/);
    expect(status).toBe(0);
  });
});

describe('the monitoring of docker/compose.yaml', () => {
  it('scrapes gateways and workers at their metrics addresses', () => {
    const { scrape_configs: jobs } = parse(
      textOf(mounted(prometheus, '/etc/prometheus/prometheus.yaml')),
    ) as {
      scrape_configs: {
        dns_sd_configs: { names: string[]; port: number }[];
        relabel_configs: { replacement: string }[];
      }[];
    };
    const [internalPort] = /(?<=^ENV INTERNAL_PORT=)\d+$/m.exec(textOf('docker/Dockerfile')) ?? [];
    const scraped = jobs.flatMap(({ dns_sd_configs: configs, relabel_configs: labels }) =>
      configs.map(({ names, port }) => ({ names, port, app: labels.map(({ replacement }) => replacement) })),
    );
    expect(scraped).toEqual(
      ['gateway', 'worker'].map((name) => ({ names: [name], port: Number(internalPort), app: [name] })),
    );
  });

  it('gives Grafana that Prometheus and the committed dashboards, which need no other source', () => {
    const provisioning = '/etc/grafana/provisioning';
    const { datasources } = parse(
      textOf(mounted(grafana, `${provisioning}/datasources/model-router.yaml`)),
    ) as { datasources: { type: string; url: string; isDefault: boolean }[] };
    expect(datasources).toMatchObject([
      { type: 'prometheus', url: 'http://prometheus:9090', isDefault: true },
      { type: 'grafana-postgresql-datasource', url: 'postgres:5432' },
    ]);

    const { providers } = parse(textOf(mounted(grafana, `${provisioning}/dashboards/model-router.yaml`))) as {
      providers: { options: { path: string } }[];
    };
    const shown = providers.flatMap(({ options }) => filesBelow(mounted(grafana, options.path)));
    expect(shown).toEqual(filesBelow('monitoring/dashboards'));
    for (const file of shown) {
      const text = textOf(file);
      const { uid: own, templating } = JSON.parse(text) as {
        uid: string;
        templating: { list: { type: string; name: string; query: unknown }[] };
      };
      const uids = [...text.matchAll(/"uid": "([^"]*)"/g)].map(([, uid = '']) => uid);
      const variables = templating.list.flatMap(({ type, name }) =>
        type === 'datasource' ? [`\${${name}}`] : [],
      );
      expect(new Set(uids)).toEqual(new Set([...variables, own]));

      expect(templating.list).toContainEqual(
        expect.objectContaining({ type: 'datasource', name: 'datasource', query: datasources[0]?.type }),
      );
    }
  });
});
