import { beforeAll, describe, expect, it } from '@jest/globals';
import { failOnLeftovers, sharedSystem, type TestCaller, transports } from '../harness/index.js';
import { ofEachRow, ofEachShape } from './cases.js';
import { crossAll, expectAsPlanned, oneOfEachShape, plan } from './crossing.js';
import { testedRows } from './rows.js';

const rows = await testedRows();
const planned = [...plan(rows, ofEachRow), ...plan(oneOfEachShape(rows), ofEachShape)];

// Fixtures show how an adapter reads a reply (libs/providers/src/conformance.spec.ts). Here each row runs from
// caller to provider and back, and each shape meets the possible replies. Cases that take a time budget or a
// pause, and the proof that nothing is sent twice, are in test/faults/every-provider.spec.ts.
describe.each(transports().slice(0, 1))('every provider on %s', (transport) => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  let ended: Awaited<ReturnType<typeof crossAll>>;

  beforeAll(async () => {
    caller = await system.caller({ inflightLimit: 1000, windowLimit: 10_000 });
    ended = await crossAll(system, caller, planned);
  });

  describe.each(rows)('$model', (row) => {
    it.each(planned.filter((each) => each.row === row))('$each.name', (each) =>
      expectAsPlanned(system, each, ended),
    );
  });

  it('all slots are free afterwards', async () => {
    expect(
      await system.sql(
        'SELECT inflight, committed_micros::integer AS committed FROM workspace WHERE id = $1',
        [caller.workspaceId],
      ),
    ).toEqual([{ inflight: 0, committed: 0 }]);
  });
});

failOnLeftovers();
