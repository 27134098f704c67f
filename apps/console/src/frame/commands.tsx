import { Combobox, InputBase, Modal, useCombobox } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useState } from 'react';
import { useModels } from '../api/models.ts';
import { texts } from '../texts/index.ts';
import { guide, operatorPages, pages } from './navigation.ts';
import classes from './commands.module.css';

/** Runs and calls have IDs of the same form. */
const runId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const maxModels = 8;

/** The command palette: finds pages and models that contain every word typed, and runs by their ID or a call's. */
export function Commands({ isOperator, close }: { isOperator: boolean; close: () => void }) {
  const [text, setText] = useState('');
  const navigate = useNavigate();
  // The combobox handles Escape, because its input doesn't pass the key on to the modal.
  const combobox = useCombobox({ opened: true, onDropdownClose: close });
  const { models } = useModels();

  const words = text.trim().toLowerCase().split(/\s+/);
  const matches = (...facts: (string | undefined)[]) => {
    const all = facts.join(' ').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const destinations = [...pages, ...(isOperator ? operatorPages : []), guide].filter(({ label }) =>
    matches(label),
  );
  const found = models.filter(({ id, title }) => matches(id, title)).slice(0, maxModels);
  const run = runId.test(text.trim()) ? text.trim().toLowerCase() : undefined;

  const go = (to: string) => {
    close();
    void navigate({ to });
  };
  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset={96}
      title={null}
      aria-label={texts.frame.palette}
    >
      <Combobox store={combobox} onOptionSubmit={go} withinPortal={false}>
        <Combobox.EventsTarget>
          <InputBase
            data-autofocus
            className={classes.input}
            size="md"
            variant="unstyled"
            leftSection={<Search size={16} aria-hidden />}
            aria-label={texts.frame.paletteHint}
            placeholder={texts.frame.paletteHint}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              combobox.selectFirstOption();
            }}
          />
        </Combobox.EventsTarget>
        <Combobox.Options className={classes.options}>
          {run !== undefined && (
            <Combobox.Group label={texts.frame.groupRuns}>
              <Combobox.Option value={`/runs/${run}`}>{texts.frame.openRun(run)}</Combobox.Option>
            </Combobox.Group>
          )}
          {destinations.length > 0 && (
            <Combobox.Group label={texts.frame.groupPages}>
              {destinations.map(({ to, label, Icon }) => (
                <Combobox.Option key={to} value={to} className={classes.option}>
                  <Icon size={16} aria-hidden />
                  {label}
                </Combobox.Option>
              ))}
            </Combobox.Group>
          )}
          {found.length > 0 && (
            <Combobox.Group label={texts.frame.groupModels}>
              {found.map(({ id, title }) => (
                <Combobox.Option key={id} value={`/models/${id}`} className={classes.option}>
                  <span>{title ?? id}</span>
                  <code className={classes.id}>{id}</code>
                </Combobox.Option>
              ))}
            </Combobox.Group>
          )}
          {run === undefined && destinations.length + found.length === 0 && (
            <Combobox.Empty>{texts.frame.paletteEmpty}</Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox>
    </Modal>
  );
}
