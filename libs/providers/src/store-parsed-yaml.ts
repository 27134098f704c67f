import { storeParsedYaml } from './parsed-yaml.js';

storeParsedYaml();
