import type { Model } from '#catalog';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { idempotencyKey, type RunCall } from '../runs/run-input.js';
import { FileUploads } from '../uploads/file-uploads.js';
import { FormUploads } from '../uploads/form-uploads.js';
import { callFingerprint } from './call-fingerprint.js';
import { inputOfForm } from './form-input.js';
import { upstreamName } from './vendor-models.js';
import type { VendorForm } from './vendor.js';

interface TakenForm {
  /** The text of the field `model`. */
  name: string | undefined;
  /** The input that the form stands for; without a row, only what identifies the call. */
  bodyFor: (row?: Model) => NonNullable<RunCall['body']>;
  /** Deletes the files, if no run needs them. */
  discard: () => Promise<void>;
}

/** Turns forms into inputs: their files become uploads of the workspace, which the input names by URL. */
@Injectable()
export class VendorForms {
  constructor(
    private readonly uploads: FormUploads,
    private readonly files: FileUploads,
  ) {}

  async takeForm(
    { files, maxBytes }: VendorForm,
    request: FastifyRequest,
    caller: Caller,
  ): Promise<TakenForm> {
    const { workspaceId } = caller;
    const key = idempotencyKey(request.headers['idempotency-key']);
    const takesFile = (name: string) => files.includes(name.split('[')[0] ?? '');
    const form = await this.uploads.takeForm(request.raw, { workspaceId, maxBytes, takesFile });
    const fields = await Promise.all(
      form.parts.map(async (part) => {
        const value = 'file' in part ? await this.files.urlOf(part.file) : part.text;
        return { name: part.name, value };
      }),
    );
    const fingerprint = callFingerprint(request, caller, key).update(form.digest).digest('hex');
    const name = fields.find((field) => field.name === 'model')?.value;
    const fieldsFor = (row: Model) => {
      const upstream = upstreamName(row, name);
      return upstream === undefined
        ? fields
        : fields.map((field) => (field.name === 'model' ? { ...field, value: upstream } : field));
    };
    return {
      name,
      bodyFor: (row) => ({
        bytes: row === undefined ? Buffer.from('{}') : inputOfForm(fieldsFor(row), row.input),
        fingerprint,
        release: () => {},
      }),
      discard: form.discard,
    };
  }
}
