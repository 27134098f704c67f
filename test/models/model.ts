import type { Command, EndingKind, Start } from './commands.js';

/** The number of runs that a worker's look reads to find one. */
const candidates = 4;

/** A run and its outbox row as the rules see them. `lease` is null between two claims. */
export interface ModelRun {
  place: number;
  mode: 'queued' | 'sync';
  cost: number;
  key: number | null;
  stage: 'parked' | 'ready' | 'submitting' | 'running' | 'completed';
  epoch: number;
  lease: 'live' | 'expired' | null;
  /** Sent, and not rejected since. */
  sent: boolean;
  /** Sent at least once. */
  wasSent: boolean;
  /** Waits for a worker. */
  waiting: boolean;
  /** No longer counted among the waiting runs. */
  dispatched: boolean;
  /** The next sweep handles its row. */
  due: boolean;
  crashes: number;
  handle: boolean;
  cancelAsked: boolean;
  outcome: 'succeeded' | 'failed' | 'cancelled' | null;
  billed: number;
}

/** The result of a verb, in the words of the real one, with runs by their index. */
export type Answer = Record<string, unknown>;

const refuse = (limit: string): Answer => ({ kind: 'refused', limit });
const cannotBeFound: Answer = { found: 'nothing' };
const billable: readonly EndingKind[] = ['succeeded', 'policy_billed'];

/**
 * The rules of admission, slots, spend, keys and outcomes for one workspace, in memory and without optimisation.
 */
export class Model {
  readonly runs: ModelRun[] = [];
  readonly keys = new Map<number, { run: number; variant: number }>();
  private isPaused = false;

  constructor(private readonly limits: Start) {}

  get inflight(): number {
    return this.live().filter((run) => run.stage !== 'parked').length;
  }
  get committed(): number {
    return sum(this.live().filter((run) => run.stage !== 'parked'));
  }
  get held(): number {
    return sum(this.live());
  }
  get backlog(): number {
    return this.parked().length;
  }
  get billed(): number {
    return this.runs.reduce((total, run) => total + run.billed, 0);
  }
  get balance(): number | null {
    return this.limits.balance === null ? null : this.limits.balance - this.billed;
  }

  apply(command: Command): Answer {
    if (command.verb === 'admit') return this.admit(command);
    if (command.verb === 'limits') {
      const { inflight, committed, backlog } = command;
      Object.assign(this.limits, { inflight, committed, backlog });
      return { granted: this.promote() };
    }
    if (command.verb === 'take') return this.take();
    if (command.verb === 'sweep') return this.sweep();
    if (command.verb === 'resume') return this.resume();
    if (command.verb === 'pause') {
      const fresh = !this.isPaused;
      this.isPaused = true;
      return { won: fresh };
    }
    const run = this.chosen(command.pick);
    if (!run) return cannotBeFound;
    switch (command.verb) {
      case 'begin':
        if (command.stale || !isClaimable(run) || run.sent || run.lease === null) return { won: false };
        Object.assign(run, { sent: true, wasSent: true, stage: 'submitting', lease: 'live' });
        return { won: true };
      case 'save':
        if (command.stale || (run.stage !== 'submitting' && run.stage !== 'running')) return { won: false };
        Object.assign(run, { stage: 'running', handle: true, lease: null, crashes: 0 });
        return { won: true, cancelAsked: run.cancelAsked };
      case 'postpone':
        if (command.stale || !isClaimable(run)) return { won: false };
        Object.assign(run, { sent: false, lease: null, due: false });
        Object.assign(run, { waiting: !command.later, dispatched: run.wasSent });
        return { won: true };
      case 'finish':
        if (command.stale || run.stage === 'completed') return { won: false, granted: [] };
        return { won: true, granted: this.finish(run, command.ending) };
      case 'cancel':
        if (run.stage === 'completed') return { found: 'completed', granted: [] };
        if (!run.sent) return { found: 'waiting', granted: this.finish(run, 'cancelled') };
        run.cancelAsked = true;
        return { found: 'dispatched', granted: [] };
      case 'leave':
        if (run.stage === 'completed') return { found: 'completed', granted: [] };
        if (!run.sent && run.key === null)
          return { found: 'withdrawn', granted: this.finish(run, 'cancelled') };
        return { found: 'going_on', granted: [], hasHandle: run.handle };
      case 'expire':
        if (run.lease !== null) run.lease = 'expired';
        if (isClaimable(run) && !run.waiting) run.due = true;
        return {};
    }
  }

  /**
   * Usually one of the oldest live runs, so that runs progress; sometimes any run, so that finished ones are
   * touched too.
   */
  chosen(pick: number): ModelRun | undefined {
    const near = this.live().slice(0, 3);
    const among = pick % 8 === 0 || near.length === 0 ? this.runs : near;
    return among[Math.floor(pick / 8) % among.length];
  }

  /** The number of runs ahead of a waiting run. */
  position(run: ModelRun): number | null {
    if (run.stage !== 'parked' && run.stage !== 'ready') return null;
    return this.live().filter((other) => !other.dispatched && other.place < run.place).length;
  }

  private admit({ mode, cost, key, variant }: Extract<Command, { verb: 'admit' }>): Answer {
    const used = key === null ? undefined : this.keys.get(key);
    if (used) return { kind: 'existing', run: used.run, matches: used.variant === variant };
    const { limits, inflight, committed, backlog } = this;
    const hasSlot = inflight < limits.inflight;
    const hasSpend = committed + cost <= limits.committed;
    if (cost > limits.committed) return refuse('ceiling');
    if (this.balance !== null && this.balance - this.held < cost) return refuse('credits');
    // No run overtakes waiting runs, except synchronous calls, which do not wait.
    const ready = hasSlot && hasSpend && (mode === 'sync' || backlog === 0);
    if (mode === 'sync' && !hasSlot) return refuse('inflight');
    if (mode === 'sync' && !hasSpend) return refuse('spend');
    if (!ready && backlog >= limits.backlog) return refuse('backlog');
    const place = this.runs.length;
    const position = this.live().filter((run) => !run.dispatched).length;
    this.runs.push({
      place,
      mode,
      cost,
      key,
      stage: ready ? 'ready' : 'parked',
      epoch: 0,
      lease: null,
      sent: false,
      wasSent: false,
      waiting: ready,
      dispatched: false,
      due: false,
      crashes: 0,
      handle: false,
      cancelAsked: false,
      outcome: null,
      billed: 0,
    });
    if (key !== null) this.keys.set(key, { run: place, variant });
    return { kind: 'admitted', run: place, ready, position };
  }

  /** Takes the oldest waiting run, unless another worker still holds it. */
  private take(): Answer {
    if (this.isPaused) return { kind: 'none' };
    for (const run of this.live()
      .filter(({ waiting }) => waiting)
      .slice(0, candidates)) {
      run.waiting = false;
      if (!isClaimable(run)) continue;
      if (run.sent || run.lease === 'live') {
        run.due = run.lease !== 'live';
        continue;
      }
      if (run.lease !== null) run.crashes += 1;
      claim(run);
      return { kind: 'taken', run: run.place, epoch: run.epoch, crashes: run.crashes };
    }
    return { kind: 'none' };
  }

  private sweep(): Answer {
    const swept: Answer[] = [];
    const abandon = (run: ModelRun) => {
      claim(run);
      swept.push({ kind: 'abandoned', run: run.place, epoch: run.epoch });
    };
    for (const run of this.live().filter((each) => isClaimable(each) && each.due)) {
      run.due = false;
      if (run.lease === 'live') continue;
      if (run.sent) {
        abandon(run);
        continue;
      }
      Object.assign(run, { waiting: true, dispatched: run.wasSent });
      if (run.lease === null) continue;
      run.lease = null;
      run.crashes += 1;
      swept.push({ kind: 'lapsed', run: run.place, epoch: run.epoch });
    }
    for (const run of this.live().filter((each) => this.isPaused && isClaimable(each) && each.waiting)) {
      if (run.lease === 'live') continue;
      if (run.sent) abandon(run);
      else run.waiting = false;
    }
    return { swept: swept.toSorted((one, other) => Number(one['run']) - Number(other['run'])) };
  }

  private resume(): Answer {
    if (!this.isPaused) return { won: false };
    this.isPaused = false;
    for (const run of this.live())
      if (isClaimable(run) && !run.sent && run.lease === null)
        Object.assign(run, { waiting: true, due: false });
    return { won: true };
  }

  private finish(run: ModelRun, ending: EndingKind): number[] {
    run.stage = 'completed';
    run.lease = null;
    run.outcome = ending === 'succeeded' || ending === 'cancelled' ? ending : 'failed';
    run.billed = billable.includes(ending) ? run.cost : 0;
    if ((!run.sent || ending === 'unavailable') && run.key !== null) this.keys.delete(run.key);
    return this.promote();
  }

  private promote(): number[] {
    const granted: number[] = [];
    for (const head of this.parked()) {
      if (this.inflight >= this.limits.inflight) break;
      if (this.committed + head.cost > this.limits.committed) break;
      head.stage = 'ready';
      head.waiting = true;
      granted.push(head.place);
    }
    return granted;
  }

  private live(): ModelRun[] {
    return this.runs.filter((run) => run.stage !== 'completed');
  }

  private parked(): ModelRun[] {
    return this.runs.filter((run) => run.stage === 'parked');
  }
}

const isClaimable = (run: ModelRun): boolean => run.stage === 'ready' || run.stage === 'submitting';
function claim(run: ModelRun): void {
  run.epoch += 1;
  Object.assign(run, { lease: 'live', waiting: false, dispatched: true, due: false });
}

const sum = (runs: readonly ModelRun[]): number => runs.reduce((total, run) => total + run.cost, 0);
