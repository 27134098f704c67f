import { attempts } from './attempts.ts';
import { audit } from './audit.ts';
import { buckets } from './buckets.ts';
import { budgets } from './budgets.ts';
import { compare } from './compare.ts';
import { failure } from './failure.ts';
import { files } from './files.ts';
import { frame } from './frame.ts';
import { home } from './home.ts';
import { keys } from './keys.ts';
import { form, model } from './model.ts';
import { models } from './models.ts';
import { checks, providers, queues, surprises, workspaces } from './operator.ts';
import { output } from './output.ts';
import { lightbox, outputs } from './outputs.ts';
import { parts } from './parts.ts';
import { reference } from './reference.ts';
import { run, runs } from './runs.ts';
import { samples } from './samples.ts';
import { settings } from './settings.ts';
import { share } from './share.ts';
import { signIn } from './sign-in.ts';
import { usage } from './usage.ts';
import { webhooks } from './webhooks.ts';

/** All text that the console shows, grouped by page. */
export const texts = {
  product: 'Model Router',
  frame,
  signIn,
  failure,
  parts,
  home,
  runs,
  run,
  share,
  samples,
  usage,
  files,
  webhooks,
  keys,
  budgets,
  settings,
  workspaces,
  checks,
  providers,
  surprises,
  queues,
  audit,
  attempts,
  buckets,
  models,
  reference,
  model,
  compare,
  form,
  output,
  outputs,
  lightbox,
};
