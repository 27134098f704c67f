import { foreignService, foreignTargets, startExporter } from '../harness/foreign-service.js';
import { programPath } from '../harness/programs.js';
import { installation, startPrometheus } from '../harness/prometheus.js';
import type { System } from '../harness/system.js';

export interface AlertWatch {
  /** Lines for the report, and the alerts that fired. Call it before `stop`. */
  report(): Promise<{ lines: string[]; fired: string[] }>;
  stop(): Promise<void>;
}

/** As the PodMonitor scrapes. */
const everySeconds = 15;

/**
 * Loads the committed rules into a Prometheus that scrapes the system, and beside it a service of others in trouble
 * whose standard metrics have the same names.
 */
export async function watchAlerts(system: System): Promise<AlertWatch> {
  const foreign = await startExporter(foreignService);
  const prometheus = await startPrometheus(await programPath('prometheus'), {
    installations: [{ labels: installation, apps: system.apps }],
    others: foreignTargets(foreign),
    everySeconds,
  });
  const during = async (state: string): Promise<string[]> => {
    const found = await prometheus.query(
      `max by (alertname, namespace) (count_over_time(ALERTS{alertstate="${state}"}[1d]))`,
    );
    return found
      .map(
        ({ metric, value }) =>
          `${metric['alertname']} of ${metric['namespace'] ?? 'no namespace'} for ${Number(value[1]) * everySeconds} s`,
      )
      .sort();
  };
  const one = async (expression: string): Promise<number> =>
    Number((await prometheus.query(expression))[0]?.value[1] ?? 0);
  return {
    report: async () => {
      const [fired, pending] = await Promise.all([during('firing'), during('pending')]);
      const scrapes = await one('min(count_over_time(router_ready[1d]))');
      const others = await one('min(count_over_time(http_server_request_duration_seconds_count[1d]))');
      return {
        lines: [
          `alerts: each process was scraped ${scrapes} times, the foreign service ${others} times, every ${everySeconds} s`,
          `alerts: pending at some time: ${pending.join(', ') || 'none'}`,
          `alerts: fired: ${fired.join(', ') || 'none'}`,
        ],
        // An alert cannot fire for a process that was never scraped.
        fired: scrapes > 0 && others > 0 ? fired : [...fired, 'nothing was scraped'],
      };
    },
    stop: async () => {
      await prometheus.stop();
      await foreign.stop();
    },
  };
}
