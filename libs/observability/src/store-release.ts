// Part of `npm run build`: stores what an image cannot find out, because it has no git.
import { writeFileSync } from 'node:fs';
import { root, sourceFile } from './release.js';
import { sourceOf } from './release-source.js';

writeFileSync(sourceFile, `${JSON.stringify(sourceOf(root, process.env))}\n`);
