import type { CallOptions } from './session.js';

/** Options of a call that takes an input. */
export interface InputOptions extends CallOptions {
  /** Fields that the types of the model do not have, such as new ones of its provider. They are added to the input. */
  extra?: Readonly<Record<string, unknown>>;
}

/** Options of a call that starts a run. */
export interface RunOptions extends InputOptions {
  /**
   * Identifies the run for 24 hours: the same input with the same key collects it instead of starting another one.
   * Generated for each call by default. Pass your own to avoid paying twice even if your program crashes.
   */
  idempotencyKey?: string | undefined;
  /** Names that you choose, such as `{ project: 'alpha' }`, by which runs are found and usage is summed. At most 16. */
  tags?: Readonly<Record<string, string>> | undefined;
  /** Your end user. Like the tags, it never reaches the provider. */
  user?: string | undefined;
}

/** The headers of the tags and the end user. */
export function labelHeaders({ tags = {}, user }: RunOptions): Record<string, string> {
  const given = Object.entries(tags).map(([name, value]) => {
    if (/[,=]/.test(name) || value.includes(','))
      throw new TypeError(`The tag ${name}=${value} has a comma, or an equals sign in its name.`);
    return `${name}=${value}`;
  });
  return {
    ...(given.length > 0 && { 'x-service-tags': given.join(',') }),
    ...(user !== undefined && { 'x-service-user': user }),
  };
}
