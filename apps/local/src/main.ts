import { replyTo } from './arguments.js';
import { launch } from './launcher.js';

const reply = replyTo(process.argv.slice(2));
if (reply === null) process.exit(await launch(process.env));
(reply.code === 0 ? process.stdout : process.stderr).write(reply.text);
process.exitCode = reply.code;
