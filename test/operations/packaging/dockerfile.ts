import { textOf } from '../../documents/checkout-files.js';

interface Instruction {
  keyword: string;
  rest: string;
}

export interface Stage {
  name: string;
  base: string;
  instructions: Instruction[];
}

/** The instructions before the first stage, and the stages in order. */
export function readDockerfile(name: string): { head: Instruction[]; stages: Stage[] } {
  const lines = textOf(name)
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const head: Instruction[] = [];
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, keyword = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (keyword === '') throw new Error(`not an instruction on one line: ${line}`);
    const [base = '', , stage = ''] = rest.split(' ');
    if (keyword === 'FROM') stages.push({ name: stage, base, instructions: [] });
    else (stages.at(-1)?.instructions ?? head).push({ keyword, rest });
  }
  return { head, stages };
}

/** The arguments of a COPY, which reads the build context if `from` is undefined. */
export function copied({ rest }: Instruction): {
  from: string | undefined;
  sources: string[];
  target: string;
  /** uid:gid of the copied files. */
  owner: string | undefined;
} {
  const words = rest.split(' ');
  const flag = (name: string) => words.find((word) => word.startsWith(name))?.slice(name.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  return {
    from: flag('--from='),
    sources: paths.slice(0, -1),
    target: paths.at(-1) ?? '',
    owner: flag('--chown='),
  };
}
