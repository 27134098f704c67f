import path from 'node:path';

const rootDir = path.join(import.meta.dirname, '..');

/** @type {import('jest').Config} */
const project = {
  rootDir,
  testEnvironment: 'node',
  testRunner: path.join(rootDir, 'test/runner/native-runner.mjs'),
  moduleFileExtensions: ['ts', 'js', 'mjs', 'json'],
  // Jest itself loads no module of ours. It follows imports only to find the tests of a changed file.
  transform: {},
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
};

/** Left to `npm run test:rest`. */
export const slowFiles = '\\.slow(\\.db)?\\.spec\\.ts$';

/** A project whose files need no service. */
export const units = (displayName, ...testMatch) => ({
  ...project,
  displayName,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  testPathIgnorePatterns: ['/node_modules/', slowFiles, '\\.db\\.spec\\.ts$'],
});

/** A project whose set-up starts the services once for all of its files. */
export const onServices = (displayName, setup, ...testMatch) => ({
  ...project,
  displayName,
  testMatch: testMatch.map((pattern) => `<rootDir>/${pattern}`),
  testPathIgnorePatterns: ['/node_modules/', slowFiles],
  globalSetup: path.join(rootDir, `test/harness/start-${setup}.mjs`),
  globalTeardown: path.join(rootDir, 'test/harness/stop.mjs'),
});

/** @type {(projects: object[], options?: import('jest').Config) => import('jest').Config} */
export const suite = (projects, options = {}) => ({
  rootDir,
  projects,
  // More than a machine of two cores has, because files wait for services and providers much of the time.
  maxWorkers: 3,
  workerIdleMemoryLimit: '1GB',
  // Only stops tests that hang; a test that promises speed measures it itself.
  testTimeout: 240_000,
  ...options,
});

/** For slow suites: prints a line for each file as it ends. Their files kill processes and measure times. */
export const slow = {
  reporters: [path.join(rootDir, 'test/reporter.mjs')],
  maxWorkers: 2,
  testTimeout: 400_000,
};
