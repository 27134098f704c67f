// Run by Node itself, on the built libraries: a process that can be killed.
import { createTransport, queueSettings } from '#queue';
import { readSettings } from '#schemas';

const say = (line) => process.stdout.write(`${line}\n`);
const log = { info: () => {}, warn: () => {}, error: () => {} };
const transport = await createTransport(readSettings(queueSettings, process.env), log);
transport.consume({
  lane: 'dispatch',
  provider: process.argv[2],
  concurrency: 10,
  handle: (runId) => {
    say(`begun ${runId}`);
    return new Promise(() => {});
  },
});
say('consuming');
