#!/usr/bin/env node
// Puts the node into a ComfyUI and tries it there: model-router-comfyui-node <folder of ComfyUI> [--run [model …]]
// BASE_URL is that of the router, which serves the Python client of its own release. PYTHON names the Python of that ComfyUI,
// if it is not python3. With API_KEY the router is tried too, and with --run an image is made, and paid, by each of the models.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [folder, ...options] = process.argv.slice(2);
const nodes = folder && path.resolve(folder, 'custom_nodes');
if (!nodes || !existsSync(nodes)) {
  console.error(`Name the folder of a ComfyUI: ${nodes ?? 'the first argument'} does not exist.`);
  process.exit(2);
}

const { BASE_URL: baseUrl, PYTHON: python = 'python3' } = process.env;
if (!baseUrl) {
  console.error('Give BASE_URL: the node gets the Python client from the router.');
  process.exit(2);
}

const source = fileURLToPath(new URL('.', import.meta.url));
const target = path.join(nodes, 'model-router');
cpSync(path.join(source, '__init__.py'), path.join(target, '__init__.py'));
await unpackClient();
// ComfyUI-Manager reads this list, too.
writeFileSync(path.join(target, 'requirements.txt'), 'httpx>=0.23\n');
console.log(`installed: ${target}`);

if (spawnSync(python, ['-c', 'import httpx']).status !== 0) {
  const install = ['-m', 'pip', 'install', '--quiet', '--requirement', path.join(target, 'requirements.txt')];
  if (spawnSync(python, install, { stdio: 'inherit' }).status !== 0) process.exit(1);
}

const selfTest = [path.join(source, 'self_test.py'), target, ...options];
const { status } = spawnSync(python, selfTest, { stdio: 'inherit' });
process.exit(status ?? 1);

/** A wheel is a ZIP archive, which every Python can unpack, also one without pip. */
async function unpackClient() {
  const list = await download(new URL('/clients', baseUrl));
  const [, link] = /href="([^"#]+\.whl)/.exec(String(list)) ?? [];
  if (!link) throw new Error(`${baseUrl}/clients lists no wheel`);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-client-'));
  try {
    const wheel = path.join(folder, 'client.whl');
    writeFileSync(wheel, await download(new URL(link, new URL('/', baseUrl))));
    const { status } = spawnSync(python, ['-m', 'zipfile', '-e', wheel, target], { stdio: 'inherit' });
    if (status !== 0) process.exit(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function download(url) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
