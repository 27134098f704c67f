import { launch } from './launcher.js';

const usage = `npm start: everything that model-router needs, on this machine, until Ctrl-C.

It takes no arguments. Settings are variables of the environment, among them:

  PORT                 port of the gateway; 8080 unless it is given
  LOCAL_DIR            folder of data, logs and credentials; .local unless it is given
  PROVIDER_<NAME>_KEY  key of a real provider, such as PROVIDER_BFL_KEY; without one it is simulated

docs/configuration.md has all of them.
`;

const given = process.argv.slice(2).join(' ');
if (given === '') process.exit(await launch(process.env));
if (given === '--help' || given === '-h') process.stdout.write(usage);
else {
  process.stderr.write('model-router: npm start takes no arguments; see npm start -- --help\n');
  process.exitCode = 2;
}
