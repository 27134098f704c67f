import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { release } from '#observability';
import { inputOf } from './arguments.js';
import { registerCatalogTools } from './catalog-tools.js';
import { registerFileTool } from './file-tool.js';
import type { OwnRoutes } from './own-routes.js';
import { registerRunTools, type Terms } from './run-tools.js';

const instructions =
  'Runs generative models from many providers. Find a model by its task, describe it, then run it. A run that does not finish within the wait keeps running: follow it with get_run. Each run costs money, so do not repeat a run that is still in progress. URLs in results work for 24 hours.';

/** Answers one message. */
export const mcpHandler = (...parts: Parameters<typeof mcpServer>) =>
  createMcpHandler(() => mcpServer(...parts));

/**
 * A server for one request, whose tools call the gateway's own routes. `input` is the input of a run or the bytes of a
 * file as raw JSON, as on any other route, because parsing loses digits of a 64-bit seed.
 */
function mcpServer(routes: OwnRoutes, input: Buffer | undefined, terms: Terms): McpServer {
  const identity = { name: 'model-router', title: 'Model router', version: release.version };
  const server = new McpServer(identity, { instructions });
  registerCatalogTools(server, routes, inputOf(input));
  registerRunTools(server, routes, inputOf(input), terms);
  registerFileTool(server, routes, input);
  return server;
}
