// The package's index also exports test tools, which need another validator.
import Form from '@rjsf/core/lib/components/Form.js';
import type { RJSFSchema } from '@rjsf/utils';
import { useMemo } from 'react';
import type { Input, ModelDocument } from '../../../api/model-document.ts';
import type { FieldProblem, UnknownField } from '../../../api/problem.ts';
import { ExtraInputs } from './extra-inputs.tsx';
import { formDefaults } from './form-defaults.ts';
import { fields } from './media/file-list-field.tsx';
import { type FormContext, WholeInput } from './form-context.ts';
import { inputSchema } from './form-schema.ts';
import { templates } from './templates.tsx';
import { validator } from './validator.ts';
import { widgets } from './widgets.tsx';

interface InputFormProps {
  document: ModelDocument;
  input: Input;
  onChange: (input: Input) => void;
  problems: readonly FieldProblem[];
  unknown: readonly UnknownField[];
  /** The field that was just filled from elsewhere. */
  filled: FormContext['filled'];
}

/**
 * A form generated from the model's schema, and below it whatever the input holds for which there is no field.
 * Defaults are shown but not sent, because the provider fills them in.
 */
export function InputForm({ document, input, onChange, problems, unknown, filled }: InputFormProps) {
  const shown = useMemo(() => inputSchema(document.input, document.example), [document]);
  return (
    <WholeInput value={input}>
      <Form
        tagName="div"
        idPrefix="input"
        schema={shown as RJSFSchema}
        formData={input}
        formContext={{ problems, filled } satisfies FormContext}
        onChange={({ formData }) => onChange((formData ?? {}) as Input)}
        validator={validator}
        templates={templates}
        widgets={widgets}
        fields={fields}
        noValidate
        noHtml5Validate
        experimental_defaultFormStateBehavior={formDefaults}
      >
        <></>
      </Form>
      <ExtraInputs shown={shown} input={input} unknown={unknown} onChange={onChange} />
    </WholeInput>
  );
}
