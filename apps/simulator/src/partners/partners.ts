import type { Partner } from '../partner.js';
import { elevenlabs, ideogram, ltx, openai, recraft } from './at-once.js';
import { bfl } from './bfl.js';
import { fal } from './fal.js';
import { google } from './google.js';
import { kling } from './kling.js';
import * as hosts from './hosts.js';
import * as polled from './polled.js';

/** By name. */
export const partners: readonly Partner[] = [
  bfl,
  elevenlabs,
  fal,
  google,
  ideogram,
  kling,
  ltx,
  openai,
  recraft,
  ...Object.values(hosts),
  ...Object.values(polled),
].toSorted((one, other) => (one.name < other.name ? -1 : 1));
