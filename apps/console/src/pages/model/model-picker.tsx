import { Button, Combobox, Loader, useCombobox } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import type { ModelEntry } from '../../api/models.ts';
import { searchable, searched } from '../../finding/find.ts';
import { recentModels } from '../../finding/recent-models.ts';
import { texts } from '../../texts/index.ts';
import classes from './model.module.css';

/** As many as are visible without scrolling. */
const maxShown = 6;

interface ModelPickerProps {
  label: string;
  /** Label of the search. */
  hint: string;
  icon: ReactNode;
  models: readonly ModelEntry[];
  pick: (id: string) => void;
  variant?: 'subtle' | 'default';
  isBusy?: boolean;
}

/** A button that opens a search for one of the models. The models run last come first. */
export function ModelPicker({
  label,
  hint,
  icon,
  models,
  pick,
  variant = 'subtle',
  isBusy = false,
}: ModelPickerProps) {
  const [words, setWords] = useState('');
  const combobox = useCombobox({ onDropdownClose: () => setWords('') });
  const candidates = useMemo(() => searchable(recentFirst(models)), [models]);
  const found = combobox.dropdownOpened ? searched(candidates, words).slice(0, maxShown) : [];
  return (
    <Combobox
      store={combobox}
      width={340}
      position="bottom-start"
      onOptionSubmit={(id) => {
        combobox.closeDropdown();
        pick(id);
      }}
    >
      <Combobox.Target targetType="button">
        <Button
          variant={variant}
          color="gray"
          size="xs"
          leftSection={isBusy ? <Loader size={12} /> : icon}
          disabled={isBusy}
          onClick={() => combobox.toggleDropdown()}
        >
          {label}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          aria-label={hint}
          placeholder={hint}
          value={words}
          onChange={({ currentTarget: { value } }) => {
            setWords(value);
            combobox.updateSelectedOptionIndex();
          }}
        />
        <Combobox.Options aria-label={hint}>
          {found.map(({ model: { id, title } }) => (
            <Combobox.Option key={id} value={id} className={classes.sendOption}>
              <span>{title ?? id}</span>
              <code>{id}</code>
            </Combobox.Option>
          ))}
          {found.length === 0 && <Combobox.Empty>{texts.output.noneTakes}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

function recentFirst(models: readonly ModelEntry[]): ModelEntry[] {
  const recent = recentModels();
  const rank = ({ id }: ModelEntry) => (recent.includes(id) ? recent.indexOf(id) - recent.length : 0);
  return models.toSorted((one, other) => rank(one) - rank(other));
}
