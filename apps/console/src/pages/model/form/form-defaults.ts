import type { Experimental_DefaultFormStateBehavior } from '@rjsf/utils';

/** The form fills in nothing by itself, except the member that tells the chosen alternative. */
export const formDefaults: Experimental_DefaultFormStateBehavior = {
  emptyObjectFields: 'skipDefaults',
  arrayMinItems: { populate: 'never' },
  allOf: 'skipDefaults',
  constAsDefaults: 'always',
};
