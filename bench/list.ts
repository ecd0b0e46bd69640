import { call } from './client.ts';
import { median, quantile, round } from './figures.ts';
import type { Scene } from './scene.ts';
import { seed } from './seed.ts';

const flatTarget = 1.5;
const offsetTarget = 2;
const smallPayments = 10_000;
const deepOffset = 1_000_000;
const repeats = 200;

export type Tenant = { id: string; name: string; key: string };

/** Finds the account by name, so that a kept data directory is seeded only once. */
export const tenantOf = async (scene: Scene, payments: number): Promise<Tenant> => {
  const name = `bench-${payments}`;
  const { data } = (await scene.florin('accounts', 'list')) as unknown as { data: { id: string; name: string }[] };
  let id = data.find(account => account.name === name)?.id;
  const isNew = id === undefined;
  const limits = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000'];
  id ??= (await scene.florin('accounts', 'create', '--name', name, ...limits)).id!;
  const { key } = await scene.florin('keys', 'create', '--account', id, '--environment', 'sandbox');
  if (isNew) {
    console.log(`  writing ${payments} payments…`);
    await seed(scene, id, payments);
  }
  return { id, name, key: key! };
};

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();

const filters = (): Record<string, string> => ({
  'no filter': '',
  status: '&status=expired',
  currency: '&currency=USDT',
  network: '&network=polygon',
  'status, currency and network': '&status=completed&currency=USDC&network=base',
  'from and to': `&from=${daysAgo(400.3)}&to=${daysAgo(100.7)}`,
  'from, to and status': `&from=${daysAgo(400.3)}&to=${daysAgo(100.7)}&status=canceled`,
});

const timed = async (scene: Scene, tenant: Tenant, path: string): Promise<number> => {
  const started = performance.now();
  await call(scene, 'GET', path, undefined, tenant.key);
  return performance.now() - started;
};

/** Alternates between both sides, so that other load on the machine affects both. */
const compare = async (
  scene: Scene,
  label: string,
  a: { tenant: Tenant; path: string },
  b: { tenant: Tenant; path: string },
  target: number,
): Promise<boolean> => {
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < repeats + 20; i++) {
    const first = await timed(scene, a.tenant, a.path);
    const second = await timed(scene, b.tenant, b.path);
    if (i < 20) continue;
    times[0].push(first);
    times[1].push(second);
  }
  const ratio = median(times[1]) / median(times[0]);
  console.log(
    `  ${label}: p50 ${round(median(times[0]))} → ${round(median(times[1]))} ms, ratio ${round(ratio)} (target ${target}); p99 ${round(quantile(times[1], 0.99))} ms`,
  );
  return ratio <= target;
};

/** Exact totals and pages must cost the same at ten thousand payments and at ten million. */
export const benchList = async (scene: Scene, options: { payments: number }): Promise<boolean> => {
  const small = await tenantOf(scene, smallPayments);
  const large = await tenantOf(scene, options.payments);
  let isMet = true;
  for (const [label, filter] of Object.entries(filters())) {
    const path = `/v1/payments?limit=20${filter}`;
    const isFlat = await compare(scene, label, { tenant: small, path }, { tenant: large, path }, flatTarget);
    isMet &&= isFlat;
  }
  for (const [label, filter] of [
    ['no filter', ''],
    ['currency', '&currency=USDT'],
  ] as const) {
    const at = (offset: number) => ({ tenant: large, path: `/v1/payments?limit=20&offset=${offset}${filter}` });
    const isFlat = await compare(scene, `offset ${deepOffset}, ${label}`, at(0), at(deepOffset), offsetTarget);
    isMet &&= isFlat;
  }
  return isMet;
};
