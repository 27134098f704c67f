import type { Medium } from './media.ts';

interface Origin {
  /** The model's ID. */
  model: string;
  prompt: string | null | undefined;
  /** The run's ID. */
  run: string;
}

const maxPromptLength = 48;

/** Such as `flux-2-pro-a-red-fox-8e34.png`: what made the file, and from which words. `place` tells several apart. */
export function fileNameOf({ model, prompt, run }: Origin, { name }: Medium, place?: number): string {
  const parts = [
    slugOf(model.split('/').at(-1) ?? model),
    shortened(slugOf(prompt ?? '')),
    run.slice(-4),
    ...(place === undefined ? [] : [String(place + 1)]),
  ];
  const ending = /\.\w{1,5}$/.exec(name)?.[0] ?? '';
  return parts.filter((part) => part !== '').join('-') + ending.toLowerCase();
}

const slugOf = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}.]+/gu, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '');

/** Ends at a word. */
function shortened(slug: string): string {
  if (slug.length <= maxPromptLength) return slug;
  const cut = slug.slice(0, maxPromptLength + 1);
  return cut.slice(0, Math.max(cut.lastIndexOf('-'), 24)).replaceAll(/-+$/g, '');
}
