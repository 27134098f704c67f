import { readFileSync } from 'node:fs';
import path from 'node:path';

const rootDir = path.join(import.meta.dirname, '..');
const { $schema: _schema, ...swcrc } = JSON.parse(readFileSync(path.join(rootDir, '.swcrc'), 'utf8'));

/** @type {import('jest').Config} */
const project = {
  rootDir,
  testEnvironment: 'node',
  // Resolves package.json "imports" (#errors, …) to the TypeScript sources instead of dist.
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }],
    // ESM-only packages that CommonJS packages require(), which Jest supports only from Node 24.9.
    '/node_modules/(cookie|content-disposition)/.+\\.js$': [
      '@swc/jest',
      {
        swcrc: false,
        module: { type: 'commonjs' },
        jsc: { target: 'es2023', parser: { syntax: 'ecmascript' } },
      },
    ],
  },
  transformIgnorePatterns: ['/node_modules/(?!(cookie|content-disposition)/)'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Under the condition "source" these packages export TypeScript, which is not compiled in node_modules.
    '^(eventsource|eventsource-parser)$': '<rootDir>/node_modules/$1/dist/index.js',
    '^(eventsource-parser)/stream$': '<rootDir>/node_modules/$1/dist/stream.js',
  },
};

/** A project whose files need no service. */
export const units = (displayName, ...testMatch) => ({
  ...project,
  displayName,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  testPathIgnorePatterns: ['/node_modules/', '\\.db\\.spec\\.ts$'],
});

/** A project whose set-up starts the services once for all of its files. */
export const onServices = (displayName, setup, ...testMatch) => ({
  ...project,
  displayName,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  globalSetup: path.join(rootDir, `test/harness/start-${setup}.mjs`),
  globalTeardown: path.join(rootDir, 'test/harness/stop.mjs'),
});

/** @type {(projects: object[], options?: import('jest').Config) => import('jest').Config} */
export const suite = (projects, options = {}) => ({
  rootDir,
  projects,
  ...options,
  maxWorkers: 2,
  workerIdleMemoryLimit: '512MB',
  // Only stops tests that hang; a test that promises speed measures it itself.
  testTimeout: 240_000,
});

/** For slow suites: prints a line for each file as it ends. */
export const lineByFile = { reporters: [path.join(rootDir, 'test/reporter.mjs')] };
