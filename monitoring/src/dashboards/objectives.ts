import { objectives as promised } from '../objectives.js';
import type { Dashboard, Panel } from '../panel.js';
import type { Recordings } from '../recordings.js';

const { availability, latency } = promised;
const window = '30d';
/** The recorded rates are read once a minute, so their sums are in the proportion of the calls. */
const over = (recorded: keyof Recordings) => `sum_over_time(${recorded}[${window}])`;
const kept = {
  availability: `1 - ${over('router:calls_failed:rate5m')} / ${over('router:calls:rate5m')}`,
  latency: `${over('router:quick_calls_in_time:rate5m')} / ${over('router:quick_calls:rate5m')}`,
};
/** The share of the error budget that is left. */
const left = (share: string, missed: number) => `1 - (1 - (${share})) / ${missed}`;

const stat = (title: string, says: string, expression: string, warning: number, good: number): Panel => ({
  kind: 'stat',
  title,
  says,
  unit: 'percentunit',
  queries: [[expression, '']],
  thresholds: [
    { from: null, color: 'red' },
    { from: warning, color: 'orange' },
    { from: good, color: 'green' },
  ],
});
const burnt = (title: string, says: string, expression: string): Panel => ({
  title,
  says,
  unit: 'percentunit',
  queries: [[expression, 'missed']],
});

export const objectives: Dashboard = {
  uid: 'model-router-objectives',
  title: 'Model router: objectives',
  rows: [
    {
      title: 'Availability over 30 days: at most 1 in 1,000 calls fails because of us',
      panels: [
        stat('Available', 'Status polls are not counted.', kept.availability, 0.999, 0.9995),
        stat(
          'Budget left',
          'Below zero, the objective is missed.',
          left(kept.availability, availability.missed),
          0,
          0.25,
        ),
        burnt(
          'Failed because of us',
          'Share of internal_error and service_unavailable in all calls but status polls.',
          `(sum(rate(${availability.failed}[$__rate_interval])) or vector(0)) / sum(rate(${availability.all}[$__rate_interval]))`,
        ),
      ],
    },
    {
      title: 'Latency over 30 days: 99 % of the calls that do not wait for a provider take at most 0.3 s',
      panels: [
        stat('In time', 'Queued submissions, status, collect and cancel.', kept.latency, 0.99, 0.995),
        stat(
          'Budget left',
          'Below zero, the objective is missed.',
          left(kept.latency, latency.missed),
          0,
          0.25,
        ),
        burnt(
          'Too slow',
          'Share of the same calls that take longer than 0.3 s.',
          `1 - sum(rate(${latency.inTime}[$__rate_interval])) / sum(rate(${latency.all}[$__rate_interval]))`,
        ),
      ],
    },
  ],
};
