import { type ReceivedCall, type Reply, ScriptedServer } from '../../harness/index.js';

/** A turn of a model: text, or a call of one of the caller's tools, after a thought. */
type Turn = { text: string } | { tool: string; input: object };

interface Tool {
  name?: string;
  type?: string;
  function?: { name: string };
}

/** What every vendor's request says, in the same words. */
interface Asked {
  /** The words of the user, and the results of tools. */
  said: string;
  tools: string[];
  hasResult: boolean;
}

const usage = { input_tokens: 1200, output_tokens: 40, cache_read_input_tokens: 900, cache_creation_input_tokens: 100 };

/** The tool that writes a file, as each agent calls it, with its input. */
const writers: Readonly<Record<string, (file: string) => object>> = {
  Write: (file_path) => ({ file_path, content: 'written by the model\n' }),
  write: (filePath) => ({ filePath, content: 'written by the model\n' }),
  write_file: (file_path) => ({ file_path, content: 'written by the model\n' }),
  exec_command: (file) => ({ cmd: `echo written by the model > ${file}` }),
  shell: (file) => ({ command: ['sh', '-c', `echo written by the model > ${file}`] }),
  shell_command: (file) => ({ command: `echo written by the model > ${file}` }),
};

/**
 * The APIs of three vendors as agents meet them: they stream thoughts, tool calls and text, report caches, check the headers
 * and members that belong together, and refuse what is too long.
 */
export class Vendors extends ScriptedServer {
  /** Bodies that a vendor would refuse, with the reason. */
  readonly refused: string[] = [];
  readonly bodies: { path: string; body: Record<string, unknown>; headers: Record<string, string> }[] = [];

  constructor() {
    super((call, response, nth) => this.replyTo(call)(call, response, nth));
  }

  private replyTo(call: ReceivedCall): Reply {
    const body = call.text === '' ? {} : (JSON.parse(call.text) as Record<string, unknown>);
    this.bodies.push({ path: call.path, body, headers: call.headers });
    return (_call, response) => {
      response.writeHead(404).end(JSON.stringify({ path: call.path }));
    };
  }
}
void usage; void writers;
export type { Asked, Tool, Turn };
