import { scopes } from '#schemas';
import { z } from 'zod';
import type { RunAdmin } from '../admin.js';
import { StartFailure } from '../start-failure.js';
import { readJsonFile, writeJsonFile } from '../json-file.js';

const schema = z.object({
  workspace: z.string(),
  api_key: z.string(),
  access_token: z.string(),
  access_token_expires_at: z.iso.datetime(),
});

/** Credentials of the demo workspace. A key is shown only when it is made, so the launcher keeps it. */
export type Demo = z.infer<typeof schema>;

const workspace = 'demo';
const credits = '10000';
const tokenLifeS = 30 * 24 * 3600;
/** A token that ends sooner is replaced at start. */
const minTokenLifeMs = 24 * 3600 * 1000;

interface FoundDemo {
  demo: Demo;
  kept: boolean;
}

export async function demoWorkspace(file: string, admin: RunAdmin): Promise<FoundDemo> {
  const kept = readJsonFile(file, schema);
  if (!kept) return { demo: await makeDemo(file, admin), kept: false };
  if (Date.parse(kept.access_token_expires_at) - Date.now() > minTokenLifeMs)
    return { demo: kept, kept: true };
  const demo = { ...kept, ...(await makeToken(admin)) };
  writeJsonFile(file, demo);
  return { demo, kept: true };
}

/** For the first start, and for credentials that the database or a changed secret no longer accepts. */
export async function makeDemo(file: string, admin: RunAdmin): Promise<Demo> {
  await makeWorkspace(admin);
  // For everything that there is to try.
  const all = ['--scopes', scopes.join(',')];
  const [{ key }, token] = await Promise.all([
    admin('key', 'create', '--workspace', workspace, '--name', 'local demo', ...all),
    makeToken(admin),
  ]);
  const demo = schema.parse({ workspace, api_key: key, ...token });
  writeJsonFile(file, demo);
  return demo;
}

/** It is there already when its credentials were lost, or the secret that signs tokens was changed. */
async function makeWorkspace(admin: RunAdmin): Promise<void> {
  await admin('workspace', 'create', workspace, '--credits-cents', credits).catch((error: unknown) => {
    if (!/already a workspace/.test(String(error))) throw error;
  });
}

async function makeToken(admin: RunAdmin) {
  const made = await admin('token', 'create', '--workspace', workspace, '--ttl-seconds', `${tokenLifeS}`);
  const { token, expires_at } = z.object({ token: z.string(), expires_at: z.string() }).parse(made);
  return { access_token: token, access_token_expires_at: expires_at };
}

/** Whether the gateway takes both credentials; throws on any other answer than a yes or a no. */
export async function accepts(baseUrl: string, demo: Demo): Promise<boolean> {
  // The v2 routes take both kinds of credential.
  const url = `${baseUrl}/v2/models?limit=1`;
  const credentials: Record<string, string>[] = [
    { 'X-API-Key': demo.api_key },
    { Authorization: `Bearer ${demo.access_token}` },
  ];
  for (const headers of credentials) {
    const reply = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
    await reply.body?.cancel();
    if (reply.status === 401) return false;
    if (reply.status !== 200) throw new StartFailure(`The gateway answers ${reply.status} to GET ${url}`);
  }
  return true;
}

/** Opens the console signed in, once; the key itself is in no address. One person here is caller and operator. */
export async function signInLink(baseUrl: string, admin: RunAdmin): Promise<string> {
  const all = ['--scopes', scopes.join(',')];
  const made = await admin('key', 'sign-in', '--workspace', workspace, '--url', baseUrl, ...all);
  return z.object({ url: z.string() }).parse(made).url;
}
