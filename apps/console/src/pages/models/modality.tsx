import { AudioLines, Box, Clapperboard, Image, type LucideIcon, Type, Waypoints } from 'lucide-react';
import type { ModelEntry } from '../../api/models.ts';
import { texts } from '../../texts/index.ts';
import classes from './models.module.css';
import type { Modality } from './search.ts';

const modalityIcons: Record<Modality, LucideIcon> = {
  image: Image,
  video: Clapperboard,
  audio: AudioLines,
  '3d': Box,
  text: Type,
  embedding: Waypoints,
};

/** Input and output modalities as labelled icons. */
export function ModalityChips({
  model,
}: {
  model: Pick<ModelEntry, 'input_modalities' | 'output_modalities'>;
}) {
  const { input_modalities: inputs, output_modalities: outputs } = model;
  const label = texts.models.turns(
    inputs.map((each) => texts.models.modality[each]).join(', '),
    outputs.map((each) => texts.models.modality[each]).join(', '),
  );
  return (
    <span className={classes.modalities} title={label}>
      <span className="visually-hidden">{label}</span>
      <Icons of={inputs} />
      <span aria-hidden>→</span>
      <Icons of={outputs} />
    </span>
  );
}

function Icons({ of }: { of: readonly Modality[] }) {
  return of.map((each) => {
    const Icon = modalityIcons[each];
    return <Icon key={each} size={14} aria-hidden />;
  });
}
