import { RouterError } from '#errors';
import { FileRepository, type StoredFile } from '#persistence';
import { replicateBase, routerFileId } from '#schemas';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { identifyCaller } from '../../auth/caller.guard.js';
import { Identification } from '../../auth/identification.js';
import { FileUploads } from '../../uploads/file-uploads.js';
import { FormUploads } from '../../uploads/form-uploads.js';
import type { VendorPath } from '../serve-vendor.js';

/** The limit of Replicate's own API. */
const maxBytes = 100 * 1024 * 1024;
const takesFile = (name: string) => name === 'content';
/** The client sends them as a file too. */
const ignores = (name: string) => name === 'metadata';

/** Serves the uploads of Replicate's clients, which put a `Buffer` or `Blob` of an input there first. */
@Injectable()
export class ReplicateFiles {
  constructor(
    private readonly identification: Identification,
    private readonly forms: FormUploads,
    private readonly files: FileRepository,
    private readonly uploads: FileUploads,
  ) {}

  paths(): VendorPath[] {
    return [
      { method: 'POST', path: '/files', answer: (request, reply) => this.create(request, reply) },
      { method: 'GET', path: '/files/{id}', answer: (request) => this.get(request) },
      { method: 'DELETE', path: '/files/{id}', answer: (request, reply) => this.delete(request, reply) },
    ];
  }

  private async create(request: FastifyRequest, reply: FastifyReply): Promise<object> {
    const { workspaceId } = await this.callerOf(request);
    const form = await this.forms.takeForm(request.raw, { workspaceId, maxBytes, takesFile, ignores });
    const [content] = form.parts.flatMap((part) => ('file' in part ? [part] : []));
    if (content === undefined) throw new RouterError('invalid_input', 'The form has no file in content.');
    void reply.code(201);
    return this.described(content.file, request);
  }

  private async get(request: FastifyRequest): Promise<object> {
    const { workspaceId } = await this.callerOf(request);
    const id = idOf(request);
    const file = id === undefined ? null : await this.files.find(workspaceId, id);
    if (file === null) throw unknownFile();
    return this.described(file, request);
  }

  private async delete(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { workspaceId } = await this.callerOf(request);
    const id = idOf(request);
    if (id === undefined || !(await this.files.delete(workspaceId, id))) throw unknownFile();
    return reply.code(204).send();
  }

  private callerOf(request: FastifyRequest) {
    return identifyCaller(this.identification, request, 'run');
  }

  /** `urls.get` is the file itself here, because providers read it. */
  private async described(file: StoredFile, { publicOrigin }: FastifyRequest): Promise<object> {
    const { id, key, contentType, bytes, expiresAt } = file;
    return {
      id,
      name: key.slice(key.lastIndexOf('/') + 1),
      content_type: contentType,
      size: bytes,
      metadata: {},
      expires_at: expiresAt.toISOString(),
      urls: {
        get: await this.uploads.urlOf(file),
        self: `${publicOrigin}${replicateBase}/files/${id}`,
      },
    };
  }
}

const idOf = ({ params }: FastifyRequest): string | undefined =>
  routerFileId.safeParse((params as { id: string }).id).data;

const unknownFile = () => new RouterError('invalid_input', 'There is no such file.', { status: 404 });
