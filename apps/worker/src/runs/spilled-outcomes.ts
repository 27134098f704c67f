import { SETTINGS } from '#infrastructure';
import { type Log, LOG, reasonOf } from '#observability';
import { seal, unseal } from '#schemas';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { WorkerSettings } from '../settings.js';
import { type HeldOutcome, HeldOutcomes } from './held-outcomes.js';
import { Outcomes } from './outcomes.js';

const purpose = 'spilled outcomes';
const suffix = '.outcomes';
const savedAtOnce = 50;

interface Spill {
  v: 1;
  outcomes: HeldOutcome[];
}

/**
 * Writes the outcomes that the database did not take before the worker stopped to a file, and saves them at the next start.
 * They are paid for, and nobody else knows them. The file is sealed, because it has outputs of runs.
 */
@Injectable()
export class SpilledOutcomes implements BeforeApplicationShutdown {
  constructor(
    private readonly held: HeldOutcomes,
    private readonly outcomes: Outcomes,
    @Inject(SETTINGS) private readonly settings: Pick<WorkerSettings, 'SPILL_DIR' | 'SIGNING_SECRET'>,
    @Inject(LOG) private readonly log: Log,
  ) {}

  /** The worker has waited for its calls and their outcomes by now, and the database is still open. */
  async beforeApplicationShutdown(): Promise<void> {
    const outcomes = this.held.list();
    const { SPILL_DIR: folder } = this.settings;
    if (outcomes.length === 0) return;
    if (folder === undefined) return this.logLost(outcomes, 'SPILL_DIR is not set');
    try {
      const file = await this.write(folder, outcomes);
      this.log.warn(
        { file, outcomes: outcomes.length },
        'the database did not take the outcomes of these runs; the next worker with this SPILL_DIR saves them',
      );
    } catch (error) {
      this.logLost(outcomes, reasonOf(error));
    }
  }

  /** Saves what former processes left. Must be called before the worker sweeps, which ends runs whose worker is gone. */
  async restore(): Promise<void> {
    const { SPILL_DIR: folder } = this.settings;
    if (folder === undefined) return;
    const names = await readdir(folder).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.log.error({ folder, reason: reasonOf(error) }, 'could not read SPILL_DIR');
      return [];
    });
    for (const name of names) if (name.endsWith(suffix)) await this.restoreFile(path.join(folder, name));
  }

  private async restoreFile(file: string): Promise<void> {
    try {
      const spill = this.open(await readFile(file));
      if (spill === null) {
        const aside = `${file}.unreadable`;
        await rename(file, aside);
        this.log.error(
          { file: aside },
          'a file in SPILL_DIR is damaged, or was sealed with another SIGNING_SECRET; the outcomes in it are not saved',
        );
        return;
      }
      const failed = await this.saveAll(spill.outcomes);
      // Workers that share the folder may both save it.
      if (failed === 0) await rm(file, { force: true });
      else await rename(file, `${file}.failed`);
      this.log.info(
        { outcomes: spill.outcomes.length, failed },
        'saved the outcomes that a former process left in SPILL_DIR',
      );
    } catch (error) {
      this.log.error({ file, reason: reasonOf(error) }, 'could not take over a file in SPILL_DIR');
    }
  }

  /** Returns how many could not be saved. The claim decides, so an outcome may be saved twice. */
  private async saveAll(outcomes: readonly HeldOutcome[]): Promise<number> {
    let failed = 0;
    const save = (outcome: HeldOutcome) =>
      this.outcomes.save(outcome).catch((error: unknown) => {
        failed += 1;
        this.log.error({ error, run_id: outcome.run.runId }, 'could not save an outcome from SPILL_DIR');
      });
    for (let from = 0; from < outcomes.length; from += savedAtOnce)
      await Promise.all(outcomes.slice(from, from + savedAtOnce).map(save));
    return failed;
  }

  /** A file with the final name is complete. */
  private async write(folder: string, outcomes: HeldOutcome[]): Promise<string> {
    const [secret = ''] = this.settings.SIGNING_SECRET;
    const file = path.join(folder, `${randomUUID()}${suffix}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(`${file}.part`, 'wx', 0o600);
    try {
      await handle.writeFile(seal(secret, purpose, serialize({ v: 1, outcomes } satisfies Spill)));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.part`, file);
    return file;
  }

  private open(sealed: Buffer): Spill | null {
    const bytes = unseal(this.settings.SIGNING_SECRET, purpose, sealed);
    if (bytes === null) return null;
    const spill = deserialize(bytes) as Partial<Spill>;
    return spill.v === 1 && Array.isArray(spill.outcomes) ? (spill as Spill) : null;
  }

  /** The log is the only record of submissions that their providers bill. */
  private logLost(outcomes: readonly HeldOutcome[], reason: string | undefined): void {
    for (const outcome of outcomes)
      this.log.error(
        {
          reason,
          run_id: outcome.run.runId,
          kind: outcome.kind,
          ...(outcome.kind === 'handle' && { handle: outcome.handle }),
        },
        'the worker stopped before the database took the outcome of a run; its result may be lost',
      );
  }
}
