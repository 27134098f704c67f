import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { until } from '../transport/until.js';

interface ConsumerProcess {
  /** The run ids whose handling has begun. */
  begun(): string[];
  kill(): Promise<void>;
}

/** A separate process that begins every run of the provider and never finishes one. */
export async function startConsumerProcess(
  environment: Record<string, string>,
  provider: string,
): Promise<ConsumerProcess> {
  const program = fileURLToPath(new URL('consumer-program.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, provider], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  await until(() => output.includes('consuming'), 30_000);
  return {
    begun: () => [...output.matchAll(/^begun (\S+)$/gm)].map((match) => match[1] ?? ''),
    kill: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
