import { type Schema as AnySchema, Validator } from '@cfworker/json-schema';
import type { RJSFSchema, ValidatorType } from '@rjsf/utils';

/**
 * The form asks only which of several choices fits a value. Whether an input is accepted, the service says itself, with
 * the price. This validator interprets: one that compiles schemas to code would need `unsafe-eval`.
 */
export const validator: ValidatorType = {
  isValid: (schema: RJSFSchema, value: unknown) =>
    new Validator(schema as AnySchema, '2020-12').validate(value).valid,
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({ errors: [] }),
};
