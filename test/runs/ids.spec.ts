import { describe, expect, it } from '@jest/globals';
import { failOnLeftovers, sharedSystem, eitherTransport, waitFor } from '../harness/index.js';

const model = 'bfl/flux-2-pro';

describe.each(eitherTransport())('the log, on %s', (transport) => {
  const system = sharedSystem(transport);

  it('has the run’s id in the gateway’s line, and the admitting call’s id in every line of a worker', async () => {
    const caller = await system.caller();
    const answer = await caller.call('POST', `/v2/models/${model}`, { body: '{"prompt":"x"}' });
    const [runId, callId] = ['x-service-run-id', 'x-service-request-id'].map((name) =>
      answer.headers.get(name),
    );
    const linesOf = (app: { logs(): string }) =>
      app
        .logs()
        .split('\n')
        .filter((line) => line.includes(`"run_id":"${runId}"`))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [calls, runs] = await waitFor(
      () => {
        const ofGateways = system.gateways.flatMap(linesOf);
        const ofWorkers = system.workers.flatMap(linesOf);
        const isFinished = ofWorkers.some(({ msg }) => msg === 'run finished');
        return ofGateways.length > 0 && isFinished && ([ofGateways, ofWorkers] as const);
      },
      { withinMs: 60_000, what: 'the lines of the run' },
    );
    expect(calls).toMatchObject([{ msg: 'call', request_id: callId, status: 200 }]);
    for (const line of runs) expect(line['call_id']).toBe(callId);
  });
});

failOnLeftovers();
