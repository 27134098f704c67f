import type { ActionQuery } from '../../api/operator.ts';
import { texts } from '../../texts/index.ts';

/** The filters of the actions, which are kept in the address. `since` and `until` are UTC days. */
export type AuditSearch = Pick<ActionQuery, 'actor' | 'action' | 'subject' | 'workspace' | 'since' | 'until'>;

/** The type makes sure that no action lacks a label. */
export const actionLabels: Record<NonNullable<AuditSearch['action']>, string> = texts.audit.actions;

const isAction = (text: string): boolean => Object.hasOwn(actionLabels, text);
const day = /^\d{4}-\d\d-\d\d$/;

const accepts: Record<keyof AuditSearch, (text: string) => boolean> = {
  actor: (text) => text !== '',
  action: isAction,
  subject: (text) => text !== '',
  workspace: (text) => text !== '',
  since: (text) => day.test(text),
  until: (text) => day.test(text),
};

/** Drops what is not a filter, such as an action that no release records. */
export const auditSearch = (search: Record<string, unknown>): AuditSearch =>
  Object.fromEntries(
    Object.entries(accepts).flatMap(([name, accepted]) => {
      const value = search[name];
      return typeof value === 'string' && accepted(value) ? [[name, value]] : [];
    }),
  );
