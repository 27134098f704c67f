import { Combobox, InputBase, Modal, useCombobox, useMantineColorScheme } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Contrast, KeyRound, LogOut, type LucideIcon, Moon, Pin, Search, Sun } from 'lucide-react';
import { useMemo, useState } from 'react';
import { type ModelEntry, useModels } from '../api/models.ts';
import { isFirstGeneration, referenceQuery } from '../api/service-document.ts';
import { session } from '../api/session.ts';
import { recentModels } from '../finding/recent-models.ts';
import { searchable, searched } from '../finding/find.ts';
import { togglePin, usePins } from '../finding/pins.ts';
import { guidePages } from '../finding/guide-pages.ts';
import { texts } from '../texts/index.ts';
import { pagesFor, reading } from './navigation.ts';
import classes from './commands.module.css';

/** Runs and calls have IDs of the same form. */
const runId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const maxModels = 8;
const maxPreferred = 5;
const maxDocuments = 6;

interface Action {
  name: string;
  label: string;
  Icon: LucideIcon;
  act: () => void;
}

/**
 * The command palette: finds pages, actions, guide pages and routes by every word typed, models as the gallery does, and runs by their ID or
 * a call's. Before anything is typed, it lists the models that the user pinned or ran last.
 */
export function Commands({ scopes, close }: { scopes: readonly string[] | undefined; close: () => void }) {
  const { own, operator } = pagesFor(scopes);
  const [text, setText] = useState('');
  const navigate = useNavigate();
  // The combobox handles Escape, because its input doesn't pass the key on to the modal.
  const combobox = useCombobox({ opened: true, onDropdownClose: close });
  const { models } = useModels();
  const pinned = usePins();
  const list = useMemo(() => searchable(models), [models]);
  const actions = useActions(models, pinned);

  const words = text.trim().toLowerCase().split(/\s+/);
  const matches = ({ label }: { label: string }) => words.every((word) => label.toLowerCase().includes(word));
  const isBlank = text.trim() === '';
  const destinations = [...own, ...operator, ...reading].filter(matches);
  const preferred = [...new Set([...pinned, ...recentModels()])].flatMap(
    (id) => models.find((each) => each.id === id) ?? [],
  );
  const found = isBlank
    ? preferred.slice(0, maxPreferred)
    : searched(list, text)
        .slice(0, maxModels)
        .map(({ model }) => model);
  const possible = isBlank ? [] : actions.filter(matches);
  const documents = useDocuments(!isBlank).filter(matches).slice(0, maxDocuments);
  const run = runId.test(text.trim()) ? text.trim().toLowerCase() : undefined;

  const go = (chosen: string) => {
    close();
    const action = actions.find(({ name }) => name === chosen);
    const [to = '', hash = ''] = chosen.split('#');
    if (action === undefined) void navigate({ to, hash });
    else action.act();
  };
  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      padding={0}
      size={560}
      yOffset={96}
      title={texts.frame.palette}
      classNames={{ header: 'visually-hidden' }}
    >
      <Combobox store={combobox} onOptionSubmit={go} withinPortal={false}>
        <Combobox.EventsTarget withExpandedAttribute>
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
        <Combobox.Options className={classes.options} aria-label={texts.frame.palette}>
          {run !== undefined && (
            <Combobox.Group label={texts.frame.groupRuns}>
              <Combobox.Option value={`/runs/${run}`}>{texts.frame.openRun(run)}</Combobox.Option>
            </Combobox.Group>
          )}
          {isBlank && <Models label={texts.frame.groupPreferred} models={found} />}
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
          {possible.length > 0 && (
            <Combobox.Group label={texts.frame.groupActions}>
              {possible.map(({ name, label, Icon }) => (
                <Combobox.Option key={name} value={name} className={classes.option}>
                  <Icon size={16} aria-hidden />
                  {label}
                </Combobox.Option>
              ))}
            </Combobox.Group>
          )}
          {!isBlank && documents.length > 0 && (
            <Combobox.Group label={texts.frame.groupDocuments}>
              {documents.map(({ to, label, detail }) => (
                <Combobox.Option key={to} value={to} className={classes.option}>
                  <span>{label}</span>
                  <code className={classes.id}>{detail}</code>
                </Combobox.Option>
              ))}
            </Combobox.Group>
          )}
          {!isBlank && <Models label={texts.frame.groupModels} models={found} />}
          {run === undefined &&
            destinations.length + possible.length + documents.length + found.length === 0 && (
              <Combobox.Empty>{texts.frame.paletteEmpty}</Combobox.Empty>
            )}
        </Combobox.Options>
      </Combobox>
    </Modal>
  );
}

/** The pages of the guide and the routes of the API. The routes are loaded when they are first needed. */
function useDocuments(isNeeded: boolean): { to: string; label: string; detail: string }[] {
  const { data } = useQuery({ ...referenceQuery, enabled: isNeeded });
  if (!isNeeded) return [];
  const routes = (data?.areas ?? []).flatMap(({ operations }) => operations);
  return [
    ...guidePages.map(({ name, label }) => ({ to: `/guide/${name}`, label, detail: texts.frame.guide })),
    ...routes
      .filter((operation) => !isFirstGeneration(operation))
      .map(({ operationId, summary, method, path }) => ({
        to: `/reference#${operationId}`,
        label: summary,
        detail: `${method} ${path}`,
      })),
  ];
}

function Models({ label, models }: { label: string; models: readonly ModelEntry[] }) {
  if (models.length === 0) return null;
  return (
    <Combobox.Group label={label}>
      {models.map(({ id, title }) => (
        <Combobox.Option key={id} value={`/models/${id}`} className={classes.option}>
          <span>{title ?? id}</span>
          <code className={classes.id}>{id}</code>
        </Combobox.Option>
      ))}
    </Combobox.Group>
  );
}

/** The actions that the palette offers everywhere, and those for the model whose page is open. */
function useActions(models: readonly ModelEntry[], pinned: readonly string[]): Action[] {
  const navigate = useNavigate();
  const { setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const queries = useQueryClient();
  const { frame } = texts;
  const open = models.find(({ id }) => location.pathname.endsWith(`/models/${id}`));
  const pin: Action[] = open
    ? [
        {
          name: 'pin',
          label: (pinned.includes(open.id) ? texts.models.unpin : texts.models.pin)(open.title ?? open.id),
          Icon: Pin,
          act: () => togglePin(open.id),
        },
      ]
    : [];
  return [
    ...pin,
    {
      name: 'create-key',
      label: texts.keys.create,
      Icon: KeyRound,
      act: () => void navigate({ to: '/keys', search: { new: true } }),
    },
    { name: 'light', label: frame.toLight, Icon: Sun, act: () => setColorScheme('light') },
    { name: 'dark', label: frame.toDark, Icon: Moon, act: () => setColorScheme('dark') },
    { name: 'system', label: frame.toSystem, Icon: Contrast, act: () => setColorScheme('auto') },
    {
      name: 'sign-out',
      label: frame.signOut,
      Icon: LogOut,
      act: () => {
        session.signOut();
        queries.clear();
      },
    },
  ];
}
