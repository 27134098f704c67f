import { Button, Input } from '@mantine/core';
import type {
  ArrayFieldItemTemplateProps,
  ArrayFieldTemplateProps,
  FieldTemplateProps,
  MultiSchemaFieldTemplateProps,
  ObjectFieldTemplateProps,
  TemplatesType,
} from '@rjsf/utils';
import { Plus, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Input as FormInput, Schema } from '../../../api/model-document.ts';
import { texts } from '../../../texts/index.ts';
import classes from './form.module.css';
import type { FormContext } from './form-context.ts';
import { layoutOf } from './form-layout.ts';
import { labelOf } from './form-schema.ts';

const { form } = texts;

export const templates: Partial<TemplatesType> = {
  FieldTemplate,
  ObjectFieldTemplate,
  ArrayFieldTemplate,
  ArrayFieldItemTemplate,
  MultiSchemaFieldTemplate,
  FieldErrorTemplate: () => null,
  UnsupportedFieldTemplate: () => <p className="dimmed">{form.onlyJson}</p>,
};

function FieldTemplate(props: FieldTemplateProps) {
  const { id, label, rawDescription, children, required, hidden, schema, fieldPathId, registry } = props;
  if (hidden) return <div hidden>{children}</div>;
  const { path } = fieldPathId;
  if (path.length === 0) return children;
  const { problems, filled } = registry.formContext as FormContext;
  const message = problems.find(({ loc }) => loc.slice(1).join('/') === path.join('/'))?.msg;
  const isItem = typeof path.at(-1) === 'number';
  const isGroup = schema.type === 'object' && !isItem;
  return (
    <Input.Wrapper
      id={id}
      ref={filled?.join('/') === path.join('/') ? intoView : undefined}
      className={[
        classes.field,
        isGroup && classes.group,
        filled?.join('/') === path.join('/') && classes.filled,
      ]
        .filter(Boolean)
        .join(' ')}
      label={isItem ? undefined : <span title={String(path.at(-1))}>{labelOf(label)}</span>}
      labelElement={schema.type === 'object' || schema.type === 'array' ? 'div' : 'label'}
      withAsterisk={required}
      description={isItem ? undefined : rawDescription}
      error={message}
    >
      {children}
    </Input.Wrapper>
  );
}

/** A field that was just filled from elsewhere. */
const intoView = (element: Element | null) => element?.scrollIntoView({ block: 'center' });

/** At the top level, required fields come first and the rest is folded, unless it holds a value. */
function ObjectFieldTemplate(props: ObjectFieldTemplateProps) {
  const { properties, schema, formData, fieldPathId, registry } = props;
  const fields = properties.filter(({ hidden }) => !hidden);
  if (fieldPathId.path.length > 0) {
    return <div className={classes.fields}>{fields.map(({ content }) => content)}</div>;
  }
  const { first, rest, filled, isShort } = layoutOf(schema as Schema, (formData ?? {}) as FormInput);
  const { problems } = registry.formContext as FormContext;
  const isWrong = problems.some(({ loc }) => rest.includes(String(loc[1])));
  const contentOf = (names: string[]) =>
    names.map((name) => fields.find((field) => field.name === name)?.content);
  return (
    <div className={classes.fields}>
      {contentOf(first)}
      {rest.length > 0 && (
        <MoreInputs count={rest.length} filled={filled} isShort={isShort} isWrong={isWrong}>
          {contentOf(rest)}
        </MoreInputs>
      )}
    </div>
  );
}

interface MoreInputsProps {
  count: number;
  filled: number;
  isShort: boolean;
  /** Whether a field in the section is rejected. */
  isWrong: boolean;
  children: ReactNode;
}

function MoreInputs({ count, filled, isShort, isWrong, children }: MoreInputsProps) {
  const [isUnfolded, setUnfolded] = useState(isShort);
  const mustShow = filled > 0 || isWrong;
  return (
    <details
      className={classes.more}
      open={isUnfolded || mustShow}
      onToggle={(event) => {
        if (!mustShow) setUnfolded(event.currentTarget.open);
      }}
    >
      <summary
        onClick={(event) => {
          // Nothing that is sent or wrong may be hidden.
          if (mustShow) event.preventDefault();
        }}
      >
        {form.more(count, filled)}
      </summary>
      <div className={classes.fields}>{children}</div>
    </details>
  );
}

function ArrayFieldTemplate({ items, canAdd, onAddClick }: ArrayFieldTemplateProps) {
  return (
    <div className={classes.items}>
      {items}
      {canAdd && (
        <Button
          variant="default"
          size="xs"
          leftSection={<Plus size={14} aria-hidden />}
          className={classes.add}
          onClick={onAddClick}
        >
          {form.add}
        </Button>
      )}
    </div>
  );
}

function ArrayFieldItemTemplate({ children, buttonsProps, index }: ArrayFieldItemTemplateProps) {
  return (
    <div className={classes.item}>
      <div className={classes.itemField}>{children}</div>
      {buttonsProps.hasRemove && (
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          aria-label={form.remove(index + 1)}
          onClick={buttonsProps.onRemoveItem}
        >
          <Trash2 size={14} aria-hidden />
        </Button>
      )}
    </div>
  );
}

function MultiSchemaFieldTemplate({ selector, optionSchemaField }: MultiSchemaFieldTemplateProps) {
  return (
    <div className={classes.choice}>
      {selector}
      {optionSchemaField}
    </div>
  );
}
