import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { assemble } from './assemble.ts';
import { type Architecture, architectureOf, architectures } from './contents.ts';
import { run } from './run.ts';

const help = `Builds the container image without Docker and without a base image: it assembles the files as deploy/Dockerfile does,
and gives the last stage of that file to buildah. It needs Debian 12 with buildah, and prints the sizes.

  --arch A      amd64 or arm64, default that of this machine
  --tag NAME    default florin:VERSION
  --help

buildah keeps the image where podman finds it; as an ordinary user, run this in "buildah unshare". STORAGE_DRIVER=vfs helps
where overlays are not possible.`;

const dockerfile = new URL('../Dockerfile', import.meta.url);
const packageFile = new URL('../../package.json', import.meta.url);

export type ImageSize = { readonly compressedBytes: number; readonly uncompressedBytes: number };

/** The lines that say what the image is like, after those that bring its files together. */
export const lastStage = (): string => {
  const text = readFileSync(dockerfile, 'utf8');
  return text.slice(text.lastIndexOf('\nFROM ') + 1);
};

/** As a registry would keep it: each layer compressed with gzip. */
const sizeOf = (tag: string, room: string): ImageSize => {
  const pushed = join(room, 'pushed');
  run('buildah', ['push', '--quiet', '--disable-compression=false', tag, `dir:${pushed}`]);
  const files = readdirSync(pushed).filter(name => /^[0-9a-f]{64}$/.test(name));
  const compressedBytes = files.reduce((sum, name) => sum + statSync(join(pushed, name)).size, 0);
  const [image] = JSON.parse(run('buildah', ['images', '--json', tag])) as [{ size: string }];
  rmSync(pushed, { recursive: true });
  return { compressedBytes, uncompressedBytes: bytesOf(image.size) };
};

/** buildah prints sizes for people: 272 MB. */
const bytesOf = (text: string): number => {
  const [, number, unit] = /^([\d.]+) ([KMG]?)B$/.exec(text)!;
  return Number(number) * { '': 1, K: 1e3, M: 1e6, G: 1e9 }[unit as '' | 'K' | 'M' | 'G'];
};

export const buildImage = async (tag: string, architecture: Architecture): Promise<ImageSize> => {
  const room = mkdtempSync(join(tmpdir(), 'florin-image-'));
  try {
    const [context, empty, file] = ['context', 'empty', 'Dockerfile'].map(name => join(room, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(context);
    mkdirSync(empty);
    await assemble(join(context, 'image'), architecture);
    writeFileSync(file, lastStage());
    const platform = ['--os', 'linux', '--arch', architectures[architecture].debian];
    // Without the format of Docker, the health check would be left out.
    const how = ['--quiet', '--format', 'docker', '--build-context', `build=${context}`, ...platform];
    run('buildah', ['build', ...how, '--file', file, '--tag', tag, empty]);
    return sizeOf(tag, room);
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string };
  const { values } = parseArgs({
    options: {
      arch: { type: 'string', default: process.arch },
      tag: { type: 'string', default: `florin:${version}` },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) console.log(help);
  else {
    const { compressedBytes, uncompressedBytes } = await buildImage(values.tag, architectureOf(values.arch));
    const mb = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
    console.log(`${values.tag}: ${mb(compressedBytes)} compressed, ${mb(uncompressedBytes)} unpacked`);
  }
}
