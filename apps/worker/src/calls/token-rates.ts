/** Streams of a model that count, the newest ones. */
const maxRuns = 200;
/** Fewer say little about a model, and those of fewer workspaces could be made up. */
const minRuns = 50;
const minWorkspaces = 3;
/** A shorter time is mostly spent on the connection. */
const minSeconds = 1;

interface Measured {
  workspaceId: string;
  tokensPerSecond: number;
}

/** How many tokens models write in a second, as the usage of the streams shows that this worker has read to their end. */
export class TokenRates {
  private readonly measured = new Map<string, Measured[]>();

  note(model: string, workspaceId: string, tokens: number, seconds: number): void {
    if (seconds < minSeconds || !(tokens > 0)) return;
    const runs = this.measured.get(model) ?? [];
    runs.push({ workspaceId, tokensPerSecond: tokens / seconds });
    if (runs.length > maxRuns) runs.shift();
    this.measured.set(model, runs);
  }

  /** The median. Undefined for a model with too few runs. */
  of(model: string): number | undefined {
    const runs = this.measured.get(model) ?? [];
    if (runs.length < minRuns || new Set(runs.map(({ workspaceId }) => workspaceId)).size < minWorkspaces)
      return undefined;
    const rates = runs.map(({ tokensPerSecond }) => tokensPerSecond).toSorted((one, other) => one - other);
    return rates[Math.floor(rates.length / 2)];
  }
}
