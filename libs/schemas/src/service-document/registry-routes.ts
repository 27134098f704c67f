import { answer, byStatus, json } from './answers.js';
import type { Route } from './route.js';

const registryFailure = (status: number, description: string) =>
  answer(status, description, json('ErrorResponse'), { headers: ['Access-Control-Allow-Origin'] });

export const registryRoutes: Route[] = [
  {
    method: 'GET',
    path: '/nodes',
    name: 'listNodes',
    area: 'Registry',
    summary: 'List nodes',
    description:
      'A page of the nodes of all publishers, each with its publisher and its newest active version. Filters combine. Without `sort` the order is by id, and every other order ends in the id, so pages never overlap. Arrays are given as `sort=a&sort=b`, as `sort[]=a&sort[]=b`, or as one value. Pages of any origin may read it.',
    credentials: 'none',
    parameters: [
      'page',
      'nodeLimit',
      'supportedOs',
      'supportedAccelerator',
      'includeBanned',
      'timestamp',
      'latest',
      'sort',
      'nodeId',
      'appVersion',
      'formFactor',
    ],
    input: null,
    answers: byStatus(
      answer(200, 'One page; empty behind the last one.', json('NodeList'), {
        headers: ['Access-Control-Allow-Origin'],
      }),
      registryFailure(400, 'A parameter has the wrong type, or `sort` names no column.'),
      registryFailure(404, 'Nothing is found at this path, or not with this method.'),
      registryFailure(500, 'The registry cannot be read at the moment.'),
    ),
  },
];
