import { describe, expect, it } from '@jest/globals';
import { RouterError } from '#errors';
import type { Log } from '#observability';
import { DatabaseError } from 'pg';
import { QueryFailedError } from 'typeorm';
import { DatabaseOutage } from './database-outage.js';
import { translated } from './sql-errors.js';

const task = 'could not sweep';

function recorded() {
  const lines: [level: string, message: string, facts: Record<string, unknown>][] = [];
  const at = (level: string) => (facts: Record<string, unknown>, message: string) =>
    void lines.push([level, message, facts]);
  const outage = new DatabaseOutage({
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
  } as unknown as Log);
  const levels = () => lines.map(([level, message]) => `${level} ${message}`);
  return { outage, lines, levels };
}

const sql = (code: string) => Object.assign(new DatabaseError('said', 4, 'error'), { code });
const system = (code: string) => Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });
function wrapped(error: unknown): unknown {
  try {
    return translated(error);
  } catch (thrown) {
    return thrown;
  }
}
const started = 'warn the database is unreachable, runs wait and calls that need it answer 503';

describe('is an outage, and a retried failure adds no line to it above debug:', () => {
  it.each([
    ['a refused connection', wrapped(system('ECONNREFUSED'))],
    ['a lost connection', wrapped(new Error('Connection terminated unexpectedly'))],
    ['no answer', wrapped(new Error('Query read timeout'))],
    ['a server that stops', wrapped(sql('57P01'))],
    ['a server that starts', wrapped(sql('57P03'))],
    ['a refused connection under TypeORM', system('ECONNREFUSED')],
    [
      'a lost connection under TypeORM',
      new QueryFailedError('SELECT', [], new Error('Connection terminated')),
    ],
    ['an unknown name', system('ENOTFOUND')],
  ])('%s', (_what, error) => {
    const { outage, levels, lines } = recorded();
    outage.warn({ error, run_id: 'one' }, task);
    outage.warn({ error, run_id: 'one' }, task);
    expect(levels()).toEqual([started, `debug ${task}`, `debug ${task}`]);
    expect(lines[1]?.[2]).toEqual({ run_id: 'one', reason: expect.any(String) });
    expect(JSON.stringify(lines)).not.toContain('stack');
  });
});

describe('is not an outage, and is logged with its error:', () => {
  it.each([
    ['a full disk', wrapped(sql('53100'))],
    ['a slow statement', wrapped(sql('57014'))],
    ['a pool without a free connection', wrapped(new Error('timeout exceeded when trying to connect'))],
    ['a closed pool', wrapped(new Error('Cannot use a pool after calling end on the pool'))],
    ['an error of ours', new RouterError('service_unavailable', 'Too many lists are being read.')],
    ['a bug', new TypeError('undefined is not a function')],
    ['a wrong statement', sql('42601')],
  ])('%s', (_what, error) => {
    const { outage, lines } = recorded();
    outage.warn({ error, claims: 3 }, task);
    expect(lines).toEqual([['warn', task, { claims: 3, error }]]);
  });
});

it('a bug is logged during an outage too', () => {
  const { outage, levels } = recorded();
  outage.failed(wrapped(system('ECONNREFUSED')));
  outage.warn({ error: new TypeError('undefined is not a function') }, task);
  outage.warn({ error: wrapped(new Error('timeout exceeded when trying to connect')) }, task);
  expect(levels()).toEqual([started, `warn ${task}`, `debug ${task}`]);
});
