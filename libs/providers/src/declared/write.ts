import { writeDeclarations } from './built-in.js';

writeDeclarations();
