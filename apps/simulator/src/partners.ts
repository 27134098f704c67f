import type { Partner } from './partner.js';
import { bfl } from './partners/bfl/bfl.js';
import { bytedance } from './partners/bytedance/bytedance.js';
import { elevenlabs } from './partners/elevenlabs/elevenlabs.js';
import { fal } from './partners/fal/fal.js';
import { google } from './partners/google/google.js';
import { ideogram } from './partners/ideogram/ideogram.js';
import { kling } from './partners/kling/kling.js';
import { ltx } from './partners/ltx/ltx.js';
import { luma } from './partners/luma/luma.js';
import { meshy } from './partners/meshy/meshy.js';
import { minimax } from './partners/minimax/minimax.js';
import { openai } from './partners/openai/openai.js';
import { pixverse } from './partners/pixverse/pixverse.js';
import { recraft } from './partners/recraft/recraft.js';
import { replicate } from './partners/replicate/replicate.js';
import { runway } from './partners/runway/runway.js';
import { stability } from './partners/stability/stability.js';
import { tripo } from './partners/tripo/tripo.js';
import { vidu } from './partners/vidu/vidu.js';
import { wan } from './partners/wan/wan.js';

/** Adding a partner is a folder under `partners/` and a line here. */
export const partners: readonly Partner[] = [
  bfl,
  bytedance,
  elevenlabs,
  fal,
  google,
  ideogram,
  kling,
  ltx,
  luma,
  meshy,
  minimax,
  openai,
  pixverse,
  recraft,
  replicate,
  runway,
  stability,
  tripo,
  vidu,
  wan,
];
