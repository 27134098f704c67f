import {
  type DocumentFrame,
  type Generation,
  type Model,
  type ModelDocument,
  openApiDocument,
} from '#catalog';
import { Inject, Injectable } from '@nestjs/common';
import { SERVICE_DOCUMENT, type ServiceDocument } from '../openapi/service-document.js';
import { documentFrame } from './document-frame.js';

/** The OpenAPI documents of models. */
@Injectable()
export class ModelDocuments {
  private readonly frames: Record<Generation, DocumentFrame>;

  constructor(@Inject(SERVICE_DOCUMENT) document: ServiceDocument) {
    this.frames = { v1: documentFrame(document, 'v1'), v2: documentFrame(document, 'v2') };
  }

  of(model: Model, generation: Generation): ModelDocument {
    return openApiDocument(model, generation, this.frames[generation]);
  }
}
