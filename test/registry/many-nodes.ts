import { NodeRepository } from '#persistence';
import type { DataSource } from 'typeorm';

/** Fills an empty registry with generated nodes and versions, and analyses the tables as a large import does. */
export async function fillRegistry(dataSource: DataSource, nodes: number, versions: number): Promise<void> {
  await dataSource.query(
    `INSERT INTO publisher (id, name, status, created_at)
      SELECT 'publisher-' || n, 'Publisher ' || n, 'PublisherStatusActive', '2023-01-01'
      FROM generate_series(0, $1::integer / 20) AS n`,
    [nodes],
  );
  await dataSource.query(
    `INSERT INTO publisher_member (publisher_id, place, role, user_name)
      SELECT id, place, 'owner', 'A User' FROM publisher, generate_series(1, 2) AS place`,
  );
  await dataSource.query(
    `INSERT INTO node (id, name, description, author, category, tags, created_at, updated_at, downloads, github_stars,
        rating, search_ranking, repository, license, publisher_id, status, supported_os, supported_accelerators,
        supported_app_version, publisher_banned)
      SELECT 'node-' || md5(n::text), 'Node ' || md5((n % 9973)::text), repeat('What it does. ', 12), 'author ' || n % 4999,
        CASE WHEN n % 3 > 0 THEN 'category ' || n % 23 END, '{a,b}',
        '2022-01-01'::timestamptz + n * interval '13 minutes', '2022-01-01'::timestamptz + n * interval '17 minutes',
        (n::bigint * n) % 999983, CASE WHEN n % 10 > 0 THEN n % 4001 END, n % 51 / 10.0, n % 997,
        'https://git.example/node-' || n, 'LICENSE', 'publisher-' || n % ($1::integer / 20 + 1),
        CASE WHEN n % 29 = 0 THEN 'NodeStatusBanned' WHEN n % 97 = 0 THEN 'NodeStatusDeleted' ELSE 'NodeStatusActive' END,
        os, accelerators, app, n % 101 = 0
      FROM generate_series(1, $1::integer) AS n,
        LATERAL (SELECT CASE WHEN n % 2 = 0 THEN (ARRAY['{POSIX}', '{MacOS}', '{OS Independent}',
            '{Microsoft :: Windows,POSIX :: Linux}', '{MacOS :: MacOS X}'])[1 + n % 5]::text[] END AS os,
          CASE n % 5 WHEN 0 THEN '{CUDA}'::text[] WHEN 1 THEN '{CUDA,ROCm}' WHEN 2 THEN '{DirectML}' END AS accelerators,
          CASE WHEN n % 4 = 0 THEN '>=' || n % 7 || '.0' END AS app) AS demands`,
    [nodes],
  );
  await dataSource.query(
    `INSERT INTO node_version (node_id, version, id, changelog, created_at, download_url, status)
      SELECT node.id, '1.' || n, node.id || '-' || n, 'Small repairs.', node.created_at + n * interval '1 day',
        'https://nodes.example/' || node.id || n, 'NodeVersionStatusActive'
      FROM node, generate_series(1, $1::integer) AS n`,
    [Math.round(versions / nodes)],
  );
  await new NodeRepository(dataSource).analyze({ created: nodes, changed: 0 });
}
