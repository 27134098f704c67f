import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { optional } from './arguments.js';
import type { OwnRoutes } from './own-routes.js';
import { bodyOf, failureResult, linkTo, structuredResult, textResult } from './tool-results.js';

const uploadedFile = z.looseObject({
  id: z.string(),
  url: z.string(),
  content_type: z.string(),
  size: z.number(),
  expires_at: z.string(),
});

/** The tool that stores a file. `data` is the raw JSON text of its bytes in base64. */
export function registerFileTool(server: McpServer, routes: OwnRoutes, data: Buffer | undefined): void {
  server.registerTool(
    'upload_file',
    {
      title: 'Upload a file',
      description:
        'Stores a file for 24 hours and returns its URL for inputs. A public URL needs no upload: put it into the input as it is. A file above 700 KB does not fit into a message: send it with POST /v2/files.',
      inputSchema: z.object({
        data: z.string().describe('The file in base64, or a data: URL.'),
        content_type: optional(z.string()).describe('Its media type, if the bytes do not show it.'),
      }),
      outputSchema: uploadedFile,
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    async ({ content_type: given }) => {
      const file = fileOf(data);
      if (file === undefined)
        return { ...textResult('invalid_input: data must be base64 or a data: URL.'), isError: true };
      const { bytes, type } = file;
      const contentType = given ?? type ?? 'application/octet-stream';
      const answer = await routes('POST', '/v2/files', { body: bytes, contentType });
      if (answer.status !== 201) return failureResult(answer);
      const stored = uploadedFile.parse(await bodyOf(answer));
      const result = structuredResult(stored);
      return { ...result, content: [...result.content, linkTo(stored.url, stored.content_type)] };
    },
  );
}

const dataUrl = /^data:([^;,]*)(?:;[^,;]*)*;base64,/;

/** Undefined if the text is not base64. */
function fileOf(json: Buffer | undefined): { bytes: Buffer; type: string | undefined } | undefined {
  const text: unknown = json === undefined ? undefined : JSON.parse(json.toString());
  if (typeof text !== 'string') return undefined;
  const [prefix = '', type] = dataUrl.exec(text.slice(0, 200)) ?? [];
  const base64 = text.slice(prefix.length).replaceAll(/\s/g, '');
  return /^[\w+/-]+={0,2}$/.test(base64) ? { bytes: Buffer.from(base64, 'base64'), type } : undefined;
}
