import { useNavigate } from '@tanstack/react-router';
import { Columns2 } from 'lucide-react';
import { useMemo } from 'react';
import { type ModelEntry, useModels } from '../../api/models.ts';
import { texts } from '../../texts/index.ts';
import { keepDraft } from '../model/drafts.ts';
import { ModelPicker } from '../model/model-picker.tsx';
import { comparisonDraft } from './search.ts';

/** Opens the comparison with this model's input, and with another model of the same task. */
export function CompareWith({ entry, text }: { entry: ModelEntry; text: string }) {
  const navigate = useNavigate();
  const others = useModelsOfTask([entry]);
  return (
    <ModelPicker
      label={texts.compare.with}
      hint={texts.compare.pick}
      icon={<Columns2 size={14} aria-hidden />}
      models={others}
      pick={(other) => {
        keepDraft(comparisonDraft(entry.id), { text });
        void navigate({ to: '/compare', search: { models: `${entry.id},${other}` } });
      }}
    />
  );
}

/** The other models that do something that these models do. */
export function useModelsOfTask(chosen: readonly ModelEntry[]): ModelEntry[] {
  const { models } = useModels();
  const ids = chosen.map(({ id }) => id).join();
  return useMemo(() => {
    const isChosen = ({ id }: ModelEntry) => ids.split(',').includes(id);
    const tasks = new Set(models.filter(isChosen).flatMap((model) => model.tasks));
    return models.filter(
      (each) => !isChosen(each) && (tasks.size === 0 || each.tasks.some((task) => tasks.has(task))),
    );
  }, [models, ids]);
}
