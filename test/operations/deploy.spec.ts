import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { appMain, checkout } from '../../apps/local/src/checkout.js';
import { pathOf, textOf } from '../documents/checkout-files.js';
import { withTools } from '../harness/faults.js';
import { createDatabase, failOnLeftovers, temporaryFolder, type TestDatabase } from '../harness/index.js';
import { readDockerfile } from './packaging/dockerfile.js';
import { type Manifest, rendered, typeErrors } from './rendered.js';

const { describeWith, tools } = await withTools('kubectl', 'helm');

/** The lines of a page's shell blocks, in order. */
const commandsOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)]
    .flatMap(([, , block = '']) => block.split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '');
/** Quoted words count as one word. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replaceAll(/["']/g, ''));

const exampleValues = ['--values', 'k8s/chart/examples/minimal.yaml'];

/** Renders what the page applies. Every object that a command names must have been applied before. */
class Offline {
  private readonly applied = new Map<string, Manifest[]>();
  readonly images = new Set<string>();

  constructor(
    private readonly programs: { kubectl: string; helm: string },
    private readonly database: TestDatabase,
  ) {}

  follow(line: string): string {
    const words = wordsOf(line);
    const [program, ...rest] = words;
    if (program === 'docker') return this.docker(rest);
    if (program === 'kind') return this.load(rest.slice(2));
    if (program === 'psql')
      return existsSync(pathOf(rest.at(-1) ?? '')) || rest.includes('-c') ? 'the file is there' : '';
    if (program === 'helm') return this.helm(rest);
    if (program === 'curl') return 'needs a cluster';
    if (program !== 'kubectl') throw new Error(`unknown program: ${line}`);
    const namespace = rest[0] === '-n' ? rest.splice(0, 2)[1] : undefined;
    return this.kubectlOf(rest, namespace);
  }

  private docker(words: string[]): string {
    if (words[0] === 'push') return this.images.has(words[1] ?? '') ? 'needs a registry' : '';
    const value = (flag: string) => words[words.indexOf(flag) + 1] ?? '';
    const target = words.includes('--target') ? value('--target') : 'router';
    const stage = readDockerfile(value('-f')).stages.find(({ name }) => name === target);
    this.images.add(value('-t'));
    return stage ? `has the stage ${target}` : '';
  }

  private helm([verb = '', ...rest]: string[]): string {
    switch (verb) {
      case 'package': {
        const folder = temporaryFolder('chart');
        return this.helmSays(verb, ...rest, '--destination', folder).replace(`${folder}/`, '');
      }
      case 'template':
        return `prints ${objects(this.helmSays(verb, ...rest)).length} objects`;
      case 'upgrade':
        return this.install(this.helmSays('template', ...rest.filter((word) => word !== '--install')));
      case 'test':
        return this.helmSays('template', rest[0] ?? '', 'k8s/chart', ...exampleValues).includes(
          'helm.sh/hook: test',
        )
          ? 'needs a cluster'
          : '';
      default:
        return this.helmSays(verb, ...rest);
    }
  }

  /** The objects in the order of an install: first the hooks, and everything else after they have finished. */
  private install(rendered: string): string {
    const manifests = objects(rendered);
    const list = (hooks: boolean) =>
      manifests
        .filter((each) => isHook(each) === hooks)
        .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
        .join(', ');
    return typeErrors(manifests) || `first ${list(true)}\nthen ${list(false)}`;
  }

  private helmSays(...words: string[]): string {
    const { status, stdout, stderr } = spawnSync(this.programs.helm, words, {
      cwd: checkout,
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 2 ** 26,
    });
    return status === 0 ? stdout.trim() : stderr;
  }

  private load(images: string[]): string {
    return images.every((image) => this.images.has(image)) ? `loads ${images.join(', ')}` : '';
  }

  private kubectlOf([verb = '', ...rest]: string[], namespace = ''): string {
    switch (verb) {
      case 'apply':
        return this.apply(rest);
      case 'create': {
        const { status, stdout } = this.run([
          '-n',
          namespace,
          'create',
          ...rest,
          '--dry-run=client',
          '--output=yaml',
        ]);
        const made = parse(stdout) as Manifest;
        return status === 0 ? `makes ${made.kind} ${made.metadata.name}` : '';
      }
      case 'exec':
        return this.exec(rest, namespace);
      default: {
        // wait, rollout status, port-forward, logs: must name an applied object.
        const named = rest.find((word) => word.includes('/')) ?? '';
        const found = this.find(named, namespace);
        return found ? `finds ${found.kind} ${found.metadata.name}` : '';
      }
    }
  }

  private apply([flag = '', name = '']: string[]): string {
    const manifests =
      flag === '-k' ? rendered(this.programs.kubectl, name) : [parse(textOf(name)) as Manifest];
    const errors = typeErrors(manifests);
    if (errors !== '') return errors;
    for (const manifest of manifests) {
      const namespace =
        manifest.metadata.namespace ??
        (manifest.kind === 'Namespace' ? manifest.metadata.name : 'model-router');
      this.applied.set(namespace, [...(this.applied.get(namespace) ?? []), manifest]);
    }
    return `applies ${manifests.length} objects`;
  }

  private exec(words: string[], namespace: string): string {
    const [target = '', ...command] = words.filter((word) => word !== '--');
    const found = this.find(target, namespace);
    const [node, entry = '', app, ...rest] = command;
    if (!found || node !== 'node' || !existsSync(pathOf(entry)) || app !== 'admin') return '';
    const env = { ...process.env, DATABASE_URL: this.database.url };
    const { status, stdout, stderr } = spawnSync(process.execPath, [appMain('admin'), ...rest], {
      env,
      encoding: 'utf8',
    });
    return status === 0 ? stdout.replace(/rk_\w+/, 'rk_…') : stderr;
  }

  private find(target: string, namespace: string): Manifest | undefined {
    const [kind, name] = target.split('/');
    return this.applied
      .get(namespace)
      ?.find((each) => each.kind.toLowerCase() === kind && each.metadata.name === name);
  }

  private run(words: string[]) {
    return spawnSync(this.programs.kubectl, words, { encoding: 'utf8', timeout: 60_000 });
  }
}

const objects = (text: string): Manifest[] =>
  parseAllDocuments(text).flatMap((each) => (each.toJS() as Manifest | null) ?? []);

function isHook({ metadata }: Manifest): boolean {
  return (metadata as { annotations?: object }).annotations?.['helm.sh/hook' as never] !== undefined;
}

describeWith.each(['docs/operations/deploy.md', 'k8s/chart/README.md'])('%s, followed literally', (page) => {
  let database: TestDatabase;
  let offline: Offline;

  beforeAll(async () => {
    database = await createDatabase();
    offline = new Offline(tools, database);
  });
  afterAll(() => database.drop());

  // In the order of the page, because each command builds on the earlier ones.
  it.each(commandsOf(page))('%s', (command) => {
    const said = offline.follow(command);
    process.stderr.write(`$ ${command}\n${said}\n`);
    expect(said).not.toBe('');
    expect(said).not.toMatch(/error/i);
  });
});

failOnLeftovers();
