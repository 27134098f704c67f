import { launch } from './launcher.js';

process.exit(await launch(process.env));
