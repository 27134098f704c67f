// The package's index also exports test tools, which need another validator.
import Form from '@rjsf/core/lib/components/Form.js';
import type { RJSFSchema } from '@rjsf/utils';
import { useMemo } from 'react';
import type { Input, Schema } from '../../../api/model-document.ts';
import type { FieldProblem } from '../../../api/problem.ts';
import { formSchema } from './form-schema.ts';
import { templates } from './templates.tsx';
import { validator } from './validator.ts';
import { widgets } from './widgets.tsx';

interface InputFormProps {
  schema: Schema;
  input: Input;
  onChange: (input: Input) => void;
  problems: readonly FieldProblem[];
}

/** A form generated from the model's schema. Defaults are shown but not sent, because the provider fills them in. */
export function InputForm({ schema, input, onChange, problems }: InputFormProps) {
  const shown = useMemo(() => formSchema(schema) as RJSFSchema, [schema]);
  return (
    <Form
      tagName="div"
      idPrefix="input"
      schema={shown}
      formData={input}
      formContext={{ problems }}
      onChange={({ formData }) => onChange((formData ?? {}) as Input)}
      validator={validator}
      templates={templates}
      widgets={widgets}
      noValidate
      noHtml5Validate
      experimental_defaultFormStateBehavior={{
        emptyObjectFields: 'skipDefaults',
        arrayMinItems: { populate: 'never' },
        allOf: 'skipDefaults',
        constAsDefaults: 'always',
      }}
    >
      <></>
    </Form>
  );
}
