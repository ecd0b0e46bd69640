import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, createApi } from '../chaos/api.ts';
import { type FlorinProcess, launchFlorin, type Ready, stopFlorin, within } from '../chaos/florinProcess.ts';
import { answer } from './commands.ts';

const readyTimeoutMs = 600_000;
const clients = 16;
/** A forwarder's salts are random; an extended public key counts its addresses, which is what a restore could repeat. */
const networks = { forwarder: 'base', extendedKey: 'ethereum' } as const;
const order = { amount: '5', currency: 'USDC', network: networks.forwarder };
const extendedKey =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8';

export type Running = { readonly florin: FlorinProcess; readonly ready: Ready; stop(): Promise<void> };

export const startOn = async (dataDir: string, env: Record<string, string> = {}): Promise<Running> => {
  const florin = launchFlorin(dataDir, [], { env });
  const stop = async (): Promise<void> => void (await stopFlorin(florin, dataDir));
  try {
    const ready = await within(florin.ready, readyTimeoutMs);
    if (ready === null) throw new Error(`Florin was not ready:\n${florin.output()}`);
    return { florin, ready, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** A Florin with an account whose production has something to review, and keys of both environments. */
export type Site = {
  readonly room: string;
  readonly dataDir: string;
  /** Where backups and the log go, if they are archived. */
  readonly backups: string;
  readonly recipient: string;
  readonly running: Running;
  readonly accountId: string;
  readonly keys: { readonly sandbox: string; readonly production: string };
  end(): Promise<void>;
};

export const identityOf = ({ room }: Pick<Site, 'room'>): string => join(room, 'identity');

/** Settings of a Florin that archives its log. */
export const archiving = ({ backups, recipient }: Pick<Site, 'backups' | 'recipient'>, seconds = 2) => ({
  FLORIN_BACKUP_DIR: backups,
  FLORIN_BACKUP_RECIPIENT: recipient,
  FLORIN_BACKUP_HOURS: '720',
  FLORIN_BACKUP_LOG_SECONDS: String(seconds),
});

export const makeSite = async ({ archives }: { readonly archives: boolean }): Promise<Site> => {
  // Not below a directory that another account cannot enter: the server of root runs as nobody.
  const room = await mkdtemp(join(tmpdir(), 'florin-drill-'));
  const dataDir = join(room, 'data');
  await mkdir(dataDir, { mode: 0o711 });
  await chmod(room, 0o755);
  const backups = join(room, 'backups');
  await mkdir(backups);
  const { recipient } = (await answer(['backup', 'identity', '--output', identityOf({ room })])).json;
  const running = await startOn(dataDir, archives ? archiving({ backups, recipient }) : {});
  const wide = ['--plan', 'enterprise', '--rate-limit', '10000000', '--burst', '10000000', '--data-dir', dataDir];
  const { id } = (await answer(['accounts', 'create', '--name', 'Drill', ...wide])).json;
  const key = async (environment: string): Promise<string> => {
    const of = ['--account', id, '--environment', environment, '--data-dir', dataDir];
    return (await answer(['keys', 'create', ...of])).json.key;
  };
  const keys = { sandbox: await key('sandbox'), production: await key('production') };
  const wallet = [
    '--account',
    id,
    '--environment',
    'sandbox',
    '--network',
    networks.extendedKey,
    '--xpub',
    extendedKey,
  ];
  await answer(['wallets', 'set', ...wallet, '--data-dir', dataDir]);
  return {
    room,
    dataDir,
    backups,
    recipient,
    running,
    accountId: id,
    keys,
    async end() {
      await running.stop();
      await rm(room, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

export type Made = {
  readonly id: string;
  readonly address: string;
  readonly askedAt: Date;
  readonly answeredAt: Date;
};

/**
 * Creates payments until `isEnough`, from several clients. Returns what was acknowledged. With `mixed`, every second one is
 * of the extended public key.
 */
export const createUntil = async (
  { ready }: Pick<Running, 'ready'>,
  key: string,
  isEnough: (made: number) => boolean,
  { mixed = false } = {},
): Promise<Made[]> => {
  const api: Api = createApi({ url: ready.sandboxUrl, ca: ready.ca, key });
  const made: Made[] = [];
  let begun = 0;
  const work = async (): Promise<void> => {
    while (!isEnough(begun)) {
      begun += 1;
      const asked = mixed && begun % 2 === 0 ? { ...order, network: networks.extendedKey } : order;
      const askedAt = new Date();
      const { status, body } = await api.call('POST', '/v1/payments', { body: asked });
      if (status !== 200) throw new Error(`A payment was answered with ${status}: ${JSON.stringify(body)}`);
      made.push({ id: String(body.id), address: String(body.address), askedAt, answeredAt: new Date() });
    }
  };
  try {
    await Promise.all(Array.from({ length: clients }, work));
  } finally {
    api.close();
  }
  return made;
};

/** What production answers to a create. */
export const askProduction = async ({ ready }: Pick<Running, 'ready'>, key: string): Promise<string> => {
  const api = createApi({ url: ready.productionUrl, ca: ready.ca, key });
  try {
    const { status, body } = await api.call('POST', '/v1/payments', { body: order });
    return `${status} ${JSON.stringify(body)}`;
  } finally {
    api.close();
  }
};

/** Whether the API still knows each of them. */
export const missingIn = async (
  { ready }: Pick<Running, 'ready'>,
  key: string,
  payments: readonly Pick<Made, 'id' | 'address'>[],
): Promise<string[]> => {
  const api = createApi({ url: ready.sandboxUrl, ca: ready.ca, key });
  const missing: string[] = [];
  try {
    for (const { id, address } of payments) {
      const { status, body } = await api.call('GET', `/v1/payments/${id}`);
      if (status !== 200 || body.address !== address) missing.push(id);
    }
  } finally {
    api.close();
  }
  return missing;
};
