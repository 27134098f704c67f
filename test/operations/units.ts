import { parseEnv } from 'node:util';
import { textOf } from '../documents/checkout-files.js';

export const folder = 'docs/operations/systemd';

/** A systemd unit of docs/operations/systemd, for one instance. */
export class Unit {
  private readonly lines: readonly (readonly [key: string, value: string])[];

  constructor(
    readonly name: string,
    instance = '',
  ) {
    this.lines = textOf(`${folder}/${name}`)
      .split('\n')
      .flatMap((line) => {
        const [, key, value = ''] = /^(\w+)=(.*)$/.exec(line) ?? [];
        return key === undefined ? [] : [[key, value.replaceAll('%i', instance)] as const];
      });
  }

  all(key: string): string[] {
    return this.lines.filter(([name]) => name === key).map(([, value]) => value);
  }

  one(key: string): string {
    const [value, ...others] = this.all(key);
    if (value === undefined || others.length > 0) throw new Error(`${this.name} does not have one ${key}`);
    return value;
  }

  /** The program and its arguments. */
  get command(): string[] {
    return this.one('ExecStart').split(' ');
  }

  /** The environment files, as the page installs them, and then the unit's own variables. */
  get environment(): Record<string, string> {
    const files = this.all('EnvironmentFile').map((file) =>
      parseEnv(textOf(`${folder}/${file.replace(/^-?\/etc\/model-router\//, '')}`)),
    );
    const own = this.all('Environment').flatMap((line) =>
      line.split(' ').map((pair) => [pair.split('=')[0], pair.slice(pair.indexOf('=') + 1)] as const),
    );
    return Object.assign({}, ...files, Object.fromEntries(own)) as Record<string, string>;
  }
}

/** Includes variables that are commented out. */
export const variablesOf = (file: string): string[] =>
  Object.keys(parseEnv(textOf(`${folder}/${file}`).replaceAll(/^# (?=[A-Z0-9_]+=)/gm, '')));
