import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runDrill } from './imageDrill/drill.ts';

const help = `Builds the container image with buildah and runs it with podman: read-only, without capabilities, as a user that
has only a number. The first payment must complete, and must be there after a stop, a kill and the end of PostgreSQL. Then
the same on a PostgreSQL of its own, with secrets in files. Assembles the image of the other architecture, too. Prints sizes
and seconds. It needs Debian 12 with buildah and podman; as root, or inside "buildah unshare".

  --image NAME        use this image instead of building one
  --run-options=TEXT  further options of podman run, such as "--runtime runc --ulimit nofile=1024:1024"
  --help`;

const { values } = parseArgs({
  options: {
    image: { type: 'string' },
    'run-options': { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(help);
else {
  const room = mkdtempSync(join(tmpdir(), 'florin-image-'));
  // The user in the container enters the folders below.
  chmodSync(room, 0o711);
  try {
    const runOptions = values['run-options'].split(' ').filter(Boolean);
    const checks = await runDrill({ room, image: values.image ?? null, runOptions, tell: text => console.log(text) });
    const failed = checks.filter(({ problem }) => problem !== null).length;
    console.log(`${checks.length - failed} passed, ${failed} failed`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
}
