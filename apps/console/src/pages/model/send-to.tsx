import { Button, Combobox, Loader, useCombobox } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useMemo, useState } from 'react';
import { fileLink } from '../../api/files.ts';
import { modelDocumentQuery } from '../../api/model-document.ts';
import { type ModelEntry, useModels } from '../../api/models.ts';
import type { Medium } from '../../parts/media.ts';
import { texts } from '../../texts/index.ts';
import { searchable, searched } from '../../finding/find.ts';
import { recentModels } from '../../finding/recent-models.ts';
import { draftOf, keepDraft } from './drafts.ts';
import { fieldTaking, withFile } from './takes.ts';
import { emptyInput } from './use-input.ts';
import classes from './model.module.css';

/** As many as are visible without scrolling. */
const maxShown = 6;

interface SendToProps {
  medium: Medium;
  /** The model that made the file. */
  from: string;
}

/** Passes a file to a model that accepts its kind: opens the model's page with the file in its field. */
export function SendTo({ medium, from }: SendToProps) {
  const [words, setWords] = useState('');
  const [state, setState] = useState<{ isBusy: boolean; problem?: string }>({ isBusy: false });
  const { models } = useModels();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const combobox = useCombobox({ onDropdownClose: () => setWords('') });
  const accepting = useMemo(
    () => searchable(likelyFirst(models.filter((each) => each.input_modalities.includes(medium.kind)))),
    [models, medium.kind],
  );
  const found = combobox.dropdownOpened ? searched(accepting, words).slice(0, maxShown) : [];

  const send = async (id: string) => {
    combobox.closeDropdown();
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
      <Combobox store={combobox} width={340} position="bottom-start" onOptionSubmit={(id) => void send(id)}>
        <Combobox.Target targetType="button">
          <Button
            variant="subtle"
            color="gray"
            size="xs"
            leftSection={state.isBusy ? <Loader size={12} /> : <Send size={14} aria-hidden />}
            disabled={state.isBusy}
            onClick={() => combobox.toggleDropdown()}
          >
            {texts.output.sendTo}
          </Button>
        </Combobox.Target>
        <Combobox.Dropdown>
          <Combobox.Search
            aria-label={texts.output.sendToHint}
            placeholder={texts.output.sendToHint}
            value={words}
            onChange={({ currentTarget: { value } }) => {
              setWords(value);
              combobox.updateSelectedOptionIndex();
            }}
          />
          <Combobox.Options aria-label={texts.output.sendToHint}>
            {found.map(({ model }) => (
              <SendOption key={model.id} model={model} />
            ))}
            {found.length === 0 && <Combobox.Empty>{texts.output.noneTakes}</Combobox.Empty>}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
      {state.problem !== undefined && (
        <p role="status" className={classes.sendProblem}>
          {state.problem}
        </p>
      )}
    </>
  );
}

/** The models run last come first, and those that only describe the file come last. */
function likelyFirst(models: readonly ModelEntry[]): ModelEntry[] {
  const recent = recentModels();
  const rank = ({ id, output_modalities: outputs }: ModelEntry) =>
    recent.includes(id) ? recent.indexOf(id) - recent.length : Number(outputs[0] === 'text');
  return models.toSorted((one, other) => rank(one) - rank(other));
}

function SendOption({ model: { id, title } }: { model: ModelEntry }) {
  return (
    <Combobox.Option value={id} className={classes.sendOption}>
      <span>{title ?? id}</span>
      <code>{id}</code>
    </Combobox.Option>
  );
}

function objectOf(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}
