import { execFileSync } from 'node:child_process';
import { type Source, unknown } from './release.js';

/**
 * The source of a build in the folder: GIT_REVISION and BUILT_AT or SOURCE_DATE_EPOCH if the builder sets them,
 * otherwise the commit of the folder's own checkout.
 */
export function sourceOf(folder: string, env: NodeJS.ProcessEnv): Source {
  const { GIT_REVISION: revision, BUILT_AT: builtAt, SOURCE_DATE_EPOCH: seconds } = env;
  const commit = commitOf(folder);
  return {
    revision: revision || commit.revision,
    builtAt: builtAt || (seconds && instant(seconds)) || commit.builtAt,
  };
}

function commitOf(folder: string): Source {
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', folder, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    // An unpacked archive may be inside the checkout of something else.
    if (git('rev-parse', '--show-prefix').trim() !== '') return unknown;
    const [revision = '', seconds = ''] = git('show', '--no-patch', '--format=%H %ct', 'HEAD')
      .trim()
      .split(' ');
    const isDirty = git('status', '--porcelain') !== '';
    return { revision: isDirty ? `${revision}-dirty` : revision, builtAt: instant(seconds) };
  } catch {
    return unknown;
  }
}

const instant = (seconds: string): string =>
  new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
