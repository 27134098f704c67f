import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import picomatch from 'picomatch';
import config from '../jest.config.mjs';
import { slowFiles } from './jest.base.mjs';

// Files that need only one transport run on the other one here.
process.env.TEST_REST = '1';

const isOfRest = (file) =>
  new RegExp(slowFiles).test(file) || readFileSync(file, 'utf8').includes('(eitherTransport())');

const files = ['apps', 'libs', 'test'].flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => path.join(folder, name))
    .filter((file) => file.endsWith('.spec.ts') && !file.includes('node_modules') && isOfRest(file)),
);

/** The part of `npm run test:all` that `npm test` leaves out. */
const projects = config.projects
  .map(({ testMatch, ...project }) => {
    const patterns = testMatch.map((pattern) => pattern.replace('<rootDir>/', ''));
    const own = files.filter(picomatch(patterns)).map((file) => `<rootDir>/${file}`);
    return { ...project, testMatch: own, testPathIgnorePatterns: ['/node_modules/'] };
  })
  .filter(({ testMatch }) => testMatch.length > 0);

export default { ...config, projects };
