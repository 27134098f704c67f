import { callers, callsOf, counted, phases, runs, seconds, times } from './books.js';
import type { Expected } from './evaluated.js';
import type { MadeCall } from './known-load.js';
import type { Known, Source } from './known.js';

const calls = (by: (call: MadeCall) => string, of: (call: MadeCall) => boolean = () => true) => ({
  from: callers,
  over: 'load' as const,
  expected: (known: Known) => [{ counts: counted(callsOf(known).filter(of), by) }],
});
const latency = (of: (call: MadeCall) => boolean): Source => ({
  from: times,
  over: 'load',
  expected: (known) => [{ samples: { '': seconds(callsOf(known).filter(of)) }, atMost: true }],
});
const isPolled = ({ route }: MadeCall) => route.endsWith('/status');
const isQuick = ({ route }: MadeCall) => /\/requests(\/|$)/.test(route);
const isFailed = ({ bucket }: MadeCall) => /^(internal_error|service_unavailable)$/.test(bucket);
const share = (known: Known, part: (call: MadeCall) => boolean, whole: (call: MadeCall) => boolean) => {
  const all = callsOf(known).filter(whole);
  return all.filter(part).length / all.length;
};
const failedShare = (known: Known) => share(known, isFailed, (call) => !isPolled(call));
const slowShare = (known: Known) => share(known, (call) => call.seconds > 0.3, isQuick);
const near = (value: number, within: number): Expected[] => [{ values: { '': value }, within }];
/** Callers measure more than the gateway, so they count at least as many slow calls. */
const inTime = (known: Known, of: (share: number) => number): Expected[] => [
  { bounds: { '': [of(1 - slowShare(known) - 0.05), of(1)] } },
];
const limits = { hasty: 'window', poor: 'credits', capped: 'ceiling', crowded: 'inflight' };

/** Panels of the calls. */
export const callSources: Record<string, Source> = {
  'overview: Calls by route': calls(({ method, route }) => `${method} ${route}`),
  'overview: Errors by bucket': calls(
    ({ bucket }) => bucket,
    ({ bucket }) => bucket !== '',
  ),
  'overview: Error rate': {
    from: callers,
    over: 'load',
    expected: (known) => near(failedShare(known), 0.01),
  },
  'overview: Latency of queued submissions': latency(({ route }) => route.endsWith('/requests')),
  'overview: Latency of status and collect': latency(
    ({ method, route }) => method === 'GET' && route.includes('/requests/'),
  ),
  'overview: Held calls': {
    from: 'the calls that the test holds',
    over: 'hold',
    expected: ({ load }) => [
      { values: { [new URL(load.system.gateways[0]?.internalUrl ?? '').host]: load.held } },
    ],
  },
  'overview: Runs finished': runs(`mode || ' ' || outcome`),
  'overview: Run phases': phases,
  'overview: Rejected at admission': {
    from: callers,
    over: 'load',
    expected: (known) => [{ counts: known.load.rejected(known.beganMs, limits) }],
  },

  'objectives: Available': {
    from: callers,
    over: 'load',
    expected: (known) => near(1 - failedShare(known), 0.03),
  },
  'objectives: Budget left': {
    from: callers,
    over: 'load',
    expected: (known) => near(1 - failedShare(known) / 0.001, 30),
  },
  'objectives: Failed because of us': {
    from: callers,
    over: 'load',
    expected: (known) => near(failedShare(known), 0.01),
  },
  'objectives: In time': { from: times, over: 'load', expected: (known) => inTime(known, (share) => share) },
  'objectives: Budget left (2)': {
    from: times,
    over: 'load',
    expected: (known) => inTime(known, (share) => 1 - (1 - share) / 0.01),
  },
  'objectives: Too slow': {
    from: times,
    over: 'load',
    expected: (known) => [{ bounds: { '': [-1e-9, slowShare(known) + 0.02] } }],
  },

  'registry: Calls by status': calls(
    ({ status }) => `${String(status).charAt(0)}xx`,
    ({ route }) => route === '/nodes',
  ),
  'registry: Latency': latency(({ route }) => route === '/nodes'),
  'registry: Error rate': {
    from: callers,
    over: 'load',
    expected: (known) =>
      near(
        share(
          known,
          ({ status }) => status >= 500,
          ({ route }) => route === '/nodes',
        ),
        1e-6,
      ),
  },
};
