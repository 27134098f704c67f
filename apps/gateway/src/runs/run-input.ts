import { LiveCatalog, type Model } from '#catalog';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { BodyChecker } from '../bodies/body-checker.js';
import { BodyReader } from '../bodies/body-reader.js';
import { runnableModel } from '../models/find-model.js';

/** A checked input; its bytes count against the budget for bodies until released. */
interface AcceptedInput {
  bytes: Buffer;
  /** The most the call can cost. */
  reservedMicros: number;
  release: () => void;
}

/** The first half of the one path in: find the model, then read and check the input. */
@Injectable()
export class RunInput {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly bodies: BodyReader,
    private readonly checker: BodyChecker,
  ) {}

  /** The model, if the caller may run it. */
  model(caller: Caller, provider: string, model: string): Model {
    return runnableModel(this.catalog.current, caller, `${provider}/${model}`);
  }

  /** Throws `InputRejection` for fields that the model does not accept. `seen` gets the body's chunks. */
  async accept(
    model: Model,
    request: FastifyRequest,
    seen?: (chunk: Buffer) => void,
  ): Promise<AcceptedInput> {
    const { bytes, release } = await this.bodies.read(request.raw, seen);
    try {
      return { ...(await this.checker.check(model, bytes)), release };
    } catch (error) {
      release();
      throw error;
    }
  }
}
