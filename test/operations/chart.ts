import { spawnSync } from 'node:child_process';
import { parseAllDocuments } from 'yaml';
import { filesBelow, pathOf } from '../documents/checkout-files.js';
import type { Manifest } from './rendered.js';

export const chart = pathOf('k8s/chart');

/** The names of the chart's sets of values. */
export const examples: readonly string[] = filesBelow('k8s/chart/examples').map((file) =>
  file.replace(/^.*\/(.*)\.yaml$/, '$1'),
);
export const valuesOf = (example: string): string[] => [
  '--values',
  pathOf(`k8s/chart/examples/${example}.yaml`),
];
/** Without storage nothing is rendered. */
export const stored = ['--set', 'config.S3_BUCKET=router-assets'];

interface Said {
  status: number | null;
  stdout: string;
  stderr: string;
}

export class Chart {
  constructor(
    private readonly program: string,
    private readonly env: Record<string, string> = {},
  ) {}

  helm(...words: string[]): Said {
    return spawnSync(this.program, words, {
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 2 ** 26,
      env: { ...process.env, ...this.env },
    });
  }

  /** The objects of a release called model-router. */
  templated(...words: string[]): Manifest[] {
    const { status, stdout, stderr } = this.helm('template', 'model-router', chart, ...words);
    if (status !== 0) throw new Error(stderr);
    return objects(stdout);
  }
}

/** The objects in the output of Helm. */
export const objects = (text: string): Manifest[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);

export const find = (manifests: readonly Manifest[], kind: string, name: string): Manifest | undefined =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name);
