import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { pathOf, textOf } from './checkout-files.js';

interface Step {
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
}
interface Workflow {
  name: string;
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, { permissions?: Record<string, string>; steps: Step[] }>;
}

const folder = '.github/workflows';
const files = readdirSync(pathOf(folder));
const textOfWorkflow = (file: string) => textOf(`${folder}/${file}`);
const workflowOf = (file: string) => parseDocument(textOfWorkflow(file)).toJS() as Workflow;
const stepsOf = (file: string) => Object.values(workflowOf(file).jobs).flatMap(({ steps }) => steps);
const scriptsOf = (file: string) => stepsOf(file).flatMap(({ run }) => run ?? []);

/** Whatever may write, and why it must: the tag and the release page, the image and the chart, the signatures. */
const writers: Record<string, Record<string, string>> = {
  'release.yaml publish': { contents: 'write', packages: 'write', 'id-token': 'write' },
};

it('there are a workflow for changes, one for every night, and one for releases', () => {
  expect(files.sort()).toEqual(['ci.yaml', 'nightly.yaml', 'release.yaml']);
  expect(Object.keys(workflowOf('ci.yaml').on)).toEqual(['push', 'pull_request']);
  expect(scriptsOf('ci.yaml')).toContain('.ci/run');
  expect(workflowOf('nightly.yaml').on).toMatchObject({ schedule: [{ cron: expect.any(String) }] });
  expect(scriptsOf('nightly.yaml')).toContain('npm run test:faults');
});

describe.each(files)('.github/workflows/%s', (file) => {
  it('is valid YAML', () => expect(parseDocument(textOfWorkflow(file)).errors).toEqual([]));

  it('names each action by its commit, with the version for people', () => {
    const lines = textOfWorkflow(file)
      .split('\n')
      .filter((line) => /\buses:/.test(line));
    expect(lines.length).toBe(stepsOf(file).filter(({ uses }) => uses !== undefined).length);
    const pinned = /^ +(?:- )?uses: [\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
    expect(lines.filter((line) => !pinned.test(line))).toEqual([]);
  });

  it('may only read, except in the jobs that publish', () => {
    const { permissions, jobs } = workflowOf(file);
    expect(permissions).toEqual({ contents: 'read' });
    for (const [name, job] of Object.entries(jobs))
      expect([name, job.permissions]).toEqual([name, writers[`${file} ${name}`]]);
  });

  it('leaves no credential in a checkout that need not push', () => {
    for (const [name, { steps }] of Object.entries(workflowOf(file).jobs)) {
      if (Object.hasOwn(writers, `${file} ${name}`)) continue;
      for (const step of steps.filter(({ uses }) => uses?.startsWith('actions/checkout@')))
        expect([name, step.with]).toEqual([name, expect.objectContaining({ 'persist-credentials': false })]);
    }
  });

  it('puts no expression into a script, in which a name could become a command', () =>
    expect(scriptsOf(file).filter((script) => script.includes('${{'))).toEqual([]));

  it('runs scripts that exist', () => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    const text = scriptsOf(file).join('\n');
    const named = [...text.matchAll(/\bnpm (?:run (?:--silent )?([\w:-]+)|(test)\b)/g)].map(
      ([, script, test]) => script ?? test ?? '',
    );
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    const programs = [...text.matchAll(/^(\.[\w/.-]+)$/gm)].map(([, program = '']) => program);
    expect(programs.filter((program) => !existsSync(pathOf(program)))).toEqual([]);
  });
});

describe('a release', () => {
  const { jobs } = workflowOf('release.yaml');
  const textOfJob = (name: string) => JSON.stringify(jobs[name]);

  it('is scanned, and stops at a high finding that has a fix', () => {
    const scans = jobs['build']?.steps.filter(({ uses }) => uses?.startsWith('anchore/scan-action@')) ?? [];
    expect(scans.map((step) => step.with)).toEqual([
      expect.objectContaining({ sbom: 'release/sbom.cyclonedx.json' }),
      expect.objectContaining({ image: expect.stringMatching(/^docker-archive:release\/.+\.tar$/) }),
    ]);
    for (const step of scans)
      expect(step.with).toMatchObject({ 'severity-cutoff': 'high', 'only-fixed': true });
  });

  it('has signatures of the image, the chart and the checksums, and a provenance of the client', () => {
    const text = textOfJob('publish');
    expect(text).toContain('cosign sign --yes --recursive');
    expect(text.match(/cosign sign --yes/g)).toHaveLength(2);
    expect(text).toContain('cosign sign-blob --yes --bundle release/SHA256SUMS.sigstore.json');
    expect(text).toMatch(/npm publish [^\n]+ --provenance/);
  });
});
