import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { filesBelow, textOf } from '../documents/checkout-files.js';
import { alerts } from '../../monitoring/src/alerts.js';
import { perEnvironment } from '../../monitoring/src/scope.js';
import { System, withTools } from '../harness/faults.js';
import { type Caller, failOnLeftovers, transports, waitFor } from '../harness/index.js';
import { Receiver } from '../harness/receiver.js';
import { committedRules, installation, type Prometheus, startPrometheus } from '../harness/prometheus.js';

interface Panel {
  title: string;
  type: string;
  targets?: { expr?: string; rawSql?: string }[];
}

const { describeWith, tools } = await withTools('prometheus');
const model = 'bfl/flux-2-pro';

const targets = filesBelow('monitoring/dashboards').flatMap((file) => {
  const { panels } = JSON.parse(textOf(file)) as { panels: (Panel & { panels?: Panel[] })[] };
  return panels
    .flatMap((panel) => [panel, ...(panel.panels ?? [])])
    .flatMap(({ title, targets: each = [] }) =>
      each.map((target) => ({ ...target, name: `${file.replace(/^.*\/|\.json$/g, '')}: ${title}` })),
    );
});
const filledIn = (expression: string): string =>
  Object.entries({ ...installation, __rate_interval: '1m', provider: 'bfl' }).reduce(
    (text, [variable, value]) => text.replaceAll(`$${variable}`, value),
    expression,
  );
/** Every expression of the committed dashboards, with Grafana's variables filled in. */
const expressions = targets.flatMap(({ name, expr }) =>
  expr === undefined
    ? []
    : [
        {
          name: `${name}: ${expr}`,
          expression: filledIn(expr),
        },
      ],
);
const tables = targets.flatMap(({ name, rawSql }) =>
  rawSql === undefined
    ? []
    : [{ name, sql: rawSql.replaceAll(/\$__timeFilter\((\w+)\)/g, "$1 > now() - interval '1 hour'") }],
);

describeWith('a Prometheus that scrapes the running apps under load', () => {
  let system: System;
  let caller: Caller;
  let prometheus: Prometheus;
  let receiver: Receiver;
  const loaded = new AbortController();
  let load: Promise<unknown>;

  beforeAll(async () => {
    const [transport = 'postgres'] = transports();
    receiver = await Receiver.start();
    system = await System.start({ transport, takesMs: 200 });
    prometheus = await startPrometheus(tools.prometheus, {
      installations: [{ labels: installation, apps: system.apps }],
      rules: committedRules().replace('interval: 1m', 'interval: 1s'),
      everySeconds: 1,
    });
    caller = await system.caller({ inflightLimit: 4, windowLimit: 100_000, backlogLimit: 100_000 });
    load = Promise.all([one, held, failing, refused].map((each) => repeat(each)));
  });

  afterAll(async () => {
    loaded.abort();
    await load;
    await prometheus.stop();
    await system.stop();
    await receiver.stop();
  });

  async function repeat(each: () => Promise<unknown>): Promise<void> {
    while (!loaded.signal.aborted) {
      await each();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const path = `/v2/models/${model}`;
  const one = async () => {
    const run = await caller.submit(model, '{"prompt":"one"}', {
      query: `?webhook_url=${encodeURIComponent(receiver.url)}`,
    });
    await caller.status(run);
    await caller.collect(run);
    await (await fetch(`${system.gateways[0]?.url}/nodes`)).body?.cancel();
  };
  const held = () => caller.call('POST', path, { body: '{"prompt":"held"}' });
  const failing = () => caller.call('POST', path, { body: '{"prompt":"[[sim:policy_output]]"}' });
  const refused = () => caller.call('POST', `${path}/requests`, { body: '{"prompt":7}' });

  it.each(expressions)('has data for $name', async ({ expression }) => {
    const series = await waitFor(
      async () => {
        const found = await prometheus.query(expression);
        return found.some(({ value }) => value[1] !== 'NaN') && found;
      },
      { withinMs: 60_000, what: `data for ${expression}`, everyMs: 500 },
    );
    expect(series.length).toBeGreaterThan(0);
  });

  it.each(tables)('has rows for $name', async ({ sql }) => {
    const rows = await waitFor(
      async () => {
        const found = await system.sql<{ runs: string }>(sql);
        return found.length > 0 && found;
      },
      { withinMs: 60_000, what: 'rows', everyMs: 500 },
    );
    expect(rows.length).toBeLessThanOrEqual(20);
    expect(Number(rows[0]?.runs)).toBeGreaterThan(0);
  });

  it.each(alerts.map(({ name, expression }) => ({ name, expression: perEnvironment(expression) })))(
    'understands alert $name',
    async ({ expression }) => expect(Array.isArray(await prometheus.query(expression))).toBe(true),
  );

  it('sees both apps', async () => {
    // An app whose scrape is late once is not up in that second.
    const up = await waitFor(
      async () => {
        const found = await prometheus.query('up == 1');
        return found.length >= 2 && found;
      },
      { withinMs: 30_000, what: 'all apps to be up', everyMs: 500 },
    );
    expect(new Set(up.map(({ metric }) => metric['app']))).toEqual(new Set(['gateway', 'worker']));
  });
});

failOnLeftovers();
