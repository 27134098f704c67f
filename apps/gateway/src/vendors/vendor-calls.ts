import type { Model } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import { replaceStrings } from '#schemas';
import { Injectable } from '@nestjs/common';
import type { AdmissionWindow } from '#persistence';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { runIdOf } from '../answers/run-of-call.js';
import { nameSubmission } from '../answers/submissions.js';
import { identifyCaller } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { Identification } from '../auth/identification.js';
import { exposeToPages } from '../http/cors.js';
import { parseInput, smallBytes } from '../bodies/parse-input.js';
import { RunInput } from '../runs/run-input.js';
import { SyncRuns } from '../runs/sync-runs.js';
import { callFingerprint } from './call-fingerprint.js';
import { scannedMembers } from './scanned-members.js';
import type { VendorPath } from './serve-vendor.js';
import { VendorForms } from './vendor-forms.js';
import { VendorLists } from './vendor-lists.js';
import { nameInPath, upstreamName, VendorModels } from './vendor-models.js';
import type { Vendor, VendorRoute } from './vendor.js';

/** Clients of vendors repeat a refused call themselves. */
const patienceMs = 15_000;

type Call = Parameters<SyncRuns['answerRun']>[0];

/** Answers the calls of vendors' clients. */
@Injectable()
export class VendorCalls {
  constructor(
    private readonly identification: Identification,
    private readonly input: RunInput,
    private readonly runs: SyncRuns,
    private readonly models: VendorModels,
    private readonly forms: VendorForms,
    private readonly lists: VendorLists,
  ) {}

  pathsOf(vendor: Vendor): VendorPath[] {
    return [
      ...this.lists.pathsOf(vendor),
      ...vendor.routes.map((route): VendorPath => ({
        method: 'POST',
        path: route.path,
        errorEvent: route.errorEvent,
        answer: (request, reply) => this.run(vendor, route, request, reply),
      })),
    ];
  }

  /** Returns the reply, for which the framework waits; without it, it would send an empty body before a stream begins. */
  private async run(
    vendor: Vendor,
    route: VendorRoute,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const caller = await identifyCaller(this.identification, request, 'run');
    nameSubmission(reply);
    const { alt } = request.query as { alt?: unknown };
    if (route.alt !== undefined && alt !== route.alt)
      throw new RouterError(
        'invalid_input',
        'Add alt=sse to the query: the router streams only as server-sent events.',
      );
    const form = route.form && (await this.forms.takeForm(route.form, request, caller));
    try {
      const read = form ?? (await this.readJson(request, caller));
      const call = this.callOf(vendor, route, { request, reply, caller, read });
      // A call that is refused before its admission does not give back the budget of its body.
      await this.runs.answerRun(call).finally(call.body?.release);
    } finally {
      const isNewRun = runIdOf(reply) !== undefined && !reply.hasHeader('idempotent-replayed');
      if (!isNewRun) await form?.discard();
    }
    return reply;
  }

  private async readJson(request: FastifyRequest, caller: Caller): Promise<ReadCall> {
    const { members, seen } = scannedMembers(['model']);
    const body = await this.input.readBody(
      { request, caller },
      (key) => callFingerprint(request, caller, key),
      seen,
    );
    const name = members.textOf('model', body.bytes);
    const place = members.placeOf('model');
    const bodyFor = (row?: Model) => {
      const upstream = row && upstreamName(row, name);
      return place === undefined || upstream === undefined
        ? body
        : { ...body, bytes: replaceStrings(body.bytes, [{ ...place, text: upstream }]) };
    };
    return { name, bodyFor };
  }

  /** The run of the row that the path or the body names, on the vendor's own server. */
  private callOf(
    vendor: Vendor,
    route: VendorRoute,
    { read, ...call }: Pick<Call, 'request' | 'reply' | 'caller'> & { read: ReadCall },
  ): Call {
    const onWindow = (window: AdmissionWindow) => nameWindow(call.reply, vendor, window);
    const { alt, countsTokens } = route;
    const common = { ...call, alt, countsTokens, patienceMs, onWindow };
    try {
      const name = nameInPath(call.request) ?? read.name;
      if (name === undefined) throw unnamed(read.bodyFor().bytes);
      const { row, ...target } = this.models.targetOf(call.caller, vendor, route, name);
      return { ...common, body: read.bodyFor(row), ...target };
    } catch (error) {
      read.bodyFor().release();
      throw error;
    }
  }
}

function nameWindow(
  reply: FastifyReply,
  { paceHeaders }: Vendor,
  { windowLimit: limit, windowLeft: left, windowEndsInMs }: AdmissionWindow,
): void {
  const resetsInSeconds = Math.max(1, Math.ceil(windowEndsInMs / 1000));
  const resetsAt = new Date(Date.now() + resetsInSeconds * 1000);
  const headers = paceHeaders?.({ limit, left, resetsAt, resetsInSeconds });
  if (headers === undefined) return;
  void reply.headers(headers);
  exposeToPages(reply, Object.keys(headers).join(', '));
}

/** A call that was read: the name of its model, and its body, which may depend on the row. */
interface ReadCall {
  name: string | undefined;
  bodyFor: (row?: Model) => NonNullable<Call['body']>;
}

/** The error of a body that names no model. Throws if the body is not a JSON object. */
function unnamed(bytes: Buffer): InputRejection {
  const loc = ['body', 'model'];
  return bytes.length <= smallBytes && Object.hasOwn(parseInput(bytes).body, 'model')
    ? new InputRejection([{ loc, msg: 'Input should be a valid string', type: 'string_type' }])
    : new InputRejection([{ loc, msg: 'Field required', type: 'missing' }]);
}
