import type { Provider } from '../provider.js';
import {
  anthropic,
  byteplusSpeech,
  elevenlabs,
  geminiInteractions,
  ideogram,
  ltx,
  openai,
  openrouter,
  recraft,
} from './at-once.js';
import { bfl } from './bfl.js';
import { fal } from './fal.js';
import { google } from './google.js';
import { kling } from './kling.js';
import * as hosts from './hosts.js';
import * as polled from './polled.js';
import { runware } from './runware.js';
import * as studios from './studios.js';
import { tencent } from './tencent.js';

/** Sorted by name. */
export const providers: readonly Provider[] = [
  anthropic,
  bfl,
  byteplusSpeech,
  elevenlabs,
  fal,
  geminiInteractions,
  google,
  ideogram,
  kling,
  ltx,
  openai,
  openrouter,
  recraft,
  runware,
  tencent,
  ...Object.values(hosts),
  ...Object.values(polled),
  ...Object.values(studios),
].toSorted((one, other) => (one.name < other.name ? -1 : 1));
