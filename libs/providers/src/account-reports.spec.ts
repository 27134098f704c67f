import { describe, expect, it } from '@jest/globals';

import { type AccountReports, type AccountTrouble, accountTroubles, isDocumented } from './condition.js';
import type { Handle, HttpReply, Outcome } from './contract.js';
import { toRejection } from './failure.js';
import { providerList } from './providers.js';
import { jsonOf } from './reply.js';
import { holds } from './rules.js';
import { accountFixtures, fixtureFolders, openFixtures } from './testing/fixtures.js';

describe.each(providerList)('$name', (definition) => {
  const reports = definition.account;
  const fixtures = accountFixtures(definition.name);
  const shown = (trouble: AccountTrouble) => fixtures.filter(([name]) => troubleOf(name) === trouble);

  it.each(accountTroubles)(
    'declares how its documents report a %s problem, or that they do not',
    (trouble) => {
      const declared = reports?.[trouble];
      if (!declared) throw new Error(`${definition.name} does not declare ${trouble}`);
      const documents = isDocumented(declared)
        ? declared.map(({ source, date }) => [source, date])
        : [[declared.notDocumentedIn, declared.date]];
      for (const [source, date] of documents) {
        expect(source).toMatch(/^https:\/\/[\w.-]+\.\w+\//);
        expect(date).toMatch(/^\d{4}-\d\d-\d\d$/);
      }
      expect(documents.length).toBeGreaterThan(0);
    },
  );

  it.each(accountTroubles)('has a fixture for every report of a %s problem, and no others', (trouble) => {
    const declared = reports?.[trouble];
    const conditions = declared && isDocumented(declared) ? declared : [];
    const holding = shown(trouble).map(([, reply]) =>
      conditions.findIndex((condition) => holds(condition, 'submit', reply, jsonOf(reply))),
    );
    expect(holding).not.toContain(-1);
    const unused = conditions.filter(
      (condition) => !shown(trouble).some(([, reply]) => holds(condition, 'submit', reply, jsonOf(reply))),
    );
    expect(unused).toEqual([]);
  });

  it('names each account fixture after its problem', () => {
    const named = accountTroubles.flatMap((trouble) => shown(trouble));
    expect(named).toHaveLength(fixtures.length);
  });

  it('ends a submission but not a submitted run with each of them, and hides the reason', () => {
    for (const folder of fixtureFolders(definition.name)) {
      const { facts, reply: replyOfProtocol } = openFixtures(folder);
      const adapter = definition.create(definition.defaultBase, facts.settings ?? {});
      const run = { ...facts.run, body: new TextEncoder().encode('{}') };
      const resumed = (handle: Handle, signal: HttpReply) => adapter.onResume?.(handle, signal);
      const polled =
        facts.result !== 'submit' && handleOf(adapter.onSubmit(run, replyOfProtocol('submit-accepted')));
      const handles = [
        ...(polled ? [polled] : []),
        ...(polled && facts.result === 'fetch'
          ? [handleOf(resumed(polled, replyOfProtocol('poll-succeeded')))]
          : []),
      ];
      for (const [name, reply] of fixtures) {
        const submitted = adapter.onSubmit(run, reply);
        expect([name, submitted]).toMatchObject([
          name,
          { failure: { class: 'provider_account', account: accountOf(name), retry: 'never' } },
        ]);
        expect([name, 'failure' in submitted && toRejection(submitted.failure)]).toEqual([
          name,
          { bucket: 'provider_error', status: 502, detail: 'The provider could not accept the run.' },
        ]);
        if (isOfSubmissions(reports, name, reply)) continue;
        const goesOn = { failure: { class: 'provider_account', retry: 'same_call' } };
        expect(handles.map((handle) => resumed(handle, reply))).toMatchObject(handles.map(() => goesOn));
      }
    }
  });
});

function handleOf(outcome: Outcome | undefined): Handle {
  if (!outcome || !('handle' in outcome)) throw new Error('no handle');
  return outcome.handle;
}

/** Some providers have one reply for an empty balance and for a used-up quota. */
const accountOf = (name: string) =>
  troubleOf(name) === 'key' ? 'key' : expect.stringMatching(/^(balance|quota)$/);

const troubleOf = (name: string) => accountTroubles.find((trouble) => name.split('-')[0] === trouble);

/** Whether this reply is an account problem only for submissions: in a poll it is the end of the run. */
function isOfSubmissions(reports: AccountReports | undefined, name: string, reply: HttpReply): boolean {
  const trouble = troubleOf(name);
  const declared = trouble && reports?.[trouble];
  return !(
    declared &&
    isDocumented(declared) &&
    declared.some((condition) => holds(condition, 'poll', reply, jsonOf(reply)))
  );
}
