import { call, parsed, type Request } from './calls.js';
import type { FileInput } from './models.js';
import type { Bucket } from './router-error.js';
import type { CallOptions, Session } from './session.js';
import { uploadedFile } from './uploads.js';
import type { Page, RunDetails, RunEntry, RunStatus, UploadedFile, Usage, UsageGrouping } from './wire.js';

/** Filters combine. Times are dates or ISO 8601 texts. */
export interface RequestsFilter extends CallOptions {
  model?: string;
  status?: RunStatus['status'];
  outcome?: 'succeeded' | 'failed' | 'cancelled';
  errorType?: Bucket;
  /** The id of the API key that admitted the run. */
  key?: string;
  /** `project=alpha` */
  tag?: string;
  /** Your end user. */
  user?: string;
  from?: Date | string;
  to?: Date | string;
}

export interface UsageOptions extends CallOptions {
  /** `day` by default. */
  groupBy?: UsageGrouping | readonly UsageGrouping[];
  /** Runs that ended at or after this time; by default 30 days before `to`. */
  from?: Date | string;
  /** Runs that ended before this time; by default now. */
  to?: Date | string;
}

type Query = Readonly<Record<string, string | Date | undefined>>;

/** Yields the entries of all pages. The time limit is that of one page. */
export async function* allPages<Entry>(
  session: Session,
  path: string,
  query: Query,
  options: CallOptions,
): AsyncGenerator<Entry> {
  let cursor: string | undefined;
  do {
    const url = path + queryOf({ ...query, limit: '100', cursor });
    const page = await requested<Page<Entry>>(session, { method: 'GET', url }, options);
    yield* page.data;
    cursor = page.has_more ? page.next_cursor : undefined;
  } while (cursor !== undefined);
}

/** The methods that concern the workspace instead of one run. */
export function accountMethods(session: Session) {
  const get = <Body>(url: string, options: CallOptions) =>
    requested<Body>(session, { method: 'GET', url }, options);
  return {
    /** The workspace's runs of every model and key. Needs the scope `requests`. */
    requests: {
      /** Yields the runs, newest first. */
      list({ errorType, key, model, outcome, status, tag, user, from, to, ...options }: RequestsFilter = {}) {
        const query = { error_type: errorType, key, model, outcome, status, tag, user, from, to };
        return allPages<RunEntry>(session, '/v2/requests', query, options);
      },
      /** Reads a run by its id, or by the `callId` of a call that belongs to it. */
      get: (id: string, options: CallOptions = {}) =>
        get<RunDetails>(`/v2/requests/${encodeURIComponent(id)}`, options),
    },

    /** Sums the workspace's runs and cost. Needs the scope `usage`. */
    usage({ groupBy, from, to, ...options }: UsageOptions = {}): Promise<Usage> {
      const group_by = groupBy === undefined ? undefined : [groupBy].flat().join(',');
      return get<Usage>(`/v2/usage${queryOf({ group_by, from, to })}`, options);
    },

    /** The workspace's uploaded files, each of which lasts 24 hours. */
    files: {
      /** Uploads a file; its `url` is for inputs. */
      upload: (file: FileInput, options: CallOptions = {}): Promise<UploadedFile> =>
        session.bounded(options, ({ connection, signal }) => uploadedFile(connection, file, signal)),
      /** Yields the files, newest first. Needs the scope `requests`. */
      list: (options: CallOptions = {}) => allPages<UploadedFile>(session, '/v2/files', {}, options),
      get: (id: string, options: CallOptions = {}) =>
        get<UploadedFile>(`/v2/files/${encodeURIComponent(id)}`, options),
      /** Deletes a file before it expires. */
      delete: (id: string, options: CallOptions = {}): Promise<void> =>
        session.bounded(options, async ({ connection, signal }) => {
          const url = `/v2/files/${encodeURIComponent(id)}`;
          await call(connection, { method: 'DELETE', url }, signal);
        }),
    },

    /** The secret for `verifyWebhook` and the handlers. Needs the scope `manage`. */
    webhookSecret: async (options: CallOptions = {}): Promise<string> =>
      (await get<{ secret: string }>('/v2/webhooks/secret', options)).secret,
  };
}

function requested<Body>(session: Session, request: Request, options: CallOptions): Promise<Body> {
  return session.bounded(
    options,
    async ({ connection, signal }) => parsed((await call(connection, request, signal)).bytes) as Body,
  );
}

function queryOf(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value instanceof Date ? value.toISOString() : value]],
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}
