import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchCheckout } from './checkout.ts';
import { closeClient } from './client.ts';
import { benchCreate } from './create.ts';
import { benchDashboard } from './dashboard.ts';
import { benchDetect } from './detect.ts';
import { benchGet } from './get.ts';
import { benchIngest } from './ingest.ts';
import { benchList } from './list.ts';
import { startScene } from './scene.ts';
import { benchWebhooks } from './webhooks.ts';

const usage = `npm run bench -- [create] [get] [list] [ingest] [detect] [webhooks] [checkout] [dashboard] [options]

Measures the service against the limit of the machine, turn by turn in one run, and reports medians and ratios.

  --rounds N      turns of each side (default 5)
  --seconds N     length of a turn (default 5)
  --payments N    size of the large account for list and dashboard (default 10000000; the first run writes it, some minutes)
  --transfers N   token transfers that ingest reads, ten a block (default 20000)
  --open N        open payments among which ingest matches (default 1000000)
  --detections N  payments that detect waits for (default 300)
  --pages N       open pages that checkout measures the memory of (default 1000)
  --data-dir DIR  where to keep the data between runs (default: a temporary directory, removed at the end)`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    payments: { type: 'string', default: '10000000' },
    transfers: { type: 'string', default: '20000' },
    open: { type: 'string', default: '1000000' },
    detections: { type: 'string', default: '300' },
    pages: { type: 'string', default: '1000' },
    'data-dir': { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const benches = {
  create: benchCreate,
  get: benchGet,
  list: benchList,
  ingest: benchIngest,
  detect: benchDetect,
  webhooks: benchWebhooks,
  checkout: benchCheckout,
  dashboard: benchDashboard,
} as const;

if (values.help || positionals.length === 0 || !positionals.every(name => name in benches)) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const dataDir = values['data-dir'] ?? (await mkdtemp(join(tmpdir(), 'florin-bench-')));
const scene = await startScene(dataDir);
const options = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  payments: Number(values.payments),
  transfers: Number(values.transfers),
  open: Number(values.open),
  detections: Number(values.detections),
  pages: Number(values.pages),
};
let failed = 0;
try {
  for (const name of positionals as (keyof typeof benches)[]) {
    console.log(`${name}…`);
    if (!(await benches[name](scene, options))) failed++;
  }
} finally {
  closeClient(scene);
  await scene.stop();
  if (!values['data-dir']) await rm(dataDir, { recursive: true, force: true });
}
console.log(`${positionals.length - failed} met, ${failed} missed`);
process.exitCode = failed === 0 ? 0 : 1;
