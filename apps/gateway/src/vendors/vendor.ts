import type { Model } from '#catalog';
import type { Bucket } from '#errors';
import type { Type } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';

/** A service whose own clients call the router. */
export type AnyVendor = Vendor | HookVendor | ModuleVendor;

interface NamedVendor {
  /** Its name in `COMPAT_CLIENTS`. */
  name: string;
  /** Names what works, for the description of the setting. */
  serves: string;
}

/** A vendor whose clients call the router's own routes and need only hooks. */
export interface HookVendor extends NamedVendor {
  addHooks: (server: FastifyInstance) => void;
}

/** A vendor with a protocol of its own, in a module that serves it if `COMPAT_CLIENTS` lists it. */
export interface ModuleVendor extends NamedVendor {
  module: Type;
}

export interface VendorSettings {
  COMPAT_CLIENTS: readonly string[];
}

/**
 * A vendor with the router's own protocol: what differs from the other vendors. Its bodies are those of the provider's
 * rows, so nothing is translated.
 */
export interface Vendor extends NamedVendor {
  /** The path below which its clients call. */
  base: string;
  /** The provider whose rows its paths run. */
  provider: string;
  /** The name by which its clients know a row. */
  nameOf: (model: Model) => string;
  /** Where its clients send their key, if neither in `X-Api-Key` nor as `Authorization: Bearer`. */
  key?: { header: string; query: string } | { scheme: string };
  /** The header in which its clients expect the id of the call. */
  requestIdHeader?: string;
  /** The headers by which its clients pace themselves, about the runs that the workspace may begin in a minute. */
  paceHeaders?: (pace: Pace) => Record<string, string>;
  /** The media type of errors, if not `application/json`. */
  errorType?: string;
  routes: readonly VendorRoute[];
  errorBody: (failure: VendorFailure) => object;
  /** The members of an error that it keeps from a reply of its own provider. Undefined if the reply has another form. */
  ownError?: (reply: unknown) => OwnError | undefined;
  /** The body of `GET /models/{model}`; a name may have an owner: `/models/{owner}/{model}`. */
  entry: (model: ListedModel) => object;
  /** The body of `GET /models`, which lists everything on one page. */
  list: (models: readonly ListedModel[]) => object;
}

/** The runs that a workspace may begin in a minute and has left in this one, which ends at `resetsAt`. */
interface Pace {
  limit: number;
  left: number;
  resetsAt: Date;
  /** At least 1. */
  resetsInSeconds: number;
}

/** A path that runs models by POST. */
export interface VendorRoute {
  /** Below the base. The name of the model is `{model}` in the path, or else the member `model` of the body. */
  path: string;
  /** The provider whose rows it runs, if not that of the vendor. */
  provider?: string;
  /** Counts the tokens of an input instead of running the model. */
  countsTokens?: true;
  /** Whether the provider serves this row at this path. */
  serves: (model: Model) => boolean;
  /** The parameter that the query must have, because other values request another format. */
  alt?: 'sse';
  /** The body is multipart/form-data instead of JSON. */
  form?: VendorForm;
  /** The data of an error in a stream of events, if it differs from the body of an error. */
  errorEvent?: (failure: VendorFailure) => object;
}

/** The path that counts the tokens of an input of the models whose provider can. */
export const countingPath = (path: string): VendorRoute => ({
  path,
  countsTokens: true,
  serves: ({ tokenCount }) => tokenCount !== undefined,
});

export interface VendorForm {
  /** The members of the input that are files, alone or as a list such as `image[]`. */
  files: readonly string[];
  /** Maximum size of the whole form. */
  maxBytes: number;
}

/** A failed call, as the body of its answer describes it. */
export interface VendorFailure {
  status: number;
  bucket: Bucket;
  message: string;
  /** The invalid fields; empty unless the status is 422. */
  fields: readonly VendorField[];
  requestId: string;
  /** The members that the provider's own error replaces. */
  own?: object | undefined;
}

/** The error in a provider's reply, with its text. */
interface OwnError {
  message: string;
}

interface VendorField {
  /** Such as `messages.0.role`. */
  name: string;
  problem: string;
  /** The router's word for the kind of problem, such as `missing`. */
  type: string;
}

/** A model that the caller may run. */
export interface ListedModel {
  name: string;
  title: string;
  description: string;
  /** The paths that run it. */
  paths: readonly string[];
}

/** Catalog rows have no date of release; Anthropic's reference names this value for unknown ones. */
export const unknownDate = new Date(0);
