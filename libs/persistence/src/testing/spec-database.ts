import { afterAll } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../../../../test/harness/database.js';
import { failOnLeftovers } from '../../../../test/harness/leftovers.js';
import { TestProcess } from './runs.js';

/** A database and the processes that share it. */
export class SpecDatabase {
  private readonly processes: TestProcess[] = [];

  private constructor(private readonly database: TestDatabase) {}

  /** One that ends with the spec file, which fails over what is left then. */
  static async create(): Promise<SpecDatabase> {
    const created = await SpecDatabase.open();
    afterAll(() => created.end());
    failOnLeftovers();
    return created;
  }

  /** One that whoever opens it ends. */
  static async open(): Promise<SpecDatabase> {
    return new SpecDatabase(await createDatabase());
  }

  get url(): string {
    return this.database.url;
  }

  /** A process whose clock is off by an interval, such as `-25 hours`, or is right; with jobs on Redis, or without. */
  process(offset?: string, { hasJobs = true } = {}): TestProcess {
    const url = offset === undefined ? this.url : this.database.at(offset);
    const process = new TestProcess(url, {}, hasJobs ? 'redis://127.0.0.1:6379' : undefined);
    this.processes.push(process);
    return process;
  }

  async end(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.close()));
    await this.database.drop();
  }
}
