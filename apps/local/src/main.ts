import { launch } from './launcher.js';

const usage = `npm start: runs model-router and everything it needs on this machine until Ctrl-C.

It takes no arguments besides --help and --version. Settings are environment variables, for example:

  PORT                 port of the gateway (default: 8080)
  LOCAL_DIR            folder for data, logs and credentials (default: .local)
  PROVIDER_<NAME>_KEY  key of a real provider, such as PROVIDER_BFL_KEY; providers without a key are simulated

docs/configuration.md lists all settings.
`;

const given = process.argv.slice(2).join(' ');
if (given === '') process.exit(await launch(process.env));
else if (given === '--version') {
  const { releaseText } = await import('#observability');
  process.stdout.write(`${releaseText}\n`);
} else if (given === '--help' || given === '-h') process.stdout.write(usage);
else {
  process.stderr.write('model-router: npm start takes no arguments; see npm start -- --help\n');
  process.exitCode = 2;
}
