import { anthropic } from './anthropic.js';
import { comfy } from './comfy.js';
import { fal } from './fal/fal.js';
import { gemini } from './gemini.js';
import { openai } from './openai.js';
import { replicate } from './replicate/replicate.js';
import type { AnyVendor } from './vendor.js';

/** Each vendor is one file or folder that only this list imports. */
export const vendors: readonly AnyVendor[] = [comfy, fal, openai, anthropic, gemini, replicate];
