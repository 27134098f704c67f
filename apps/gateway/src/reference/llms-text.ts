import { buckets } from '#errors';
import { routerTask } from '#schemas';
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

## First result

With a key in \`API_KEY\`, one call runs a model and waits for its output. \`bfl/flux-2-pro\` stands for any model below.

\`\`\`sh
curl -sS "${origin}/v2/models/bfl/flux-2-pro" -H "X-API-Key: $API_KEY" -H "Idempotency-Key: first-$RANDOM" \\
  -H 'Content-Type: application/json' -d '{"prompt": "a red fox in the snow"}'
\`\`\`

The response body is the provider's own output. The URLs of files in it work for 24 hours, and the header \`X-Service-Cost-Cents\` says what the run cost. A repeated call with the same \`Idempotency-Key\` gets the same result and is not billed again.

A run of minutes is better submitted: \`POST\` the same input to \`${origin}/v2/models/bfl/flux-2-pro/requests\`. The response has a \`status_url\`. Once it says \`COMPLETED\`, \`GET\` the \`response_url\` for the output.

## Models

Which models there are depends on the key, so these pages need the header \`X-API-Key\`.

- [All models by task](${origin}/v2/models/llms.txt)
${routerTask.options.map((task) => `- [Models for ${task}](${origin}/v2/models/llms.txt?task=${task})`).join('\n')}
- One model, with its input, an example, its price, time and errors: \`${origin}/v2/models/{provider}/{model}/llms.txt\`
- Its schemas: \`${origin}/v2/models/{provider}/{model}/openapi.json\`

## More

- [OpenAPI document of the service](${origin}/openapi.json)
- [Reference for people](${origin}/docs)
- Tools for agents (MCP, streamable HTTP): \`${origin}/mcp\`

${sections.join('\n\n')}

## Errors

${failures.join('\n')}
`;
}
