import { fullEntry, type Model } from '#catalog';
import { type Bucket, bucketNames, buckets } from '#errors';
import { type RouterModelFullEntry, routerTask, type RouterTask, shortened } from '#schemas';
import { type ModelDocument, summaryOf } from '../models/model-summary.js';

/** The most that the input of a model takes, in bytes. */
const maxInputBytes = 32 * 1024;

/** The models by task, each with a link to its text. A model is listed under each of its tasks. */
export function modelsText(models: readonly Model[], origin: string, only?: RouterTask): string {
  const entries = models.map((model) => fullEntry(model));
  const section = (title: string, fitting: readonly RouterModelFullEntry[]) =>
    fitting.length === 0 ? [] : [`## ${title}\n\n${fitting.map((each) => line(each, origin)).join('\n')}`];
  const sections = (only === undefined ? routerTask.options : [only]).flatMap((task) =>
    section(
      task,
      entries.filter(({ tasks }) => tasks.includes(task)),
    ),
  );
  const others = section(
    'Other models',
    only === undefined ? entries.filter(({ tasks }) => tasks.length === 0) : [],
  );
  return `# Models by task

> The models that this key may run. Each link needs the same key.

${[...sections, ...others].join('\n\n') || 'There are none.'}
`;
}

const line = ({ id, title = id, description = '', price }: RouterModelFullEntry, origin: string): string =>
  `- [${title}](${origin}/v2/models/${id}/llms.txt): ${[shortened(description, 120), `From $${price.from_usd} / ${shortened(price.unit, 60)}.`].filter(Boolean).join(' ')}`;

/** One model: what it takes, an example, its price, its time and its errors. `document` is that of v2. */
export function modelText(
  model: Model,
  document: ModelDocument,
  measured: RouterModelFullEntry['measured'],
  origin: string,
): string {
  const { id, budgetMs, chargesOnPolicyRejection, servers } = model;
  const room = {
    maxBytes: maxInputBytes,
    rest: `${origin}/v2/models/${id}/openapi.json has the whole schema.`,
  };
  const {
    about,
    takes,
    gives,
    price,
    output,
    inputs,
    more_inputs: more,
    example,
    notes,
  } = summaryOf(document, room);
  const streamMember = document['x-service-stream']?.member;
  const facts = [
    `Input: ${takes?.join(', ') || 'not stated'}. Output: ${gives?.join(', ') || 'not stated'}${output === undefined ? '' : ` (${output})`}.`,
    `Tasks: ${fullEntry(model).tasks.join(', ') || 'not stated'}.`,
    `Price: ${price ?? 'not stated'}`,
    `Time: ${measured === undefined ? '' : `${measuredText(measured)} `}A run fails after ${budgetMs / 1000} seconds.`,
    ...(streamMember === undefined ? [] : [`Streams with \`"${streamMember}": true\`.`]),
    ...(servers.length === 0 ? [] : [`Also served by ${servers.join(', ')}.`]),
  ];
  const body = `'${JSON.stringify(example ?? {}).replaceAll("'", `'\\''`)}'`;
  const fields = Object.entries(inputs).map(([name, text]) => `- \`${name}\`: ${text}`);
  return `# ${id}

> ${about ?? id}

${facts.map((fact) => `- ${fact}`).join('\n')}

## Example

\`\`\`sh
curl -sS "${origin}/v2/models/${id}" -H "X-API-Key: $API_KEY" -H 'Content-Type: application/json' \\
  -d ${body}
\`\`\`

To submit the same input as a queued run, add \`/requests\` to the URL. \`${origin}/llms.txt\` says how to collect it.

## Input

${[...fields, ...(more === undefined ? [] : [`- More: ${more.join(', ')}`])].join('\n')}
${notes === undefined ? '' : `\n${notes}\n`}
## Errors

Each error names its bucket in the header \`X-Service-Error-Type\`. These depend on the model:

- \`invalid_input\` (422): a field is missing or wrong. \`detail\` names each one. Nothing is billed.
${failureLines({
  content_policy_violation: rejections[chargesOnPolicyRejection],
  provider_error: 'Not billed.',
  provider_timeout: 'Not billed.',
  service_unavailable: 'Not billed; try again later.',
})}
`;
}

const rejections = {
  yes: 'The provider charges for it, so it is billed.',
  no: 'Not billed.',
  unknown: 'Not billed.',
} as const;

const failureLines = (bills: Partial<Record<Bucket, string>>): string =>
  bucketNames
    .filter((bucket) => bills[bucket] !== undefined)
    .map(
      (bucket) => `- \`${bucket}\` (${buckets[bucket].status}): ${buckets[bucket].meaning} ${bills[bucket]}`,
    )
    .join('\n');

function measuredText({
  median_seconds: seconds,
  success_share: share,
  runs,
  days,
}: NonNullable<RouterModelFullEntry['measured']>): string {
  const time = seconds === undefined ? '' : `Half of the runs take at most ${seconds} seconds. `;
  return `${time}Of the last ${runs} runs (${days} days), ${Math.round(share * 100)}% succeeded.`;
}
