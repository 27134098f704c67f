import type { NodeRecord } from '#persistence';

/** A group of similar nodes of the demo registry, by one publisher. */
interface Family {
  publisher: string;
  topic: string;
  category: string;
  /** Separated by spaces. */
  subjects: string;
  systems?: readonly string[];
  accelerators?: readonly string[];
  versions?: string;
}

const verbs = ['Load', 'Blend', 'Crop', 'Mask', 'Scale', 'Sample', 'Preview', 'Save'] as const;

// prettier-ignore
const families: readonly Family[] = [
  { publisher: 'lantern-lab', topic: 'Portrait', category: 'image', subjects: 'Face Eyes Hair Skin Smile' },
  { publisher: 'lantern-lab', topic: 'Depth', category: 'image', subjects: 'Map Fog Edge',
    accelerators: ['CUDA'] },
  { publisher: 'tidewater', topic: 'Video', category: 'video', subjects: 'Frame Clip Loop Motion Cut',
    accelerators: ['CUDA', 'ROCm'] },
  { publisher: 'tidewater', topic: 'Timeline', category: 'video', subjects: 'Track Marker',
    systems: ['POSIX :: Linux', 'Microsoft :: Windows'] },
  { publisher: 'quiet-room', topic: 'Audio', category: 'audio', subjects: 'Voice Beat Noise Echo',
    systems: ['OS Independent'] },
  { publisher: 'quiet-room', topic: 'Score', category: 'audio', subjects: 'Chord Tempo',
    versions: '>=0.3' },
  { publisher: 'paperfold', topic: 'Prompt', category: 'text', subjects: 'Style Weight Wildcard Template Negative' },
  { publisher: 'paperfold', topic: 'Caption', category: 'text', subjects: 'Tag Line',
    versions: '>=1.0,<2.0' },
  { publisher: 'northlight', topic: 'Latent', category: 'model', subjects: 'Seed Batch Tile Upscale',
    accelerators: ['CUDA', 'DirectML', 'ROCm'] },
  { publisher: 'northlight', topic: 'Adapter', category: 'model', subjects: 'Stack Merge',
    systems: ['MacOS', 'POSIX :: Linux :: Ubuntu'] },
];

/**
 * A few hundred made-up nodes for a local installation. Their numbers are derived from their position in the
 * list, so that they are the same in every installation.
 */
export function demoNodes(): NodeRecord[] {
  return families.flatMap((family, row) =>
    family.subjects
      .split(' ')
      .flatMap((subject, column) =>
        verbs.map((verb, step) =>
          demoNode(family, `${verb} ${family.topic} ${subject}`, row * 97 + column * 31 + step * 7),
        ),
      ),
  );
}

const dayMs = 24 * 60 * 60 * 1000;
const firstDayMs = Date.UTC(2024, 0, 1);
const dayAfter = (days: number) => new Date(firstDayMs + days * dayMs).toISOString();

function demoNode(family: Family, name: string, place: number): NodeRecord {
  const id = name.toLowerCase().replaceAll(' ', '-');
  const { publisher, category, systems, accelerators, versions: supported } = family;
  return {
    node: {
      id,
      name,
      description: `${name}: a made-up node of the demo registry.`,
      author: publisher,
      category,
      tags: [category, family.topic.toLowerCase()],
      created_at: dayAfter(place % 400),
      downloads: (place * place * 13) % 250_000,
      github_stars: (place * 37) % 900,
      rating: ((place * 7) % 41) / 10 + 1,
      search_ranking: place % 10,
      repository: `https://git.example/${publisher}/${id}`,
      license: 'LICENSE',
      status: place % 61 === 60 ? 'NodeStatusBanned' : 'NodeStatusActive',
      ...(systems && { supported_os: systems }),
      ...(accelerators && { supported_accelerators: accelerators }),
      ...(supported && { supported_app_version: supported }),
      publisher_id: publisher,
    },
    publisher: {
      id: publisher,
      name: publisher.replace('-', ' '),
      website: `https://${publisher}.example`,
      created_at: dayAfter(0),
      status: 'PublisherStatusActive',
    },
    versions: Array.from({ length: 1 + (place % 3) }, (_, number) => ({
      version: `1.${number}.0`,
      changelog: number === 0 ? 'First version.' : 'Bug fixes.',
      created_at: dayAfter((place % 400) + number * 20),
    })),
  };
}
