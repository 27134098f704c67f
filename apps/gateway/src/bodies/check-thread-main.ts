import { parentPort } from 'node:worker_threads';
import type { Model } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import { checkBody } from './check-body.js';
import type { CheckOrder, CheckReport } from './check-messages.js';

/** Models as they came: their compiled schemas hang on the objects. */
const models = new Map<string, Model>();

parentPort?.on('message', (order: CheckOrder) => {
  const report = reportOn(order);
  parentPort?.postMessage(report, report.kind === 'accepted' ? [report.bytes.buffer as ArrayBuffer] : []);
});

function reportOn({ order, modelId, model, bytes }: CheckOrder): CheckReport {
  if (model !== undefined) models.set(modelId, model);
  const known = models.get(modelId);
  if (known === undefined) return { order, kind: 'failed', reason: `no model ${modelId} was sent` };
  try {
    const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return { order, kind: 'accepted', reservedMicros: checkBody(known, body), bytes };
  } catch (error) {
    if (error instanceof InputRejection) return { order, kind: 'rejected', fields: error.fields };
    if (error instanceof RouterError) return { order, kind: 'malformed', detail: error.publicDetail };
    return { order, kind: 'failed', reason: String(error) };
  }
}
