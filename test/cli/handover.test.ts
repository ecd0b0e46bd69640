import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const florin = fileURLToPath(new URL('../../bin/florin.js', import.meta.url));

/** Makes the first process that loads it look like an old Node, and reports each process that loads it. */
const pretendOld = `data:text/javascript,${encodeURIComponent(`
  console.error('loaded with flags');
  if (!process.env.PRETENDED) Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });
  process.env.PRETENDED = 'yes';
`)}`;

test.runIf(process.platform === 'linux')(
  'an old Node hands over to the bundled one, without its own flags',
  async () => {
    const args = ['--import', pretendOld, florin, '--version'];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(stderr.match(/loaded with flags/g)).toHaveLength(1);
  },
);
