// @module-tag thorough
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { atEndOfFile } from '../support/endOfFile.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const document = join(root, 'docs/openapi.json');
const run = promisify(execFile);
let folder: string;

const tool = (name: string, ...args: string[]) =>
  run(process.execPath, [join(root, 'node_modules', name), ...args], { cwd: folder });

const compilerOptions = {
  strict: true,
  noEmit: true,
  target: 'esnext',
  module: 'nodenext',
  lib: ['esnext', 'dom'],
  types: [],
  allowImportingTsExtensions: true,
  // The generated files are no declarations: they are checked.
  skipLibCheck: true,
};

/** What the compiler says about a program, as lines and codes. */
const faultsOf = async (name: string, program: string): Promise<string[]> => {
  await writeFile(join(folder, name), program);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [name] }));
  const compiled = tool('typescript/bin/tsc', '--pretty', 'false');
  const output = await compiled.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  return output.split('\n').filter(line => line !== '' && !line.startsWith(' '));
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-clients-'));
  atEndOfFile(() => rm(folder, { recursive: true }));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await Promise.all([
    // Without the option, a field of a request that has a default would have to be sent.
    tool('openapi-typescript/bin/cli.js', document, '--output', 'types.ts', '--default-non-nullable', 'false'),
    tool('oazapfts/dist/cli.js', document, 'client.ts'),
  ]);
});

test('openapi-typescript makes types that programs compile with', async () => {
  const program = `
import type { components, operations, paths, webhooks } from './types.ts';

type Payment = components['schemas']['Payment'];
type Created = paths['/v1/payments']['post']['responses'][200]['content']['application/json'];
type Filters = NonNullable<operations['listPayments']['parameters']['query']>;
type Completed = webhooks['payment.completed']['post']['requestBody']['content']['application/json'];
type Failure = operations['createPayment']['responses'][409]['content']['application/json'];

export const request: components['schemas']['CreatePaymentRequest'] = { amount: '25.00', currency: 'USDC', network: 'base' };
export const filters: Filters = { status: 'completed', network: 'base', limit: 100 };
export const isFinal = (payment: Created): boolean => payment.status === 'completed' && payment.exception === null;
export const hashesOf = (payment: Payment): (string | null)[] => payment.transactions.map(({ hash }) => hash);
export const mustWait = ({ error }: Failure): boolean => error.code === 'idempotency_in_progress';
export const paidOf = (event: Completed): Payment => event.data;
export const receive = (event: components['schemas']['Event']): string => {
  if (event.type === 'account.security') return event.data.action;
  return event.type === 'webhook.test' ? String(event.data.test) : event.data.amountConfirmed;
};
`;
  expect(await faultsOf('program.ts', program)).toEqual([]);
  const wrong = `
import type { components } from './types.ts';
export const isPaid = (payment: components['schemas']['Payment']) => payment.status === 'paid';
export const lengthOf = (payment: components['schemas']['Payment']) => payment.description.length;
export const request: components['schemas']['CreatePaymentRequest'] = { amount: 25, currency: 'USDC', network: 'base' };
`;
  expect(await faultsOf('wrong.ts', wrong)).toEqual([
    expect.stringMatching(/^wrong\.ts\(3,.*TS2367/),
    expect.stringMatching(/^wrong\.ts\(4,.*TS18047/),
    expect.stringMatching(/^wrong\.ts\(5,.*TS2322/),
  ]);
});

test('oazapfts makes a client that programs compile with', async () => {
  const program = `
import * as florin from './client.ts';

florin.defaults.baseUrl = 'https://localhost:8444';

export const pay = async (amount: string): Promise<string> => {
  const created = await florin.createPayment({ amount, currency: 'USDC', network: 'base' }, { idempotencyKey: 'order-1' });
  if (created.status !== 200) throw new Error(created.data.error.code);
  const payment: florin.Payment = created.data;
  return payment.checkoutUrl;
};

export const underpaid = async (): Promise<florin.Payment[]> => {
  const listed = await florin.listPayments({ status: 'expired', limit: 100 });
  return listed.status === 200 ? listed.data.data.filter(({ exception }) => exception === 'underpaid') : [];
};

export const accept = (payment: florin.Payment) =>
  florin.resolvePayment(payment.id, { action: 'accept', expectedAmount: payment.amountReceived });
`;
  expect(await faultsOf('caller.ts', program)).toEqual([]);
});
