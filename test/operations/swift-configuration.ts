import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const swiftUser = { account: 'test', user: 'tester', key: 'testing' };
export const swiftRegion = 'us-east-1';
/** Keys per page of a listing: few, so that a test needs few keys for several pages. */
export const swiftPage = 20;
export const storageServers = ['account', 'container', 'object'] as const;

type SwiftServer = (typeof storageServers)[number] | 'proxy';
export type SwiftPorts = Record<SwiftServer | 'memcached', number>;

/** In Python, because Python reads the rings: one device holds everything once. */
export const ringProgram = `
import sys
from swift.common.ring import RingBuilder
for name, port in zip(('account', 'container', 'object'), sys.argv[2:]):
    builder = RingBuilder(0, 1, 0)
    builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': int(port), 'device': 'disk', 'weight': 1.0})
    builder.rebalance()
    builder.get_ring().save('%s/%s.ring.gz' % (sys.argv[1], name))
`;

/** Swift reads its main file from /etc/swift before it learns where else to look. */
export const serverProgram = `
import sys
from swift.common import utils
utils.SWIFT_CONF_FILE = sys.argv[1] + '/swift.conf'
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi('%s/%s-server.conf' % (sys.argv[1], sys.argv[2]), sys.argv[2] + '-server'))
`;

export function writeConfiguration(folder: string, ports: SwiftPorts): void {
  mkdirSync(path.join(folder, 'disks', 'disk'), { recursive: true });
  const write = (name: string, sections: Record<string, Record<string, string | number>>) =>
    writeFileSync(path.join(folder, name), ini(sections));
  write('swift.conf', {
    'swift-hash': { swift_hash_path_prefix: 'test', swift_hash_path_suffix: 'test' },
    'storage-policy:0': { name: 'one', default: 'yes', policy_type: 'replication' },
  });
  const common = (server: SwiftServer) => ({
    bind_ip: '127.0.0.1',
    bind_port: ports[server],
    // No child processes, so that stopping the started process stops everything.
    workers: 0,
    user: 'root',
    swift_dir: folder,
    log_level: 'WARNING',
    // A slow server must not count as down: listings would lack stored objects, and the proxy would reject calls.
    conn_timeout: 20,
    node_timeout: 60,
    container_update_timeout: 60,
    error_suppression_limit: 10_000,
  });
  for (const server of storageServers) {
    write(`${server}-server.conf`, {
      DEFAULT: {
        ...common(server),
        devices: path.join(folder, 'disks'),
        mount_check: 'false',
        fallocate_reserve: 0,
        disable_fallocate: 'true',
      },
      'pipeline:main': { pipeline: `${server}-server` },
      [`app:${server}-server`]: { use: `egg:swift#${server}` },
    });
  }
  write('proxy-server.conf', { DEFAULT: common('proxy'), ...proxySections(ports) });
}

function proxySections(ports: SwiftPorts) {
  const filters = {
    catch_errors: {},
    gatekeeper: {},
    healthcheck: {},
    memcache: { memcache_servers: `127.0.0.1:${ports.memcached}` },
    listing_formats: {},
    s3api: {
      s3_acl: 'no',
      location: swiftRegion,
      check_bucket_owner: 'no',
      min_segment_size: 5_242_880,
      max_bucket_listing: swiftPage,
    },
    tempauth: { [`user_${swiftUser.account}_${swiftUser.user}`]: `${swiftUser.key} .admin` },
    copy: {},
    slo: {},
    dlo: {},
    proxy_logging: {},
  };
  return {
    'pipeline:main': { pipeline: [...Object.keys(filters), 'proxy-server'].join(' ') },
    'app:proxy-server': {
      use: 'egg:swift#proxy',
      allow_account_management: 'true',
      account_autocreate: 'true',
    },
    ...Object.fromEntries(
      Object.entries(filters).map(([name, settings]) => [
        `filter:${name}`,
        { use: `egg:swift#${name}`, ...settings },
      ]),
    ),
  };
}

const ini = (sections: Record<string, Record<string, string | number>>): string =>
  Object.entries(sections)
    .map(([name, settings]) =>
      [`[${name}]`, ...Object.entries(settings).map(([key, value]) => `${key} = ${value}`), ''].join('\n'),
    )
    .join('\n');
