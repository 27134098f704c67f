import { RouterError } from '#errors';
import { RefundRepository, refundRefusals } from '#persistence';
import { centsFromMicros, type OperatorRefund, operatorRefund, operatorRefundInput } from '#schemas';
import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Access, Calling } from '../auth/caller.guard.js';
import type { Caller } from '../auth/caller.js';
import { BodyReader } from '../bodies/body-reader.js';
import { answer, ApiRoute, failure, json } from '../http/api-route.js';

@Controller('v2/operator/runs')
export class OperatorRefundsController {
  constructor(
    private readonly refunds: RefundRepository,
    private readonly bodies: BodyReader,
  ) {}

  @Post(':request_id/refund')
  @HttpCode(200)
  @Access({ scope: 'operate' })
  @ApiRoute({
    name: 'OperatorRefundRun',
    area: 'Operator',
    summary: 'Return what a run was billed to the credits of its workspace',
    description:
      'A run is refunded at most once, also by concurrent calls. Works for as long as its records are kept. The ledger entry names the run, and the caller is recorded.',
    body: operatorRefundInput,
    answers: [
      answer(200, 'The run is refunded.', json(operatorRefund)),
      failure(400, ['invalid_input'], 'The body is malformed.'),
      failure(404, ['invalid_input'], 'There is no such run, or its records have expired.'),
      failure(
        409,
        ['invalid_input'],
        'The run has not ended, was not billed or was already refunded, or its workspace is deleted.',
      ),
    ],
  })
  async refund(
    @Calling() { workspaceId, credential }: Caller,
    @Param('request_id') runId: string,
    @Req() request: FastifyRequest,
  ): Promise<OperatorRefund> {
    const { note = 'refund' } = await this.bodies.readObject(request.raw, workspaceId, operatorRefundInput);
    const refund = await this.refunds.refund(runId, note, credential);
    if (refund.kind === 'refused')
      throw new RouterError('invalid_input', refundRefusals[refund.reason], {
        status: refund.reason === 'unknown' ? 404 : 409,
      });
    return {
      request_id: runId.toLowerCase(),
      workspace: { id: refund.workspaceId, name: refund.workspace },
      model: refund.model,
      refunded_cents: centsFromMicros(refund.amountMicros),
      credits_cents: refund.balanceMicros === null ? null : centsFromMicros(refund.balanceMicros),
    };
  }
}
