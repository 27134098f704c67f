// An agent with the official client: prints the answers of the tools of BASE_URL. Started by callers.spec.ts.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const { BASE_URL = '', API_KEY = '', VERSIONS = '' } = process.env;
const model = 'bfl/flux-2-pro';

const client = new Client(
  { name: 'agent', version: '1' },
  VERSIONS === '' ? {} : { supportedProtocolVersions: VERSIONS.split(',') },
);
await client.connect(
  new StreamableHTTPClientTransport(new URL('/mcp', BASE_URL), {
    requestInit: { headers: { 'x-api-key': API_KEY } },
  }),
);
const call = async (name, input) => {
  const { content, isError } = await client.callTool({ name, arguments: input });
  return { text: content[0].text, isError: isError === true };
};
const { tools } = await client.listTools();
const found = await call('find_models', {});
const described = await call('describe_model', { model });
const ran = await call('run_model', { model, input: { prompt: 'a red fox' } });
const refused = await call('run_model', { model, input: { prompt: 1 } });
const left = JSON.parse(
  (await call('run_model', { model, input: { prompt: '[[sim:takes=3000]]' }, wait_seconds: 0 })).text,
);
const cancelled = await call('cancel_run', { model, request_id: left.request_id });
const priced = await call('estimate_cost', { model, input: { prompt: 'a red fox' } });
const listed = await call('list_runs', { model, limit: 1 });
const uploaded = await call('upload_file', { data: 'aGVsbG8=', content_type: 'text/plain' });
const followed = await call('get_run', { model, request_id: left.request_id });
const answers = { found, described, priced, ran, refused, cancelled, followed, listed, uploaded };
process.stdout.write(
  JSON.stringify({
    instructions: client.getInstructions(),
    tools: tools.map(({ name }) => name),
    ...answers,
  }),
);
await client.close();
