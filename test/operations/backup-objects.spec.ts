import { describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathOf, textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { Chart, chart, objects, stored } from './chart.js';
import type { Pod } from './objects.js';
import { type Manifest, rendered, typeErrors } from './rendered.js';

const { describeWith, tools } = await withTools('kubectl', 'helm');

function templated(...set: string[]): { manifests: Manifest[]; problem: string } {
  const values = set.flatMap((value) => ['--set', value]);
  const { stdout, stderr } = new Chart(tools.helm).helm(
    'template',
    'model-router',
    chart,
    ...stored,
    ...values,
  );
  return { manifests: objects(stdout), problem: stderr };
}

/** The component on its own. */
function component(): Manifest[] {
  const parent = pathOf('.local');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, 'component-'));
  try {
    const components = [path.relative(folder, pathOf('k8s/components/backup'))];
    writeFileSync(path.join(folder, 'kustomization.yaml'), JSON.stringify({ components }));
    return rendered(tools.kubectl, path.relative(pathOf('.'), folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const isOfBackup = ({ metadata }: Manifest) => metadata.name.startsWith('backup');
const podOf = (manifests: Manifest[], kind: string): Pod => {
  const found = manifests.find((each) => each.kind === kind && isOfBackup(each)) as unknown as {
    spec: { template: { spec: Pod }; jobTemplate: { spec: { template: { spec: Pod } } } };
  };
  return kind === 'CronJob' ? found.spec.jobTemplate.spec.template.spec : found.spec.template.spec;
};
const envOf = (pod: Pod) => (pod.containers[0] as unknown as { env: object[] }).env;

describeWith('the backup in the cluster', () => {
  const on = ['backup.enabled=true', 'backup.keep=3', 'backup.schedule=5 5 * * *', 'backup.secret=own'];

  it('consists of the same objects from the component and from the chart, which the chart leaves out by default', () => {
    const made = templated('backup.enabled=true').manifests.filter(isOfBackup);
    const kinds = ['ConfigMap', 'CronJob', 'Deployment', 'PersistentVolumeClaim'];
    const ofComponent = component();
    expect(ofComponent.map(({ kind }) => kind).sort()).toEqual(kinds);
    expect(made.map(({ kind }) => kind).sort()).toEqual([...kinds, 'NetworkPolicy'].sort());
    expect(typeErrors([...made, ...ofComponent])).toBe('');
    for (const kind of ['CronJob', 'Deployment'])
      expect(JSON.parse(JSON.stringify(podOf(made, kind)))).toEqual(
        JSON.parse(JSON.stringify(podOf(ofComponent, kind)).replaceAll(/"backup-[a-z0-9]{10}"/g, '"backup"')),
      );
    expect(templated().manifests.filter(isOfBackup)).toEqual([]);
  });

  it.each(['CronJob', 'Deployment'])('runs the script in its %s without rights', (kind) => {
    const { manifests } = templated(...on);
    const pod = podOf(manifests, kind);
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(pod.automountServiceAccountToken).toBe(false);
    expect(pod.containers[0]?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(envOf(pod)).toContainEqual({
      name: 'BACKUP_URL',
      valueFrom: { secretKeyRef: { name: 'own', key: 'BACKUP_URL' } },
    });
    const script = manifests.find((each) => each.kind === 'ConfigMap' && isOfBackup(each)) as unknown as {
      data: Record<string, string>;
    };
    expect(script.data['backup.sh']).toBe(textOf('k8s/components/backup/backup.sh'));
  });

  it('follows the values', () => {
    const { manifests } = templated(...on, 'backup.storage.size=2Ti', 'backup.storage.className=fast');
    expect(envOf(podOf(manifests, 'CronJob'))).toContainEqual({ name: 'BACKUP_KEEP', value: '3' });
    expect(manifests.filter(isOfBackup)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ spec: expect.objectContaining({ schedule: '5 5 * * *' }) }),
        expect.objectContaining({
          spec: expect.objectContaining({
            storageClassName: 'fast',
            resources: { requests: { storage: '2Ti' } },
          }),
        }),
      ]),
    );
  });

  it('takes the name of the release in its objects, volumes and selectors', () => {
    const made = templated(...on, 'fullnameOverride=images').manifests.filter(({ metadata }) =>
      metadata.name.startsWith('images-backup'),
    );
    expect(made).toHaveLength(5);
    const text = JSON.stringify(made);
    expect(text.match(/(claimName|configMap":\{"name)":"images-backup"/g)).toHaveLength(4);
    expect(text.match(/"app.kubernetes.io\/instance":"images"/g)).toHaveLength(5);
  });

  it.each(['backup.enable=true', 'backup.keep=0', 'backup.image=postgres', 'backup.storage.size=lots'])(
    'rejects %s',
    (value) => expect(templated(value).problem).toContain('backup'),
  );
});

describe('the units for systemd', () => {
  const units = [
    'model-router-backup.service',
    'model-router-backup-log.service',
    'model-router-backup.timer',
  ];

  it('are well-formed, and start the script', () => {
    for (const unit of units) {
      const lines = textOf(`docs/operations/systemd/${unit}`).split('\n');
      const bad = lines.filter((line) => !/^($|#|\[\w+\]$|[A-Z]\w+=)/.test(line));
      expect([unit, bad]).toEqual([unit, []]);
    }
    const starts = units.flatMap((unit) =>
      textOf(`docs/operations/systemd/${unit}`)
        .split('\n')
        .filter((line) => line.startsWith('ExecStart=')),
    );
    const script = '/opt/model-router/k8s/components/backup/backup.sh';
    expect(starts).toEqual([`ExecStart=${script} base`, `ExecStart=${script} log`]);
  });
});
