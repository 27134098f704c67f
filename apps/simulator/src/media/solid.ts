import { createHash } from 'node:crypto';

/** An octahedron as a binary glTF 2.0 file, in a colour derived from the text. */
export function solid(text: string): Buffer {
  const [red = 0, green = 0, blue = 0] = createHash('sha256').update(text).digest();
  const corners = [1, 0, 0, -1, 0, 0, 0, 1.3, 0, 0, -1.3, 0, 0, 0, 1, 0, 0, -1];
  const faces = [4, 0, 2, 0, 5, 2, 5, 1, 2, 1, 4, 2, 0, 4, 3, 5, 0, 3, 1, 5, 3, 4, 1, 3];
  const binary = Buffer.concat([
    Buffer.from(Float32Array.from(corners).buffer),
    Buffer.from(Uint16Array.from(faces).buffer),
  ]);
  const cornerBytes = 4 * corners.length;
  const scene = JSON.stringify({
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1, material: 0 }] }],
    materials: [
      {
        pbrMetallicRoughness: {
          baseColorFactor: [red / 255, green / 255, blue / 255, 1],
          metallicFactor: 0.1,
          roughnessFactor: 0.4,
        },
      },
    ],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: corners.length / 3,
        type: 'VEC3',
        min: [-1, -1.3, -1],
        max: [1, 1.3, 1],
      },
      { bufferView: 1, componentType: 5123, count: faces.length, type: 'SCALAR' },
    ],
    bufferViews: [
      { buffer: 0, byteLength: cornerBytes },
      { buffer: 0, byteOffset: cornerBytes, byteLength: 2 * faces.length },
    ],
    buffers: [{ byteLength: binary.length }],
  });
  const padded = scene.padEnd(Math.ceil(scene.length / 4) * 4, ' ');
  const chunks = [chunk('JSON', Buffer.from(padded)), chunk('BIN\0', binary)];
  const head = Buffer.alloc(12);
  head.write('glTF', 0, 'latin1');
  head.writeUInt32LE(2, 4);
  head.writeUInt32LE(12 + chunks.reduce((sum, { length }) => sum + length, 0), 8);
  return Buffer.concat([head, ...chunks]);
}

function chunk(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(content.length, 0);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}
