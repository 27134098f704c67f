#!/usr/bin/env node
// Puts the node into a ComfyUI and tries it there: model-router-comfyui-node <folder of ComfyUI> [--run [model …]]
// PYTHON names the Python of that ComfyUI, if it is not python3. With BASE_URL and API_KEY the router is tried too, and
// with --run an image is made, and paid, by each of the models.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync } from 'node:fs';
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
console.log(`installed: ${target}`);

const selfTest = [path.join(source, 'self_test.py'), target, ...options];
const { status } = spawnSync(process.env.PYTHON ?? 'python3', selfTest, { stdio: 'inherit' });
process.exit(status ?? 1);
