import { hosts } from './hosts.js';
import { routers } from './routers.js';

export const publicServers = [...hosts, ...routers];
