import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, transports } from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const path = '/v2/models/fal/flux-dev';
/** Fewer than the number of tries that each statement has. */
const times = 3;

describe.each(transports().slice(0, 1))('transient errors of Postgres, on %s', (transport) => {
  let system: System;
  let caller: TestCaller;
  beforeAll(async () => {
    system = await System.start({ transport });
    caller = await system.caller();
    await system.sql(`
      CREATE SEQUENCE raised;
      CREATE FUNCTION raise_at_first() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        -- A sequence is not rolled back with the statement that it fails.
        IF nextval('raised') <= ${times} THEN RAISE EXCEPTION 'injected' USING ERRCODE = TG_ARGV[0]; END IF;
        RETURN NEW;
      END $$`);
  });
  afterAll(() => system.stop());

  /** Where the error occurs, and in which statement. */
  const places = [
    ['an admission', 'INSERT', 'outbox'],
    ['the use of a key', 'INSERT', 'idempotency_key'],
    ['a claim', 'UPDATE', 'run'],
    ['a saved handle', 'UPDATE', 'outbox'],
    ['an outcome', 'INSERT', 'audit_record'],
  ] as const;
  const cases = ['40001', '40P01', '23505'].flatMap((state) =>
    places.map(([what, event, table]) => ({ state, what, event, table })),
  );

  it.each(cases)('$state in $what: retried internally, unseen by the caller', async (each) => {
    const { state, event, table } = each;
    await system.sql(`ALTER SEQUENCE raised RESTART`);
    await system.sql(
      `CREATE TRIGGER injected BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION raise_at_first('${state}')`,
    );
    const key = `${state}-${table}-${event}`;
    const submit = () =>
      caller.call('POST', `${path}/requests`, {
        body: JSON.stringify({ prompt: `${key} [[sim:tag=${key}]]` }),
        headers: { 'idempotency-key': key },
      });
    const first = await submit();
    expect(first.status).toBe(201);
    const run = { requestId: String(first.json()['request_id']), model: 'fal/flux-dev', body: '' };
    expect(await caller.completed(run)).not.toHaveProperty('error_type');
    const again = await submit();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.bytes.equals(first.bytes)).toBe(true);
    const [raised] = await system.sql<{ last: string }>('SELECT last_value AS last FROM raised');
    expect(Number(raised?.last)).toBeGreaterThan(times);
    await system.sql(`DROP TRIGGER injected ON ${table}`);
    expect(await system.provider.accepted(key)).toBe(1);
  });

  it('in a synchronous run: the caller gets the result, not a 500', async () => {
    await system.sql(`ALTER SEQUENCE raised RESTART`);
    await system.sql(
      `CREATE TRIGGER injected BEFORE INSERT ON payload FOR EACH ROW EXECUTE FUNCTION raise_at_first('40001')`,
    );
    const answer = await caller.call('POST', path, { body: '{"prompt":"held"}' });
    expect(answer.status).toBe(200);
    await system.sql('DROP TRIGGER injected ON payload');
  });

  it('two sessions that deadlock: the losing admission is retried', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        caller.call('POST', `${path}/requests`, {
          body: JSON.stringify({ prompt: `crossed ${index % 4}` }),
          headers: { 'idempotency-key': `crossed-${index % 4}` },
        }),
      ),
    );
    expect(new Set(outcomes.map((answer) => answer.status))).toEqual(new Set([201]));
    expect(new Set(outcomes.map((answer) => answer.json()['request_id'])).size).toBe(4);
  });

  it('keep every invariant', () => holdToInvariants(system));
});

failOnLeftovers();
