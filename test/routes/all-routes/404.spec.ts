import { expect, it } from '@jest/globals';
import type { Caller, Submitted } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const model = 'bfl/flux-2-pro';
const nobodys = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

const requests = [
  ['GET', 'status'],
  ['GET', ''],
  ['PUT', 'cancel'],
] as const;

const ask = async (caller: Caller, [method, tail]: (typeof requests)[number], address: string, id: string) =>
  caller.call(method, `/v2/models/${address}/requests/${id}${tail && `/${tail}`}`);

async function strangers(): Promise<{ owner: Caller; stranger: Caller; runs: Submitted[] }> {
  const [{ caller: owner }, { caller: stranger }] = [await gateway().caller(), await gateway().caller()];
  const waiting = await owner.submit(model, '{"prompt":"x"}');
  const running = await owner.submit(model, '{"prompt":"x"}');
  await gateway().dispatch(running);
  return { owner, stranger, runs: [waiting, running] };
}

it.each(requests)(
  '%s …/%s answers alike for a run of another workspace, an unknown run and a wrong model',
  async (...route) => {
    const { owner, stranger, runs } = await strangers();
    const answers = [];
    for (const { requestId } of runs) {
      answers.push(await ask(stranger, route, model, requestId));
      answers.push(await ask(owner, route, 'bfl/flux-2-flex', requestId));
    }
    answers.push(await ask(stranger, route, model, nobodys), await ask(owner, route, model, nobodys));
    const [{ bytes } = { bytes: Buffer.of() }] = answers;
    for (const answer of answers) {
      expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
      expect(answer.bytes.equals(bytes)).toBe(true);
      expect([...answer.headers.keys()].sort()).toEqual([...(answers[0]?.headers.keys() ?? [])].sort());
    }
    // The owner still finds its runs, unchanged by the other caller's requests.
    const states = await Promise.all(runs.map(async (run) => (await owner.status(run)).json()['status']));
    expect(states).toEqual(['IN_QUEUE', 'IN_PROGRESS']);
  },
);
