import { Autocomplete, Button, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { bucketOptions } from '../../parts/buckets.ts';
import { texts } from '../../texts/index.ts';
import { newestKeysQuery } from '../../api/keys.ts';
import { useModels } from '../../api/models.ts';
import classes from './filter-bar.module.css';
import { isFiltered, rangeOptions, states } from './run-filters.ts';
import type { RunsSearch } from './search.ts';

const stateOptions = states.map((value) => ({ value, label: texts.runs.states[value] }));

interface FilterBarProps {
  filters: RunsSearch;
  change: (changes: Partial<RunsSearch>) => void;
  clear: () => void;
}

export function FilterBar({ filters, change, clear }: FilterBarProps) {
  const keys = useQuery(newestKeysQuery).data?.data ?? [];
  const keyOptions = keys.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <search className={classes.bar}>
      <TextFilter
        key={`id ${filters.id}`}
        label={texts.runs.id}
        placeholder={texts.runs.idExample}
        value={filters.id}
        change={(id) => change({ id })}
      />
      <Select
        label={texts.runs.status}
        placeholder={texts.runs.any}
        data={stateOptions}
        value={filters.state ?? null}
        onChange={(state) => change({ state: state ?? undefined })}
        clearable
        size="xs"
      />
      <Select
        label={texts.runs.error}
        placeholder={texts.runs.any}
        data={bucketOptions}
        value={filters.error ?? null}
        onChange={(error) => change({ error: error ?? undefined })}
        clearable
        searchable
        size="xs"
      />
      <ModelFilter key={filters.model} model={filters.model} change={change} />
      {keyOptions.length > 0 && (
        <Select
          label={texts.runs.key}
          placeholder={texts.runs.any}
          data={keyOptions}
          value={filters.key ?? null}
          onChange={(key) => change({ key: key ?? undefined })}
          clearable
          size="xs"
        />
      )}
      <TextFilter
        key={`tag ${filters.tag}`}
        label={texts.runs.tag}
        placeholder={texts.runs.tagExample}
        value={filters.tag}
        change={(tag) => change({ tag })}
      />
      <TextFilter
        key={`user ${filters.user}`}
        label={texts.runs.user}
        placeholder={texts.runs.any}
        value={filters.user}
        change={(user) => change({ user })}
      />
      <Select
        label={texts.runs.time}
        placeholder={texts.runs.allTime}
        data={rangeOptions}
        value={filters.range ?? null}
        onChange={(range) => change({ range: range ?? undefined })}
        clearable
        size="xs"
      />
      <Select
        label={texts.runs.sharing}
        placeholder={texts.runs.any}
        data={[{ value: 'true', label: texts.share.shared }]}
        value={filters.shared ?? null}
        onChange={(shared) => change({ shared: shared ?? undefined })}
        clearable
        size="xs"
      />
      {isFiltered(filters) && (
        <Button variant="subtle" color="gray" size="xs" onClick={clear}>
          {texts.runs.clear}
        </Button>
      )}
    </search>
  );
}

/** Accepts any model ID and suggests those in the catalog. */
function ModelFilter({ model, change }: { model: string | undefined; change: FilterBarProps['change'] }) {
  const [text, setText] = useState(model ?? '');
  const { models } = useModels();
  const apply = (value: string) => {
    if (value !== (model ?? '')) change({ model: value === '' ? undefined : value });
  };
  return (
    <Autocomplete
      label={texts.runs.model}
      placeholder={texts.runs.any}
      data={models.map(({ id }) => id)}
      limit={20}
      value={text}
      onChange={setText}
      onOptionSubmit={apply}
      onBlur={() => apply(text.trim())}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply(text.trim());
      }}
      onClear={() => apply('')}
      clearable
      size="xs"
    />
  );
}

interface TextFilterProps {
  label: string;
  placeholder: string;
  value: string | undefined;
  change: (value: string | undefined) => void;
}

/** Applies the text when the user leaves the field or presses Enter. */
function TextFilter({ label, placeholder, value = '', change }: TextFilterProps) {
  const [text, setText] = useState(value);
  const apply = () => {
    const next = text.trim();
    if (next !== value) change(next === '' ? undefined : next);
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply();
      }}
      size="xs"
    />
  );
}
