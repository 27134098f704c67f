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
import type { FieldProblem } from '../../../api/problem.ts';
import { texts } from '../../../texts/index.ts';
import classes from './form.module.css';
import { labelOf } from './form-schema.ts';

const { form } = texts;

/** Up to this many optional inputs stay unfolded. */
const maxUnfolded = 3;

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
  const { problems = [] } = registry.formContext as { problems?: FieldProblem[] };
  const message = problems.find(({ loc }) => loc.slice(1).join('/') === path.join('/'))?.msg;
  const isItem = typeof path.at(-1) === 'number';
  const isGroup = schema.type === 'object' && !isItem;
  return (
    <Input.Wrapper
      id={id}
      className={`${classes.field} ${isGroup ? classes.group : ''}`}
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

/** At the top level, required fields come first and the rest is folded. */
function ObjectFieldTemplate({ properties, schema, fieldPathId }: ObjectFieldTemplateProps) {
  const fields = properties.filter(({ hidden }) => !hidden);
  const isFirst = ({ name }: { name: string }) =>
    schema.required?.includes(name) || /^(prompt|text|messages)$/.test(name);
  const isTop = fieldPathId.path.length === 0;
  const rest = isTop ? fields.filter((field) => !isFirst(field)) : [];
  const first = isTop ? fields.filter(isFirst) : fields;
  const shown = first.length === 0 ? rest.splice(0, maxUnfolded) : first;
  return (
    <div className={classes.fields}>
      {shown.map(({ content }) => content)}
      {rest.length > 0 && (
        <details className={classes.more} open={rest.length <= maxUnfolded || undefined}>
          <summary>{form.more(rest.length)}</summary>
          <div className={classes.fields}>{rest.map(({ content }) => content)}</div>
        </details>
      )}
    </div>
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
