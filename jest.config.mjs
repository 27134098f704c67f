import { readFileSync } from 'node:fs';

const { $schema: _schema, ...swcrc } = JSON.parse(readFileSync(new URL('./.swcrc', import.meta.url), 'utf8'));

/** @type {import('jest').Config} */
const base = {
  rootDir: import.meta.dirname,
  testEnvironment: 'node',
  // Resolves package.json "imports" (#errors, …) to the TypeScript sources instead of dist.
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }],
    // ESM-only packages that CommonJS packages require(): Jest can do that only on Node 24.9 and newer.
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
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};

export default {
  projects: [
    {
      ...base,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apps,libs}/**/*.spec.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.db\\.spec\\.ts$'],
    },
    {
      ...base,
      displayName: 'database',
      testMatch: ['<rootDir>/libs/**/*.db.spec.ts'],
      globalSetup: '<rootDir>/test/harness/start.ts',
      globalTeardown: '<rootDir>/test/harness/stop.ts',
    },
    {
      ...base,
      displayName: 'system',
      testMatch: ['<rootDir>/test/**/*.spec.ts'],
      globalSetup: '<rootDir>/test/harness/start.ts',
      globalTeardown: '<rootDir>/test/harness/stop.ts',
    },
  ],
  maxWorkers: 2,
  workerIdleMemoryLimit: '512MB',
  // A bound for what hangs: what a case promises to be quick in, it measures itself.
  testTimeout: 240000,
};
