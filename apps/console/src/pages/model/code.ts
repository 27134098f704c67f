import type { StreamTerms } from '../../api/model-document.ts';
import type { Language } from '../../parts/code-example.tsx';

/** Quotes the text as one word of a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

interface Call {
  id: string;
  text: string;
  origin: string;
  /** How the call requests a stream, if it does. */
  stream: StreamTerms | undefined;
}

/** Code that makes the same call as the form. The key comes from a variable. */
export function codeOf(language: Language, { id, text, origin, stream }: Call): string {
  const input = indented(text);
  const address = `${origin}/v2/models/${id}${stream?.query === undefined ? '' : `?${stream.query}`}`;
  // The clients request streams by the member.
  const isStream = stream?.member !== undefined;
  switch (language) {
    case 'curl':
      return [
        `curl ${stream ? '-sSN' : '-sS'} ${address} \\`,
        `  -H "X-API-Key: $API_KEY" \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d ${quoted(input)}`,
      ].join('\n');
    case 'typescript':
      return [
        `import { createRouter } from 'model-router-client';`,
        ``,
        `const router = createRouter({ baseUrl: '${origin}', key: process.env.API_KEY });`,
        ...(isStream
          ? [`for await (const { data } of router.stream('${id}', ${input})) {`, `  console.log(data);`, `}`]
          : [
              `const { output, costCents } = await router.run('${id}', ${input});`,
              `console.log(output, costCents);`,
            ]),
      ].join('\n');
    case 'python':
      return [
        `import os`,
        `from model_router import Router`,
        ``,
        `router = Router("${origin}", key=os.environ["API_KEY"])`,
        ...(isStream
          ? [`for event in router.stream("${id}", ${python(input)}):`, `    print(event.data)`]
          : [`result = router.run("${id}", ${python(input)})`, `print(result.output)`]),
      ].join('\n');
  }
}

/** Indents JSON; returns text that isn't valid JSON (yet) unchanged. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Replaces JSON literals with Python's, except inside strings. */
const python = (json: string) =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|\btrue\b|\bfalse\b|\bnull\b/g, (word) => words[word] ?? word);
const words: Record<string, string> = { true: 'True', false: 'False', null: 'None' };
