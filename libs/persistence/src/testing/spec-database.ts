import { afterAll } from '@jest/globals';
import { createDatabase, type TestDatabase } from '../../../../test/harness/database.js';
import { failOnLeftovers } from '../../../../test/harness/leftovers.js';
import { TestProcess } from './runs.js';

/** A test database and the processes that share it. */
export class SpecDatabase {
  private readonly processes: TestProcess[] = [];

  private constructor(private readonly database: TestDatabase) {}

  /** A database that is dropped after the spec file. Anything left open then fails the file. */
  static async create(): Promise<SpecDatabase> {
    const created = await SpecDatabase.open();
    afterAll(() => created.end());
    failOnLeftovers();
    return created;
  }

  /** A database that the caller must end. */
  static async open(): Promise<SpecDatabase> {
    return new SpecDatabase(await createDatabase());
  }

  get url(): string {
    return this.database.url;
  }

  /** A process with or without jobs on Redis. Its clock is right, or off by an interval such as `-25 hours`. */
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
