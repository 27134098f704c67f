import {
  ApiKeyRepository,
  type Database,
  NodeRepository,
  UnknownWorkspace,
  Workspace,
  WorkspaceRepository,
} from '#persistence';
import {
  accessTokenAlgorithm,
  type accessTokenClaims,
  accessTokenSettings,
  callerScopes,
  microsFromCents,
  readSettings,
  scopes,
  signInUrl,
} from '#schemas';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { demoNodes } from './demo-nodes.js';
import { readJsonFile, writeJsonFile } from './json-file.js';
import { StartFailure } from './start-failure.js';

const schema = z.object({
  workspace: z.string(),
  api_key: z.string(),
  access_token: z.string(),
  access_token_expires_at: z.iso.datetime(),
});

/** Credentials of the demo workspace. A key is shown only when it is created, so the launcher keeps it. */
type Demo = z.infer<typeof schema>;

const name = 'demo';
/** The launcher's name in the audit log of operators' changes. */
const actor = 'npm start';
const creditsCents = 10_000;
const dayMs = 24 * 3600 * 1000;

/** Creates the demo workspace and demo nodes, for a user who is both caller and operator. */
export class DemoData {
  private readonly keys: ApiKeyRepository;

  constructor(
    private readonly database: Database,
    /** The file that holds the credentials. */
    private readonly file: string,
    /** The environment of the apps. */
    private readonly env: NodeJS.ProcessEnv,
  ) {
    this.keys = new ApiKeyRepository(database);
  }

  /** Returns the kept credentials or creates new ones. A token that expires within a day is replaced. */
  async credentials(): Promise<{ demo: Demo; kept: boolean }> {
    const kept = readJsonFile(this.file, schema);
    if (!kept) return { demo: await this.make(), kept: false };
    if (Date.parse(kept.access_token_expires_at) > Date.now() + dayMs) return { demo: kept, kept: true };
    return { demo: await this.save(kept.api_key, (await this.workspace()).id), kept: true };
  }

  /** Creates credentials, on the first start or if the kept ones are no longer accepted. */
  async make(): Promise<Demo> {
    const { id } = await this.workspace();
    const facts = { name: 'local demo', scopes: [...scopes], expiresAt: null };
    return this.save((await this.keys.create(id, facts, { actor })).key, id);
  }

  /** A one-time link that signs in to the console without exposing the key. */
  async signInLink(baseUrl: string): Promise<string> {
    const { code } = await this.keys.createCode((await this.workspace()).id, [...scopes], { actor });
    return signInUrl(baseUrl, code);
  }

  /** Creates the demo nodes only with the workspace, so that later starts keep the user's changes. */
  private async workspace(): Promise<Workspace> {
    const dataSource = await this.database.dataSource();
    const workspaces = new WorkspaceRepository(this.database);
    return workspaces.find(name).catch(async (error: unknown) => {
      if (!(error instanceof UnknownWorkspace)) throw error;
      await new NodeRepository(dataSource).put(demoNodes());
      return workspaces.open(name, {}, microsFromCents(creditsCents), actor);
    });
  }

  private async save(apiKey: string, workspaceId: string): Promise<Demo> {
    const {
      JWT_ISSUER,
      JWT_AUDIENCE,
      JWT_SECRET: [secret],
    } = readSettings(accessTokenSettings, this.env);
    const expiresAt = new Date(Date.now() + 30 * dayMs);
    const claims = {
      workspace: workspaceId,
      scope: callerScopes.join(' '),
      sub: name,
    } satisfies z.input<typeof accessTokenClaims>;
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: accessTokenAlgorithm, typ: 'JWT' })
      .setIssuer(JWT_ISSUER)
      .setAudience(JWT_AUDIENCE)
      .setIssuedAt()
      .setExpirationTime(expiresAt)
      .sign(new TextEncoder().encode(secret));
    const demo = {
      workspace: name,
      api_key: apiKey,
      access_token: token,
      access_token_expires_at: expiresAt.toISOString(),
    };
    writeJsonFile(this.file, demo);
    return demo;
  }
}

/** Whether the gateway accepts both credentials. Throws if it answers with anything but 200 or 401. */
export async function accepts(baseUrl: string, demo: Demo): Promise<boolean> {
  // The v2 routes accept both kinds of credentials.
  const url = `${baseUrl}/v2/models?limit=1`;
  const credentials: Record<string, string>[] = [
    { 'X-API-Key': demo.api_key },
    { Authorization: `Bearer ${demo.access_token}` },
  ];
  for (const headers of credentials) {
    const reply = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) });
    await reply.body?.cancel();
    if (reply.status === 401) return false;
    if (reply.status !== 200) throw new StartFailure(`The gateway answered ${reply.status} to GET ${url}`);
  }
  return true;
}
