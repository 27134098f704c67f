import { buckets } from '#errors';
import { areas } from '../http/api-route.js';
import type { ServiceDocument } from '../openapi/service-document.js';

/** The service on one page for language models (llms.txt), made from the service document. */
export function llmsText({ info, paths }: ServiceDocument, origin: string): string {
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(() => !path.startsWith('/v1/'))
      .map(([method, { tags, summary }]) => ({
        area: tags[0],
        line: `- \`${method.toUpperCase()} ${path}\`: ${summary}.`,
      })),
  );
  const sections = Object.entries(areas).map(([area, meaning]) => {
    const lines = routes.filter((route) => route.area === area).map(({ line }) => line);
    return `## ${area}\n\n${meaning}\n\n${lines.join('\n')}`;
  });
  const failures = Object.entries(buckets).map(
    ([bucket, { status, meaning }]) => `- \`${bucket}\` (${status}): ${meaning}`,
  );
  return `# ${info.title}

> ${info.description}

Send the API key as \`X-API-Key\`, and an \`Idempotency-Key\` with each run. The shortest way to a result is one call: \`POST ${origin}/v2/models/{provider}/{model}\` with the model's input as JSON.

- [OpenAPI document of the service](${origin}/openapi.json)
- [Reference for people](${origin}/docs)
- Input and output of a model: \`${origin}/v2/models/{provider}/{model}/openapi.json\`
- Tools for agents (MCP, streamable HTTP): \`${origin}/mcp\`

${sections.join('\n\n')}

## Errors

${failures.join('\n')}
`;
}
