#!/usr/bin/env node
// Puts the node into a ComfyUI and tries it there: model-router-comfyui-node <folder of ComfyUI> [--run [model …]]
// PYTHON names the Python of that ComfyUI, if it is not python3. With BASE_URL and API_KEY the router is tried too, and
// with --run an image is made, and paid, by each of the models.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [folder, ...options] = process.argv.slice(2);
const nodes = folder && path.resolve(folder, 'custom_nodes');
if (!nodes || !existsSync(nodes)) {
  console.error(`Name the folder of a ComfyUI: ${nodes ?? 'the first argument'} does not exist.`);
  process.exit(2);
}

const source = fileURLToPath(new URL('.', import.meta.url));
const target = path.join(nodes, 'model-router');
// The package of the client holds the Python one too.
const client = fileURLToPath(new URL('../python/model_router', import.meta.resolve('model-router-client')));
cpSync(path.join(source, '__init__.py'), path.join(target, '__init__.py'));
cpSync(client, path.join(target, 'model_router'), { recursive: true });
// ComfyUI-Manager reads this list, too.
writeFileSync(path.join(target, 'requirements.txt'), 'httpx>=0.23\n');
console.log(`installed: ${target}`);

const python = process.env.PYTHON ?? 'python3';
if (spawnSync(python, ['-c', 'import httpx']).status !== 0) {
  const install = ['-m', 'pip', 'install', '--quiet', '--requirement', path.join(target, 'requirements.txt')];
  if (spawnSync(python, install, { stdio: 'inherit' }).status !== 0) process.exit(1);
}

const selfTest = [path.join(source, 'self_test.py'), target, ...options];
const { status } = spawnSync(python, selfTest, { stdio: 'inherit' });
process.exit(status ?? 1);
