import { type Model, visibleProvider } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { runIdOf } from '../answers/run-of-call.js';
import { identifyCaller } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { Identification } from '../auth/identification.js';
import { parseInput, smallBytes } from '../bodies/parse-input.js';
import type { ModelSegments } from '../models/find-model.js';
import { fingerprintOfPath, RunInput } from '../runs/run-input.js';
import { SyncRuns } from '../runs/sync-runs.js';
import { MemberText } from './member-text.js';
import { VendorForms } from './vendor-forms.js';
import { VendorModels } from './vendor-models.js';
import type { Vendor, VendorRoute } from './vendor.js';

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
  ) {}

  async list(vendor: Vendor, request: FastifyRequest): Promise<object> {
    const caller = await identifyCaller(this.identification, request, 'catalog');
    return vendor.list(this.models.list(caller, vendor));
  }

  async entry(vendor: Vendor, request: FastifyRequest): Promise<object> {
    const caller = await identifyCaller(this.identification, request, 'catalog');
    return vendor.entry(this.models.listedModel(caller, vendor, nameInPath(request) ?? ''));
  }

  /** Returns the reply, for which the framework waits; without it, it would send an empty body before a stream begins. */
  async run(
    vendor: Vendor,
    route: VendorRoute,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const caller = await identifyCaller(this.identification, request, 'run');
    const { alt } = request.query as { alt?: unknown };
    if (route.alt !== undefined && alt !== route.alt)
      throw new RouterError(
        'invalid_input',
        'Add alt=sse to the query: the router streams only as server-sent events.',
      );
    const form = route.form && (await this.forms.takeForm(route.form, request, caller));
    try {
      const read = form ?? (await this.readJson(request, caller));
      await this.runs.answerRun(this.callOf(vendor, route, { request, reply, caller, read }));
    } finally {
      const isNewRun = runIdOf(reply) !== undefined && !reply.hasHeader('idempotent-replayed');
      if (!isNewRun) await form?.discard();
    }
    return reply;
  }

  private async readJson(request: FastifyRequest, caller: Caller): Promise<ReadCall> {
    const member = new MemberText('model');
    const body = await this.input.readBody(
      { request, caller },
      () => fingerprintOfPath(request.originalUrl),
      (chunk) => member.add(chunk),
    );
    return { name: member.text, bodyFor: () => body };
  }

  /** The run of the row that the path or the body names, on the vendor's own server. */
  private callOf(
    vendor: Vendor,
    route: VendorRoute,
    { read, ...call }: Pick<Call, 'request' | 'reply' | 'caller'> & { read: ReadCall },
  ): Call {
    const common = { ...call, alt: route.alt };
    try {
      const name = nameInPath(call.request) ?? read.name;
      if (name === undefined) throw unnamed(read.bodyFor().bytes);
      try {
        const row = this.models.find(call.caller, vendor, route, name);
        return {
          ...common,
          body: read.bodyFor(row),
          segments: segmentsOf(row.id),
          picked: visibleProvider(row.id),
        };
      } catch (refusal) {
        if (!(refusal instanceof RouterError)) throw refusal;
        const segments = segmentsOf(this.models.formerId(vendor, route, name));
        return { ...common, body: read.bodyFor(), segments, picked: undefined, refusal };
      }
    } catch (error) {
      read.bodyFor().release();
      throw error;
    }
  }
}

/** A call that was read: the name of its model, and its body, which may depend on the row. */
interface ReadCall {
  name: string | undefined;
  bodyFor: (row?: Model) => NonNullable<Call['body']>;
}

const nameInPath = ({ params }: FastifyRequest): string | undefined => (params as { model?: string }).model;

function segmentsOf(id: string): ModelSegments {
  const provider = visibleProvider(id);
  return { provider, model: id.slice(provider.length + 1) };
}

/** The error of a body that names no model. Throws if the body is not a JSON object. */
function unnamed(bytes: Buffer): InputRejection {
  const loc = ['body', 'model'];
  return bytes.length <= smallBytes && Object.hasOwn(parseInput(bytes).body, 'model')
    ? new InputRejection([{ loc, msg: 'Input should be a valid string', type: 'string_type' }])
    : new InputRejection([{ loc, msg: 'Field required', type: 'missing' }]);
}
