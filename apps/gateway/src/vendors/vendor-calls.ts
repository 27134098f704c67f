import { visibleProvider } from '#catalog';
import { InputRejection, RouterError } from '#errors';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { identifyCaller } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { Identification } from '../auth/identification.js';
import { parseInput, smallBytes } from '../bodies/parse-input.js';
import type { ModelSegments } from '../models/find-model.js';
import { fingerprintOfPath, RunInput } from '../runs/run-input.js';
import { SyncRuns } from '../runs/sync-runs.js';
import { MemberText } from './member-text.js';
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
    await this.runs.answerRun(await this.callOf(vendor, route, { request, reply, caller }));
    return reply;
  }

  /** The run of the row that the path or the body names, on the vendor's own server. */
  private async callOf(
    vendor: Vendor,
    route: VendorRoute,
    { request, reply, caller }: { request: FastifyRequest; reply: FastifyReply; caller: Caller },
  ): Promise<Call> {
    const member = new MemberText('model');
    const body = await this.input.readBody(
      { request, caller },
      (key) => {
        // The clients repeat a call by themselves if its connection breaks, mostly without a key.
        const hash = fingerprintOfPath(request.originalUrl);
        return key === undefined ? hash.update(`${caller.credential}\n`) : hash;
      },
      (chunk) => member.add(chunk),
    );
    const common = { request, reply, caller, body, alt: route.alt };
    try {
      const name = nameInPath(request) ?? member.text;
      if (name === undefined) throw unnamed(body.bytes);
      try {
        const { id } = this.models.find(caller, vendor, route, name);
        return { ...common, segments: segmentsOf(id), picked: visibleProvider(id) };
      } catch (refusal) {
        if (!(refusal instanceof RouterError)) throw refusal;
        const segments = segmentsOf(this.models.formerId(vendor, name));
        return { ...common, segments, picked: undefined, refusal };
      }
    } catch (error) {
      body.release();
      throw error;
    }
  }
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
