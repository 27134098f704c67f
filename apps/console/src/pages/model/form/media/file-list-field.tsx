import ArrayField from '@rjsf/core/lib/components/fields/ArrayField.js';
import MultiSchemaField from '@rjsf/core/lib/components/fields/MultiSchemaField.js';
import type { FieldProps, RegistryFieldsType } from '@rjsf/utils';
import type { ComponentType } from 'react';
import type { Schema } from '../../../../api/model-document.ts';
import type { FormContext } from '../form-context.ts';
import { type FileList, fileListOf, labelOf } from '../form-schema.ts';
import { MediaField } from './media-field.tsx';

/** Replace a list of text fields, and a choice between a text and such a list, where the texts are URLs of files. */
export const fields: RegistryFieldsType = {
  ArrayField: withFileLists(ArrayField),
  AnyOfField: withFileLists(MultiSchemaField),
  OneOfField: withFileLists(MultiSchemaField),
};

function withFileLists(Ordinary: ComponentType<FieldProps>) {
  return function FieldOrFiles(props: FieldProps) {
    const list = fileListOf(props.name, props.schema as Schema);
    const urls = urlsIn(props.formData, list);
    if (list === undefined || urls === undefined) return <Ordinary {...props} />;
    return <FileListField {...props} list={list} urls={urls} />;
  };
}

/** Undefined if the value is something that the field doesn't show. */
function urlsIn(value: unknown, list: FileList | undefined): string[] | undefined {
  if (value === undefined) return [];
  if (list?.takesOne && typeof value === 'string') return [value];
  return Array.isArray(value) && value.every((each): each is string => typeof each === 'string')
    ? value
    : undefined;
}

interface FileListFieldProps extends FieldProps {
  list: FileList;
  urls: string[];
}

function FileListField({ name, fieldPathId, registry, onChange, list, urls }: FileListFieldProps) {
  const { kind, min, max, takesOne } = list;
  const { path, $id } = fieldPathId;
  const { problems } = registry.formContext as FormContext;
  const valueOf = (next: string[]) => {
    // Empty fields aren't sent.
    if (next.length === 0) return undefined;
    return takesOne && next.length === 1 ? next[0] : next;
  };
  return (
    <MediaField
      id={$id}
      label={labelOf(name)}
      kind={kind}
      urls={urls}
      min={min}
      max={max}
      problems={problemsOfItems(problems, path)}
      onChange={(next) => onChange(valueOf(next), path)}
    />
  );
}

function problemsOfItems(problems: FormContext['problems'], path: FieldProps['fieldPathId']['path']) {
  const found: Record<number, string> = {};
  for (const { loc, msg } of problems) {
    const [place, ...deeper] = loc.slice(1 + path.length);
    const isHere = path.every((step, at) => loc[at + 1] === step);
    if (isHere && typeof place === 'number' && deeper.length === 0) found[place] = msg;
  }
  return found;
}
