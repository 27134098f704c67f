import { anthropic } from './anthropic.js';
import { gemini } from './gemini.js';
import { openai } from './openai.js';
import type { Vendor } from './vendor.js';

/** Each vendor is one file that only this list imports. */
export const vendors: readonly Vendor[] = [openai, anthropic, gemini];
