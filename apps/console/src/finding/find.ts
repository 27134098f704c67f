import type { ModelEntry } from '../api/models.ts';
import { texts } from '../texts/index.ts';
import type { Task } from './tasks.ts';

/** A model with the texts that a search looks into, in lower case. */
export interface Searchable {
  model: ModelEntry;
  tasks: readonly Task[];
  /** ID and title, in which a match counts most. */
  name: string;
  /** Other names, the tasks, and the modalities. */
  facts: string;
  description: string;
}

export const searchable = (models: readonly ModelEntry[]): Searchable[] =>
  models.map((model) => {
    const { id, title = '', description = '', aliases, tasks } = model;
    const facts = [
      ...aliases,
      ...tasks.map((task) => texts.models.tasks[task]),
      ...model.output_modalities.map((each) => texts.models.modality[each]),
    ];
    return {
      model,
      tasks,
      name: `${id} ${title}`.toLowerCase(),
      facts: facts.join('\n').toLowerCase(),
      description: description.toLowerCase(),
    };
  });

/** Words that people type for words in the catalog. */
const synonyms: Record<string, readonly string[]> = {
  tts: ['speech'],
  voice: ['speech'],
  narration: ['speech'],
  stt: ['transcription', 'transcrib'],
  asr: ['transcription', 'transcrib'],
  subtitle: ['transcription', 'transcrib'],
  captions: ['transcription', 'transcrib'],
  llm: ['text generation'],
  chat: ['text generation'],
  chatbot: ['text generation'],
  talking: ['lip sync', 'avatar'],
  head: ['lip sync', 'avatar'],
  dub: ['lip sync'],
  dubbing: ['lip sync'],
  song: ['music'],
  sfx: ['sound'],
  picture: ['image'],
  photo: ['image'],
  clip: ['video'],
  movie: ['video'],
  film: ['video'],
  animate: ['image to video', 'animat'],
  i2v: ['image to video'],
  t2v: ['text to video'],
  t2i: ['text to image'],
  img2img: ['edit'],
  inpaint: ['edit', 'fill', 'erase'],
  inpainting: ['edit', 'fill', 'erase'],
  enhance: ['upscale'],
  enlarge: ['upscale'],
  mesh: ['3d'],
  vectors: ['embedding', 'vector'],
  rag: ['embedding'],
};

/**
 * The models that match every word, best first and otherwise in their order. A word that occurs nowhere counts as the
 * words that it resembles most, so that a typo still finds its model.
 */
export function searched(list: readonly Searchable[], query: string): readonly Searchable[] {
  const words = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return list;
  const wanted = words.map((word) => {
    const isKnown = list.some((each) => scoreOf(each, word) > 0) || synonyms[word] !== undefined;
    return isKnown ? [word, ...(synonyms[word] ?? [])] : similar(list, word);
  });
  return list
    .map((each) => {
      const scores = wanted.map((choices) => Math.max(0, ...choices.map((word) => scoreOf(each, word))));
      return { each, score: scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one, 0) };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ each }) => each);
}

function scoreOf({ name, facts, description }: Searchable, word: string): number {
  const at = name.indexOf(word);
  // A match at the start of a word counts more.
  if (at >= 0) return at === 0 || /[^a-z\d]/.test(name[at - 1] ?? '') ? 4 : 3;
  if (facts.includes(word)) return 2;
  return description.includes(word) ? 1 : 0;
}

const vocabularies = new WeakMap<readonly Searchable[], string[]>();

function vocabularyOf(list: readonly Searchable[]): string[] {
  let known = vocabularies.get(list);
  if (known === undefined) {
    const all = list.flatMap(({ name, facts }) => `${name} ${facts}`.split(/[^a-z\d]+/));
    known = [...new Set([...all, ...Object.keys(synonyms)])].filter(({ length }) => length >= 3);
    vocabularies.set(list, known);
  }
  return known;
}

/** The known words with the fewest edits from this one, at most two; or the word itself. */
function similar(list: readonly Searchable[], word: string): string[] {
  let limit = word.length < 4 ? 0 : word.length < 7 ? 1 : 2;
  let found: string[] = [];
  for (const known of vocabularyOf(list)) {
    const edits = editsWithin(word, known, limit);
    if (edits === undefined) continue;
    if (edits < limit) found = [];
    limit = edits;
    found.push(known, ...(synonyms[known] ?? []));
  }
  return found.length === 0 ? [word] : found;
}

/**
 * The number of edits that make one word the start of the other, or undefined above the limit. Two neighbouring
 * letters in the wrong order are one edit.
 */
function editsWithin(word: string, known: string, limit: number): number | undefined {
  if (known.length < word.length - limit) return undefined;
  // The user may not have typed the whole word yet.
  const length = Math.min(known.length, word.length + limit);
  let before: number[] = [];
  let row = Array.from({ length: length + 1 }, (_, place) => place);
  for (let at = 1; at <= word.length; at += 1) {
    const next = [at];
    for (let place = 1; place <= length; place += 1) {
      const isSame = word[at - 1] === known[place - 1];
      const isSwapped = word[at - 1] === known[place - 2] && word[at - 2] === known[place - 1];
      next.push(
        Math.min(
          (row[place - 1] ?? 0) + Number(!isSame),
          (row[place] ?? 0) + 1,
          (next[place - 1] ?? 0) + 1,
          at > 1 && place > 1 && isSwapped ? (before[place - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    if (Math.min(...next) > limit + 1) return undefined;
    before = row;
    row = next;
  }
  const edits = Math.min(...row.slice(Math.max(0, word.length - limit)));
  return edits <= limit ? edits : undefined;
}
