/** `page` wakes a person, because callers are affected now. `ticket` waits for working hours. */
type Severity = 'page' | 'ticket';

export interface Alert {
  name: string;
  /** `perEnvironment` adds the labels of the environment, so it names only its own. */
  expression: string;
  /** How long the expression must be true before the alert fires, as a Prometheus duration. */
  holds: string;
  severity: Severity;
  /** The dashboard to open first. */
  dashboard: 'overview' | 'objectives' | 'queues' | 'providers' | 'assets' | 'money' | 'infrastructure';
  summary: string;
}
