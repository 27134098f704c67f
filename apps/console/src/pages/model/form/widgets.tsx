import { Checkbox, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core';
import type { RegistryWidgetsType, WidgetProps } from '@rjsf/utils';
import { exampleOf } from './form-context.ts';
import { fileKindOf, labelOf } from './form-schema.ts';
import { maskTermsOf } from './mask/mask.ts';
import { MediaField } from './media/media-field.tsx';
import { NumberField } from './number-field.tsx';
import { ShapeField } from './shape-field.tsx';
import { areShapes } from './shapes.ts';
import type { Schema } from '../../../api/model-document.ts';
import { texts } from '../../../texts/index.ts';

const { form } = texts;

/** Limits for showing options side by side. */
const maxSegments = 4;
const maxSegmentLetters = 28;

export const widgets: RegistryWidgetsType = {
  TextWidget,
  TextareaWidget: TextWidget,
  URLWidget: TextWidget,
  UuidWidget: TextWidget,
  SelectWidget,
  RadioWidget: SelectWidget,
  CheckboxWidget,
};

function TextWidget(props: WidgetProps) {
  const { id, name, schema, value, onChange, required } = props;
  if (schema.type === 'number' || schema.type === 'integer') return <NumberField {...props} />;
  const text = typeof value === 'string' ? value : '';
  // Empty fields aren't sent.
  const set = (next: string) => onChange(next === '' ? undefined : next);
  const field = fieldName(id, name);
  const kind = fileKindOf(field, schema as Schema);
  if (kind !== undefined) {
    return (
      <MediaField
        id={id}
        label={labelOf(field)}
        kind={kind}
        urls={text === '' ? [] : [text]}
        max={1}
        onChange={([url = '']) => set(url)}
        mask={maskTermsOf(field, schema as Schema)}
      />
    );
  }
  const common = {
    id,
    'aria-label': labelOf(field),
    required,
    value: text,
    maxLength: schema.maxLength,
    placeholder: typeof schema.default === 'string' ? schema.default : placeholderOf(exampleOf(schema)),
  };
  return /prompt|^text$|content|script|lyrics|instructions|description/i.test(field) ? (
    <Textarea
      {...common}
      autosize
      minRows={2}
      maxRows={12}
      onChange={(event) => set(event.currentTarget.value)}
    />
  ) : (
    <TextInput {...common} onChange={(event) => set(event.currentTarget.value)} />
  );
}

const placeholderOf = (example: unknown): string | undefined =>
  typeof example === 'string' ? form.example(example) : undefined;

/** List items take the name of their list. */
const fieldName = (id: string, name: string) =>
  /^\d+$/.test(name) || name === '' ? (id.split('_').at(-2) ?? name) : name;

function SelectWidget({ id, name, schema, options, value, onChange, required }: WidgetProps) {
  const choices = (options.enumOptions ?? []).map((option, place) => ({
    value: String(place),
    label: option.label,
  }));
  const placeOf = (wanted: unknown) =>
    (options.enumOptions ?? []).findIndex((option) => option.value === wanted);
  const place = placeOf(value ?? schema.default);
  const pick = (next: string | null) =>
    onChange(next === null ? undefined : options.enumOptions?.[Number(next)]?.value);
  const label = labelOf(fieldName(id, name));
  if (areShapes((options.enumOptions ?? []).map((option) => option.value as unknown))) {
    return (
      <ShapeField
        id={id}
        label={label}
        choices={options.enumOptions ?? []}
        value={value}
        standard={schema.default}
        required={required === true}
        onChange={onChange}
      />
    );
  }
  const letters = choices.reduce((sum, choice) => sum + choice.label.length + 2, 0);
  if (choices.length <= maxSegments && letters <= maxSegmentLetters && place >= 0) {
    return (
      <SegmentedControl
        id={id}
        size="sm"
        aria-label={label}
        data={choices}
        value={String(place)}
        onChange={pick}
      />
    );
  }
  return (
    <Select
      id={id}
      aria-label={label}
      data={choices}
      value={value === undefined ? null : String(placeOf(value))}
      placeholder={place < 0 ? form.choose : choices[place]?.label}
      onChange={pick}
      searchable={choices.length > 8}
      clearable={!required}
    />
  );
}

function CheckboxWidget({ id, name, schema, value, onChange }: WidgetProps) {
  const isOn = typeof value === 'boolean' ? value : schema.default === true;
  return (
    <Checkbox
      id={id}
      mt={4}
      aria-label={labelOf(fieldName(id, name))}
      label={isOn ? form.yes : form.no}
      checked={isOn}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
