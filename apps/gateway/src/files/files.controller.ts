import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { FileRepository, type StoredFile } from '#persistence';
import { type RouterFile, routerFile, routerFileId, type Page, routerFileListResponse } from '#schemas';
import type { SigningSettings } from '#storage';
import { Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { listPage, pageQuery, QueryPipe } from '../http/query.pipe.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';
import { FileUploads } from '../uploads/file-uploads.js';

const fileNotFound = failure(
  404,
  ['invalid_input'],
  'The workspace has no such file, or it has expired. Ids of other workspaces are treated as unknown.',
);

/** Files that callers upload for use in inputs. */
@Controller('v2/files')
export class FilesController {
  constructor(
    private readonly uploads: FileUploads,
    private readonly files: FileRepository,
    @Inject(SETTINGS) private readonly settings: SigningSettings,
  ) {}

  @Post()
  @Access({ scope: 'run' })
  @ApiRoute({
    name: 'UploadFile',
    area: 'Files',
    summary: 'Upload a file',
    description:
      'The body is the file itself, of any media type. Use its `url` in inputs wherever a model takes a URL, and also where a model takes the bytes as a file, as base64 or as the id of an upload to the provider. A file is deleted after 24 hours.',
    headers: z.object({
      'Content-Type': z.string().optional().meta({
        description: 'Media type of the file, used if the content does not show it.',
        example: 'image/png',
      }),
    }),
    body: 'bytes',
    answers: [
      answer(201, 'The file is stored.', json(routerFile)),
      failure(400, ['invalid_input'], 'The body is empty or did not arrive in time.'),
      failure(413, ['invalid_input'], 'The file is too large.'),
      failure(415, ['invalid_input'], 'The body is a form or has a Content-Encoding.'),
      failure(
        429,
        ['concurrency_limit_exceeded'],
        'The workspace has reached its limit of files, or of bytes in files.',
      ),
    ],
  })
  async upload(@Calling() { workspaceId }: Caller, @Req() request: FastifyRequest): Promise<RouterFile> {
    return this.described(await this.uploads.take(request.raw, workspaceId));
  }

  @Get()
  @Access({ scope: 'requests' })
  @ApiRoute({
    name: 'ListFiles',
    area: 'Files',
    summary: 'List the files of the workspace',
    description: 'Unexpired files uploaded with any key, newest first.',
    query: pageQuery,
    answers: [
      answer(200, 'One page.', json(routerFileListResponse)),
      failure(400, ['invalid_input'], 'The cursor is malformed or has expired.'),
    ],
  })
  list(
    @Calling() { workspaceId }: Caller,
    @Query(new QueryPipe(pageQuery)) query: z.output<typeof pageQuery>,
  ): Promise<Page<RouterFile>> {
    return listPage(query, 'files', this.settings, {
      read: (page) => this.files.list(workspaceId, page),
      placeOf: ({ id }) => id,
      entryOf: (file) => this.described(file),
    });
  }

  @Get(':fileId')
  @Access({ scope: 'run' })
  @ApiRoute({
    name: 'GetFile',
    area: 'Files',
    summary: 'Get a file',
    answers: [answer(200, 'The file, with a URL that opens it.', json(routerFile)), fileNotFound],
  })
  async read(@Calling() { workspaceId }: Caller, @Param('fileId') id: string): Promise<RouterFile> {
    const file = isFileId(id) ? await this.files.find(workspaceId, id) : null;
    if (file === null) throw unknownFile();
    return this.described(file);
  }

  @Delete(':fileId')
  @HttpCode(204)
  @Access({ scope: 'run' })
  @ApiRoute({
    name: 'DeleteFile',
    area: 'Files',
    summary: 'Delete a file before it expires',
    description: 'The next sweep deletes the bytes; the URL works until then.',
    answers: [answer(204, 'The file has been deleted.'), fileNotFound],
  })
  async delete(@Calling() { workspaceId }: Caller, @Param('fileId') id: string): Promise<void> {
    if (!isFileId(id) || !(await this.files.delete(workspaceId, id))) throw unknownFile();
  }

  private async described(file: StoredFile): Promise<RouterFile> {
    const { id, contentType, bytes, expiresAt } = file;
    return {
      id,
      url: await this.uploads.urlOf(file),
      content_type: contentType,
      size: bytes,
      expires_at: expiresAt.toISOString(),
    };
  }
}

const isFileId = (text: string): boolean => routerFileId.safeParse(text).success;

const unknownFile = () => new RouterError('invalid_input', 'There is no such file.', { status: 404 });
