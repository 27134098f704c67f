import { beforeAll, describe, expect, it } from '@jest/globals';
import { failOnLeftovers, sharedSystem, type TestCaller, transports } from '../harness/index.js';
import { ofEachRow, ofEachShape } from './cases.js';
import { crossAll, expectAsPlanned, oneOfEachShape, plan } from './crossing.js';
import { testedRows } from './rows.js';

const rows = await testedRows();
const planned = [...plan(rows, ofEachRow), ...plan(oneOfEachShape(rows), ofEachShape)];

// How an adapter reads a reply is shown by its fixtures, in libs/providers/src/conformance.spec.ts. Here each
// row goes the whole way, and each shape with what a reply may become on it. What takes a time budget or a pause, and
// that nothing is sent twice, is in test/faults/every-provider.spec.ts.
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

  it('leaves every slot free', async () => {
    expect(
      await system.sql(
        'SELECT inflight, committed_micros::integer AS committed FROM workspace WHERE id = $1',
        [caller.workspaceId],
      ),
    ).toEqual([{ inflight: 0, committed: 0 }]);
  });
});

failOnLeftovers();
