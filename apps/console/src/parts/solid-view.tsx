import { type KeyboardEvent, useEffect, useRef } from 'react';
import {
  Box3,
  type Object3D,
  PerspectiveCamera,
  PMREMGenerator,
  Scene,
  type Texture,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { RoomEnvironment } from 'three/addons/environments/RoomEnvironment.js';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { texts } from '../texts/index.ts';
import classes from './output.module.css';

const turns: Record<string, [axis: 'x' | 'y', radians: number]> = {
  ArrowLeft: ['y', -0.2],
  ArrowRight: ['y', 0.2],
  ArrowUp: ['x', -0.2],
  ArrowDown: ['x', 0.2],
};

interface Stage {
  model: Object3D;
  draw: () => void;
}

/** A glTF model that turns with the pointer or the arrow keys. Draws only when something changes. */
export function SolidView({ url, onError }: { url: string; onError: () => void }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<Stage>(null);
  useEffect(() => {
    if (canvas.current === null) return undefined;
    try {
      return show(url, canvas.current, (shown) => (stage.current = shown), onError);
    } catch {
      // The browser has no WebGL.
      onError();
      return undefined;
    }
  }, [url, onError]);

  const turn = (event: KeyboardEvent) => {
    const step = turns[event.key];
    if (step === undefined || stage.current === null) return;
    event.preventDefault();
    const [axis, radians] = step;
    stage.current.model.rotation[axis] += radians;
    stage.current.draw();
  };
  return (
    <canvas
      ref={canvas}
      className={classes.solid}
      role="img"
      aria-label={texts.output.solid}
      tabIndex={0}
      onKeyDown={turn}
    />
  );
}

/** Returns a function that frees all resources. */
function show(
  url: string,
  canvas: HTMLCanvasElement,
  onShown: (stage: Stage) => void,
  onError: () => void,
): () => void {
  const renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
  const scene = new Scene();
  const light = new PMREMGenerator(renderer).fromScene(new RoomEnvironment());
  scene.environment = light.texture;
  const camera = new PerspectiveCamera(35, 1, 0.01, 100);
  const controls = new OrbitControls(camera, canvas);
  const draw = () => renderer.render(scene, camera);
  controls.addEventListener('change', draw);
  const sizes = new ResizeObserver(() => {
    renderer.setSize(canvas.clientWidth, canvas.clientHeight, false);
    renderer.setPixelRatio(devicePixelRatio);
    camera.aspect = canvas.clientWidth / canvas.clientHeight;
    camera.updateProjectionMatrix();
    draw();
  });

  let isDisposed = false;
  const load = async () => {
    const { scene: model } = await new GLTFLoader().loadAsync(url);
    if (isDisposed) {
      dispose(model);
      return;
    }
    centre(model);
    scene.add(model);
    camera.position.set(1.6, 1, 2.4);
    controls.update();
    sizes.observe(canvas);
    canvas.dataset['shown'] = 'true';
    onShown({ model, draw });
  };
  load().catch(() => {
    if (!isDisposed) onError();
  });
  return () => {
    isDisposed = true;
    sizes.disconnect();
    controls.dispose();
    dispose(scene);
    light.dispose();
    renderer.dispose();
  };
}

/** Scales and moves the model to fill the view, whatever its units. */
function centre(model: Object3D): void {
  const bounds = new Box3().setFromObject(model);
  const size = bounds.getSize(new Vector3());
  const scale = 1.4 / (Math.max(size.x, size.y, size.z) || 1);
  model.scale.multiplyScalar(scale);
  model.position.sub(bounds.getCenter(new Vector3()).multiplyScalar(scale));
}

function dispose(root: Object3D): void {
  root.traverse((part) => {
    const { geometry, material } = part as Partial<Record<'geometry' | 'material', unknown>>;
    for (const each of [geometry, material].flat()) release(each);
  });
}

function release(resource: unknown): void {
  if (typeof resource !== 'object' || resource === null) return;
  for (const value of Object.values(resource)) {
    if ((value as Texture | null)?.isTexture) (value as Texture).dispose();
  }
  (resource as { dispose?: () => void }).dispose?.();
}
