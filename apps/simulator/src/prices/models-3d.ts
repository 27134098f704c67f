import { type Bill, flat, type Order, type PriceList } from './order.js';

/** A Meshy credit costs four cents. */
const credit = 0.04;

const meshes = { 'meshy-5': 5, 'meshy-6': 20, 'meshy-7': 20, 'meshy-7.1': 20, latest: 20 };

const fine = (order: Order): number =>
  order.choice('/texture_resolution', { '2k': 0, '4k': 0, '8k': 5 }, '2k');

const textured: Bill = (order) =>
  credit *
  (order.choice('/ai_model', meshes, 'latest') +
    order.choice('/should_texture', { true: 10, false: 0 }, 'true') +
    fine(order));

const meshy =
  (preview: number): Bill =>
  (order) =>
    credit * order.choice('/mode', { preview, refine: 10 }, 'preview');

/** A Tripo credit costs one cent. */
const tripo =
  (base: number, hasStyle: boolean, hasGeometry: boolean): Bill =>
  (order) => {
    const isTextured = order.choice('/texture', { true: 1, false: 0 }, 'true') === 1;
    const isShaded = order.choice('/pbr', { true: 1, false: 0 }, 'true') === 1;
    const detail = order.choice('/texture_quality', { standard: 10, detailed: 20 }, 'standard');
    return (
      (base +
        (isTextured || isShaded ? detail : 0) +
        order.choice('/quad', { true: 5, false: 0 }, 'false') +
        (hasStyle && order.has('/style') ? 5 : 0) +
        (hasGeometry ? order.choice('/geometry_quality', { standard: 0, detailed: 20 }, 'standard') : 0) +
        order.choice('/smart_low_poly', { true: 20, false: 0 }, 'false')) /
      100
    );
  };

export const models3d: PriceList = {
  'meshy/animations': flat(3 * credit),
  'meshy/image-to-3d': textured,
  'meshy/multi-image-to-3d': textured,
  'meshy/meshy-5': meshy(5),
  'meshy/meshy-*': meshy(20),
  'meshy/remesh': flat(5 * credit),
  'meshy/retexture': (order) => credit * (10 + fine(order)),
  'meshy/rigging': flat(5 * credit),
  'meshy/text-to-3d-preview': (order) => credit * order.choice('/ai_model', meshes, 'latest'),
  'meshy/text-to-3d-refine': (order) => credit * (10 + fine(order)),
  'tencent/hunyuan-3d-part': flat(0.6),
  'tencent/hunyuan-3d-smart-topology': flat(1),
  'tencent/hunyuan-3d-texture-edit': flat(0.6),
  'tencent/hunyuan-3d-uv': flat(0.2),
  'tripo/animate-retarget': flat(0.1),
  'tripo/animate-rig': flat(0.25),
  'tripo/convert-model': (order) =>
    order.has('/quad', '/face_limit', '/texture_size', '/texture_format', '/flatten_bottom', '/scale_factor')
      ? 0.1
      : 0.05,
  'tripo/image-to-model-v2.5': tripo(20, true, false),
  'tripo/image-to-model-v3.0': tripo(20, true, true),
  'tripo/multiview-to-model-v2.5': tripo(20, false, false),
  'tripo/stylize-model': flat(0.2),
  'tripo/text-to-model-v2.5': tripo(10, true, false),
  'tripo/text-to-model-v3.0': tripo(10, true, true),
  'tripo/texture-model': (order) =>
    order.choice('/texture_quality', { standard: 0.1, detailed: 0.2 }, 'standard'),
};
