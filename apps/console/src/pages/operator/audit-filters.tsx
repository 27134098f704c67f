import { Button, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { texts } from '../../texts/index.ts';
import { actionLabels, type AuditSearch } from './audit-search.ts';
import classes from './operator.module.css';

const actionOptions = Object.entries(actionLabels).map(([value, label]) => ({
  value: value as NonNullable<AuditSearch['action']>,
  label,
}));

interface FiltersProps {
  filters: AuditSearch;
  change: (changes: Partial<Record<keyof AuditSearch, string | undefined>>) => void;
  clear: () => void;
}

export function AuditFilters({ filters, change, clear }: FiltersProps) {
  return (
    <search className={classes.filters}>
      {(['actor', 'workspace', 'subject'] as const).map((name) => (
        <TextFilter
          key={`${name} ${filters[name] ?? ''}`}
          label={texts.audit[name]}
          value={filters[name] ?? ''}
          apply={(text) => change({ [name]: text === '' ? undefined : text })}
        />
      ))}
      <Select
        label={texts.audit.action}
        placeholder={texts.audit.any}
        data={actionOptions}
        value={filters.action ?? null}
        onChange={(action) => change({ action: action ?? undefined })}
        clearable
        searchable
        size="xs"
      />
      {(['since', 'until'] as const).map((name) => (
        <TextInput
          key={name}
          type="date"
          label={texts.audit[name]}
          value={filters[name] ?? ''}
          max="9999-12-31"
          onChange={({ currentTarget: { value } }) => change({ [name]: value === '' ? undefined : value })}
          size="xs"
        />
      ))}
      {Object.keys(filters).length > 0 && (
        <Button variant="subtle" color="gray" size="xs" onClick={clear}>
          {texts.audit.clear}
        </Button>
      )}
    </search>
  );
}

/** A filter that applies when the field is left or Enter is pressed. */
function TextFilter({
  label,
  value,
  apply,
}: {
  label: string;
  value: string;
  apply: (text: string) => void;
}) {
  const [text, setText] = useState(value);
  const applyChanged = () => {
    if (text.trim() !== value) apply(text.trim());
  };
  return (
    <TextInput
      label={label}
      placeholder={texts.audit.any}
      maxLength={300}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      onBlur={applyChanged}
      onKeyDown={({ key }) => {
        if (key === 'Enter') applyChanged();
      }}
      size="xs"
    />
  );
}
