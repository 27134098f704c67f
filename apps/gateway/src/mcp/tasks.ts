import type { RouterModelFullEntry, routerModality } from '#schemas';
import type { z } from 'zod';

type Modality = z.infer<typeof routerModality>;
type Entry = Pick<
  RouterModelFullEntry,
  'id' | 'title' | 'description' | 'input_modalities' | 'output_modalities'
>;

interface Task {
  /** The output by which the list of models can be filtered before `fits` is asked. */
  output: Modality;
  fits: (entry: Entry) => boolean;
}

const says = ({ id, title, description }: Entry, words: RegExp) =>
  words.test([id, title, description].join(' '));
const upscales = (entry: Entry) => says(entry, /upscal|enhanc|super.?resolution/i);
const speaks = (entry: Entry) => says(entry, /lip.?sync|talking|avatar/i);
const sings = (entry: Entry) => says(entry, /music|song/i);
const from = ({ input_modalities: kinds }: Entry, kind: Modality) => kinds.includes(kind);
/** The row names its main input first: a model of text that also takes images does not need one. */
const mainly = ({ input_modalities: [main] }: Entry, kind: Modality) => main === kind;
const gives = ({ output_modalities: [main] }: Entry, kind: Modality) => main === kind;

/** The tasks that agents look for. They are derived from the modalities and texts of a model, which may do several. */
export const tasks = {
  text_to_image: { output: 'image', fits: (entry) => mainly(entry, 'text') },
  edit_image: { output: 'image', fits: (entry) => from(entry, 'image') && !upscales(entry) },
  upscale: { output: 'image', fits: upscales },
  text_to_video: { output: 'video', fits: (entry) => mainly(entry, 'text') },
  image_to_video: { output: 'video', fits: (entry) => from(entry, 'image') && !speaks(entry) },
  edit_video: { output: 'video', fits: (entry) => from(entry, 'video') && !speaks(entry) },
  lip_sync: { output: 'video', fits: speaks },
  speech: { output: 'audio', fits: (entry) => gives(entry, 'audio') && !sings(entry) },
  music: { output: 'audio', fits: (entry) => gives(entry, 'audio') && sings(entry) },
  transcription: { output: 'text', fits: (entry) => mainly(entry, 'audio') },
  make_3d: { output: '3d', fits: () => true },
  text: { output: 'text', fits: (entry) => gives(entry, 'text') && !mainly(entry, 'audio') },
  embedding: { output: 'embedding', fits: () => true },
} as const satisfies Record<string, Task>;

type TaskName = keyof typeof tasks;
export const taskNames = Object.keys(tasks) as [TaskName, ...TaskName[]];

/** The tasks of a model, in words. */
export const tasksOf = (entry: Entry): string[] =>
  taskNames
    .filter((name) => entry.output_modalities.includes(tasks[name].output) && tasks[name].fits(entry))
    .map((name) => name.replaceAll('_', ' '));
