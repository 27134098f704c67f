import type { ServedModel } from './served-model.js';

/** The kinds of rows, each with a path of OpenAI's API. */
export const servedKinds = ['chat', 'embedding', 'image'] as const;
export type ServedKind = (typeof servedKinds)[number];

/** The statement of a server: the kind, or its words for another one. */
type Stated = { kind: ServedKind } | { other: string };

const chat: Stated = { kind: 'chat' };
const embedding: Stated = { kind: 'embedding' };

/** The words that name a kind. Any other word of the same field names something that these rows cannot run. */
const kindsByType: Readonly<Record<string, ServedKind>> = {
  chat: 'chat',
  language: 'chat',
  llm: 'chat',
  vlm: 'chat',
  embedding: 'embedding',
  embeddings: 'embedding',
  image: 'image',
};
const kindsByWord: Readonly<Record<string, ServedKind>> = {
  chat: 'chat',
  completion: 'chat',
  embed: 'embedding',
  embedding: 'embedding',
  embeddings: 'embedding',
};
const kindsByOutput: Readonly<Record<string, ServedKind>> = {
  text: 'chat',
  embedding: 'embedding',
  embeddings: 'embedding',
};

/**
 * The kind of a model by what its server says, never by its name. Undefined if the server says nothing. The first field
 * that says something decides, from the most to the least specific.
 */
export function statedKind(model: ServedModel): Stated | undefined {
  return byCapabilities(model) ?? bySupport(model) ?? byTags(model) ?? byOutput(model) ?? byType(model);
}

/** Mistral lists flags, Ollama lists words. */
function byCapabilities({ capabilities }: ServedModel): Stated | undefined {
  if (!capabilities) return undefined;
  if (Array.isArray(capabilities)) return byWords(capabilities);
  if (capabilities['completion_chat'] === true) return chat;
  if (capabilities['completion_chat'] !== false) return undefined;
  if (capabilities['embedding'] === true || capabilities['embeddings'] === true) return embedding;
  const names = Object.keys(capabilities).filter((name) => capabilities[name] === true);
  return {
    other: names.length === 0 ? 'its capabilities are not chat' : `its capabilities are ${names.join(', ')}`,
  };
}

/** Fireworks. */
function bySupport({ supports_chat: supportsChat, kind }: ServedModel): Stated | undefined {
  if (kind === 'EMBEDDING_MODEL') return embedding;
  if (supportsChat === true) return chat;
  return supportsChat === false ? { other: 'it does not support chat' } : undefined;
}

/** DeepInfra. */
function byTags({ metadata }: ServedModel): Stated | undefined {
  const tags = metadata?.tags ?? [];
  const known = byWords(tags);
  if (known !== undefined || tags.length === 0) return known;
  return { other: `its tags are ${tags.join(', ')}` };
}

/** OpenRouter, Hugging Face and Groq. A model that writes text is for chat, whatever else it can return. */
function byOutput({ architecture, output_modalities: own }: ServedModel): Stated | undefined {
  const outputs = architecture?.output_modalities ?? own ?? [];
  if (outputs.length === 0) return undefined;
  const kind = outputs.map((each) => kindsByOutput[each.toLowerCase()]).find((each) => each !== undefined);
  return kind === undefined ? { other: `its output is ${outputs.join(', ')}` } : { kind };
}

/** Together, Vercel and LM Studio. `model` is what some servers call every entry. */
function byType({ type }: ServedModel): Stated | undefined {
  if (!type || type === 'model') return undefined;
  const kind = kindsByType[type.toLowerCase()];
  return kind === undefined ? { other: `its type is ${type}` } : { kind };
}

function byWords(words: readonly string[]): Stated | undefined {
  const kind = words.map((word) => kindsByWord[word.toLowerCase()]).find((each) => each !== undefined);
  return kind === undefined ? undefined : { kind };
}
