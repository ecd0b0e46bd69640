import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { assemble } from '../../../deploy/image/assemble.ts';
import { buildImage } from '../../../deploy/image/build.ts';
import { architectureOf } from '../../../deploy/image/contents.ts';
import { type Check, createChecker, expectEqual } from './check.ts';
import { embeddedScene } from './embeddedScene.ts';
import { ownServerScene } from './ownServerScene.ts';
import { machinesIn } from './platform.ts';

export type Drill = {
  readonly room: string;
  readonly image: string | null;
  readonly runOptions: readonly string[];
  readonly tell: (text: string) => void;
};

const largestBytes = 250e6;
const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

export const runDrill = async ({ room, image, runOptions, tell }: Drill): Promise<Check[]> => {
  const checks: Check[] = [];
  const check = createChecker(checks, tell);
  const tag = image ?? 'florin:drill';
  const here = architectureOf(process.arch);
  if (image === null) {
    await check('the image is built without Docker and without a base image, and is small enough', async () => {
      const { compressedBytes, uncompressedBytes } = await buildImage(tag, here);
      if (compressedBytes > largestBytes) throw new Error(`${megabytes(compressedBytes)} compressed is too large`);
      return `${megabytes(compressedBytes)} compressed, ${megabytes(uncompressedBytes)} unpacked`;
    });
  }
  for (const architecture of ['x64', 'arm64'] as const) {
    await check(`assembled for ${architecture}, it holds no other machine code`, async () => {
      const output = join(room, architecture);
      await assemble(output, architecture);
      const machines = machinesIn(output);
      expectEqual(Object.keys(machines), [architecture], 'machines');
      return `${machines[architecture]} files`;
    });
  }
  if (checks.some(({ problem }) => problem !== null)) return checks;
  for (const [name, scene] of [['embedded', embeddedScene] as const, ['own', ownServerScene] as const]) {
    const folder = join(room, name);
    mkdirSync(folder, { mode: 0o711 });
    await scene({ folder, image: tag, runOptions, check });
  }
  return checks;
};
