import { OwnKeyRepository, recordAction } from '#persistence';
import {
  CannotDecrypt,
  encryptionKeySettings,
  fingerprintOfKey,
  newEncryptionKeys,
  readSettings,
  rewrapEnvelope,
} from '#schemas';
import type { Answer, Desk } from '../answer.js';
import { answering, type Services } from '../open-database.js';
import type { CommandSetup } from '../program.js';
import { aligned } from '../table.js';

const batchSize = 100;

export const encryptionKeyCommands: CommandSetup = (key, desk) => {
  key
    .command('create')
    .description(
      'Make a key pair: the public key is for gateways, the private key for workers. Nothing is stored.',
    )
    .action(() => {
      const { publicKey, privateKey } = newEncryptionKeys();
      desk.answer({
        document: { public_key: publicKey, private_key: privateKey },
        text: aligned([
          ['ENCRYPTION_PUBLIC_KEY', publicKey],
          ['ENCRYPTION_KEYS', privateKey],
        ]),
      });
    });

  key
    .command('rotate')
    .description(
      'Wrap all stored provider keys for the first key of ENCRYPTION_KEYS, so that the later ones can be removed. May be interrupted and repeated.',
    )
    .action(answering(desk, (services) => rotate(services, desk)));
};

/** Reads the rows that are not wrapped for the first key, so a repeated command goes on where it stopped. */
async function rotate({ database, actor }: Services, desk: Desk): Promise<Answer> {
  const { ENCRYPTION_KEYS: privateKeys } = readSettings(encryptionKeySettings, desk.env);
  const [first] = privateKeys;
  if (first === undefined)
    throw new Error('ENCRYPTION_KEYS is not set. The first of its keys is the new one.');
  desk.takesLong();
  const keys = new OwnKeyRepository(database);
  const fingerprint = fingerprintOfKey(first);
  const left = new Map<string, number>();
  let moved = 0;
  for (let after: string | undefined; ;) {
    const batch = await keys.wrappedForOthers(fingerprint, { ...(after && { after }), limit: batchSize });
    for (const each of batch) {
      try {
        if (await keys.rewrap(each, rewrapEnvelope(privateKeys, each.context, each))) moved += 1;
      } catch (error) {
        if (!(error instanceof CannotDecrypt)) throw error;
        left.set(each.wrappedFor, (left.get(each.wrappedFor) ?? 0) + 1);
      }
    }
    desk.status?.(`${moved} keys wrapped`);
    after = batch.at(-1)?.id;
    if (batch.length < batchSize) break;
  }
  if (moved > 0)
    await database.withManager((manager) =>
      recordAction(manager, {
        actor,
        action: 'provider_key.rotate',
        subject: fingerprint,
        details: { keys: moved },
      }),
    );
  const problems = [...left].map(
    ([other, number]) => `${number} need the private key with the fingerprint ${other}, or were changed.`,
  );
  return {
    document: { fingerprint, wrapped: moved, left: Object.fromEntries(left) },
    text: [
      `${moved} provider keys were wrapped for the key with the fingerprint ${fingerprint}.`,
      ...problems,
    ].join('\n'),
    bad: left.size > 0,
  };
}
