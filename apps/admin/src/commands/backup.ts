import { type BackupState, backupState, recordBackup } from '#persistence';
import type { Answer } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import { instant, line } from '../option-values.js';
import type { CommandSetup } from '../program.js';
import { aligned } from '../table.js';

interface RecordOptions {
  at?: Date;
  note?: string;
}

export const backupCommands: CommandSetup = (backup, desk) => {
  backup
    .command('show')
    .description('Show when the last backup was complete, and whether the write-ahead log is streamed.')
    .action(answering(desk, async ({ database }) => stateAnswer(await backupState(database))));

  backup
    .command('record')
    .description(
      'Record a backup that your Postgres service has made and that can be restored. The metric of the age of backups reads it. "backup.sh base" records its own.',
    )
    .option('--at <time>', 'when it was complete, such as 2026-01-31T12:00:00Z (default: now)', instant)
    .option('--note <text>', 'such as its name', line)
    .action(answering(desk, record));
};

async function record({ database, actor }: Services, { at, note }: RecordOptions): Promise<Answer> {
  if (at && at.getTime() > Date.now()) throw new Error('--at must not be in the future.');
  await recordBackup(database, { actor, at, details: note === undefined ? {} : { note } });
  return stateAnswer(await backupState(database));
}

const stateAnswer = ({ lastSeconds, logStreams }: BackupState): Answer => {
  const last = lastSeconds === null ? null : new Date(lastSeconds * 1000).toISOString();
  return {
    document: { last_backup_at: last, log_streams: logStreams },
    text: aligned([
      ['last backup', last ?? 'none recorded'],
      [
        'write-ahead log',
        logStreams === null ? 'not streamed by backup.sh' : logStreams ? 'streamed' : 'NOT streamed',
      ],
    ]),
  };
};
