import { type Schema as AnySchema, Validator } from '@cfworker/json-schema';
import type { RJSFSchema, ValidatorType } from '@rjsf/utils';

/**
 * The form uses this only to find which of several choices fits a value; the service validates the input when it
 * estimates the price. This validator interprets schemas, because one that compiles them would need `unsafe-eval`.
 */
export const validator: ValidatorType = {
  isValid: (schema: RJSFSchema, value: unknown) =>
    new Validator(schema as AnySchema, '2020-12').validate(value).valid,
  validateFormData: () => ({ errors: [], errorSchema: {} }),
  rawValidation: () => ({ errors: [] }),
};
