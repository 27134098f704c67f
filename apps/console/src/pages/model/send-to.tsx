import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useMemo, useState } from 'react';
import { fileLink } from '../../api/files.ts';
import { modelDocumentQuery } from '../../api/model-document.ts';
import { useModels } from '../../api/models.ts';
import type { Medium } from '../../parts/media.ts';
import { texts } from '../../texts/index.ts';
import { draftOf, keepDraft } from './drafts.ts';
import { ModelPicker } from './model-picker.tsx';
import { fieldTaking, withFile } from './takes.ts';
import { emptyInput } from './use-input.ts';
import classes from './model.module.css';

interface SendToProps {
  medium: Medium;
  /** The model that made the file. */
  from: string;
}

/** Passes a file to a model that accepts its kind: opens the model's page with the file in its field. */
export function SendTo({ medium, from }: SendToProps) {
  const [state, setState] = useState<{ isBusy: boolean; problem?: string }>({ isBusy: false });
  const { models } = useModels();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // The models that only describe the file come last.
  const accepting = useMemo(
    () =>
      models
        .filter((each) => each.input_modalities.includes(medium.kind))
        .toSorted((one, other) => Number(isText(one)) - Number(isText(other))),
    [models, medium.kind],
  );

  const send = async (id: string) => {
    setState({ isBusy: true });
    try {
      const [document, url] = await Promise.all([
        queries.fetchQuery(modelDocumentQuery(id)),
        fileLink(medium.url, medium.name),
      ]);
      const taking = fieldTaking(document, medium.kind);
      if (taking === undefined) {
        await navigator.clipboard.writeText(url);
        setState({ isBusy: false, problem: texts.output.noField(id) });
        return;
      }
      const { text = emptyInput } = draftOf(id) ?? {};
      keepDraft(id, {
        text: JSON.stringify(withFile(objectOf(text), taking, url), null, 2),
        filled: { field: taking.field, from },
      });
      const [provider = '', model = ''] = id.split('/');
      await navigate({ to: '/models/$provider/$model', params: { provider, model } });
    } catch (error) {
      setState({ isBusy: false, problem: error instanceof Error ? error.message : String(error) });
    }
  };
  return (
    <>
      <ModelPicker
        label={texts.output.sendTo}
        hint={texts.output.sendToHint}
        icon={<Send size={14} aria-hidden />}
        models={accepting}
        pick={(id) => void send(id)}
        isBusy={state.isBusy}
      />
      {state.problem !== undefined && (
        <p role="status" className={classes.sendProblem}>
          {state.problem}
        </p>
      )}
    </>
  );
}

const isText = ({ output_modalities: outputs }: { output_modalities: readonly string[] }) =>
  outputs[0] === 'text';

function objectOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
