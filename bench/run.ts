import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchAgainst } from './against.ts';
import { benchCheckout } from './checkout.ts';
import { closeClient } from './client.ts';
import { benchCreate } from './create.ts';
import { benchDashboard } from './dashboard.ts';
import { benchDetect } from './detect.ts';
import { benchGet } from './get.ts';
import { benchIngest } from './ingest.ts';
import { benchList } from './list.ts';
import { benchMetrics } from './metrics.ts';
import { startScene } from './scene.ts';
import { benchWebhooks } from './webhooks.ts';

const usage = `Usage: npm run bench -- <benchmark>... [options]

Compares Florin with the limit of this machine, round by round in one run, and prints medians and ratios.
Exits with code 1 if a benchmark misses its target.

Benchmarks
  create     create payments; limit: pgbench writing the same rows
  get        read payments; limit: a bare HTTPS server sending the same bytes
  list       list payments of a large account, compared with a small one
  ingest     read a chain's history; limit: a plain loop that checks nothing
  detect     time from mined block to committed event, and requests while idle
  webhooks   send deliveries; limit: bare POSTs to the same receiver
  checkout   memory of open pages, and pages per second; limit: a bare HTTPS server
  dashboard  pages and exports of a large account
  metrics    create and read payments while metrics are scraped each second, compared with no metrics

Options
  --rounds N      rounds of each comparison (default 5)
  --seconds N     seconds of each side in a round (default 5)
  --payments N    payments of the large account (default 10000000; the first run writes them, which takes minutes)
  --transfers N   token transfers that ingest reads, ten per block (default 20000)
  --open N        open payments among which ingest looks for recipients (default 1000000)
  --detections N  payments that detect makes and pays (default 300)
  --pages N       checkout pages to keep open (default 1000)
  --against REV   run each round here and at another git revision by turns, and compare the medians
  --data-dir DIR  directory to keep data in between runs (default: a temporary one, removed at the end)`;

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
    against: { type: 'string' },
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
  metrics: benchMetrics,
} as const;

if (values.help || positionals.length === 0 || !positionals.every(name => name in benches)) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

if (values.against) {
  const passed = ['seconds', 'payments', 'transfers', 'open', 'detections', 'pages'] as const;
  const args = passed.flatMap(name => [`--${name}`, values[name]]);
  await benchAgainst(values.against, positionals, { rounds: Number(values.rounds), args });
  process.exit();
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
    console.log(`Running ${name}…`);
    if (!(await benches[name](scene, options))) failed++;
  }
} finally {
  closeClient(scene);
  await scene.stop();
  if (!values['data-dir']) await rm(dataDir, { recursive: true, force: true });
}
console.log(`${positionals.length - failed} of ${positionals.length} benchmarks met their targets`);
process.exitCode = failed === 0 ? 0 : 1;
