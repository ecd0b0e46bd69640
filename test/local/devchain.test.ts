import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, test } from 'vitest';
import { devChainDeployments } from '../../src/chains/evm/deployments.ts';
import { callRpc } from '../../src/chains/evm/rpc.ts';
import { silentLog } from '../../src/core/log.ts';
import { type DevChain, startDevChain } from '../../src/local/devchain/startDevChain.ts';
import { readHead } from '../chains/readHead.ts';
import { eventually } from '../support/until.ts';

const tokens = [
  { slug: 'ethereum', symbol: 'USDC', name: 'USD Coin', decimals: 6 },
  { slug: 'bsc', symbol: 'USDT', name: 'Tether USD', decimals: 18 },
];
const deployedBlocks = 2n + BigInt(tokens.length);
const anyAddress = '0x00000000000000000000000000000000000f1041';

let dataDir: string;
let chain: DevChain;
const warnings: string[] = [];
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'florin-devchain-'));
  const log = { ...silentLog, warn: (_fields: object, message: string) => void warnings.push(message) };
  chain = await startDevChain({ dataDir, log, tokens, emptyBlockIntervalMs: 10 });
});

const call = (method: string, ...params: unknown[]) => callRpc(chain.rpcUrl, method, params);
const headNumber = async (): Promise<bigint> => (await readHead(chain.rpcUrl)).number;

/** Sends one wei and returns the number of the block with the transfer. */
const pay = async (): Promise<bigint> => {
  const [from] = (await call('eth_accounts')) as string[];
  const hash = await call('eth_sendTransaction', { from, to: anyAddress, value: '0x1' });
  const receipt = (await call('eth_getTransactionReceipt', hash)) as { blockNumber: string; status: string };
  expect(receipt.status).toBe('0x1');
  return BigInt(receipt.blockNumber);
};

const send = (body: string, headers: Record<string, string> = {}, method = 'POST') =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const all = { 'Content-Type': 'application/json', ...headers };
    const request = requestHttp(chain.rpcUrl, { method, headers: all, agent: false }, async response => {
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(await response.toArray()).toString() });
    });
    request.once('error', reject).end(body);
  });
const chainIdCall = '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}';

describe('the dev chain', () => {
  test('comes up with the deployer, the factory and the test tokens', async () => {
    const head = await readHead(chain.rpcUrl);
    expect(head).toMatchObject({ number: deployedBlocks, chainId: 31337 });
    const { create2Deployer, factory, tokenAddress } = devChainDeployments(tokens);
    const contracts = [
      create2Deployer.address,
      factory,
      ...tokens.map(token => tokenAddress(token.slug, token.symbol)),
    ];
    for (const address of contracts) expect(await call('eth_getCode', address, 'latest')).not.toBe('0x');
    const decimals = await call('eth_call', { to: tokenAddress('bsc', 'USDT'), data: '0x313ce567' }, 'latest');
    expect(BigInt(decimals as string)).toBe(18n);
  });

  test('records its process and port for its owner alone', async () => {
    const path = join(dataDir, 'devchain.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const record = JSON.parse(await readFile(path, 'utf8'));
    expect(record).toEqual({
      pid: chain.pid(),
      port: Number(new URL(chain.rpcUrl).port),
      startedAt: expect.any(String),
    });
    expect(new Date(record.startedAt).toISOString()).toBe(record.startedAt);
  });

  test('mines a transaction at once and five empty blocks after it, and then rests', async () => {
    const paidIn = await pay();
    await eventually(async () => expect(await headNumber()).toBe(paidIn + 5n));
    expect(await pay()).toBe(paidIn + 6n);
    await eventually(async () => expect(await headNumber()).toBe(paidIn + 11n));
  });

  test('gives blocks the time of the world', async () => {
    const beforeS = Math.floor(Date.now() / 1000);
    const paidIn = await pay();
    const block = (await call('eth_getBlockByNumber', `0x${paidIn.toString(16)}`, false)) as { timestamp: string };
    // A block that is already being mined may include the payment, so its time may be a second earlier.
    expect(Number(block.timestamp)).toBeGreaterThanOrEqual(beforeS - 1);
    expect(Number(block.timestamp)).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  });

  test('lets a block be replaced', async () => {
    const settled = (await pay()) + 5n;
    await eventually(async () => expect(await headNumber()).toBe(settled));
    const snapshot = await call('evm_snapshot');
    const beforeS = Math.floor(Date.now() / 1000);
    const paidIn = await pay();
    const replaced = (await call('eth_getBlockByNumber', `0x${paidIn.toString(16)}`, false)) as { hash: string };
    await eventually(async () => expect(await headNumber()).toBe(paidIn + 5n));
    expect(await call('evm_revert', snapshot)).toBe(true);
    expect(await headNumber()).toBe(settled);
    await call('evm_mine');
    const head = await readHead(chain.rpcUrl);
    expect(head.number).toBe(paidIn);
    expect(head.hash).not.toBe(replaced.hash);
    expect(head.timestamp).toBeGreaterThanOrEqual(beforeS);
  });
});

describe('its JSON-RPC', () => {
  test('answers batches in order, faults included', async () => {
    const { status, body } = await send(`[${chainIdCall},{"jsonrpc":"2.0","id":"b","method":"eth_nothing"},5]`);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual([
      { jsonrpc: '2.0', id: 7, result: '0x7a69' },
      { jsonrpc: '2.0', id: 'b', error: expect.objectContaining({ code: -32004 }) },
      { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32600 }) },
    ]);
  });

  test.each([
    ['{', -32700],
    ['', -32700],
    ['[]', -32600],
    ['null', -32600],
    ['{}', -32600],
    ['{"jsonrpc":"2.0","method":"eth_chainId"}', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"hardhat_reset"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"evm_setAutomine","params":[true]}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x12","latest"]}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":{"a":1}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["0x00"]}', -32602],
  ])('answers %s with %i', async (body, code) => {
    const answer = await send(body);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ jsonrpc: '2.0', error: { code } });
  });

  test.each([
    ['a page in a browser', { Origin: 'http://127.0.0.1' }, 403],
    ['a page without an origin', { Origin: 'null' }, 403],
    ['a rebound name', { Host: 'attacker.example' }, 403],
    ['a name that only begins like loopback', { Host: '127.0.0.1.attacker.example' }, 403],
    ['a simple form', { 'Content-Type': 'text/plain' }, 415],
  ])('refuses %s', async (_name, headers, status) => {
    expect((await send(chainIdCall, headers)).status).toBe(status);
  });

  test('refuses other methods and large bodies', async () => {
    expect((await send('', {}, 'GET')).status).toBe(405);
    expect((await send('', {}, 'OPTIONS')).status).toBe(405);
    expect((await send('x'.repeat(3 * 1024 * 1024))).status).toBe(413);
    expect((await send(chainIdCall, { Host: 'localhost:1' })).status).toBe(200);
  });
});

describe('its supervisor', () => {
  test('restarts a chain that dies at the same address, with the same first blocks', async () => {
    const deployed = `0x${deployedBlocks.toString(16)}`;
    const before = await call('eth_getBlockByNumber', deployed, false);
    const pid = chain.pid();
    process.kill(pid ?? 0, 'SIGKILL');
    await eventually(() => expect(chain.pid()).not.toBe(pid));
    await eventually(() => expect(chain.pid()).not.toBe(null));
    expect(await call('eth_getBlockByNumber', deployed, false)).toEqual(before);
    expect(JSON.parse(await readFile(join(dataDir, 'devchain.json'), 'utf8')).pid).toBe(chain.pid());
    expect(warnings).toEqual(['dev chain died and will be restarted']);
  });

  test('leaves nothing running when it is stopped, even while it restarts', async () => {
    const ownDir = await mkdtemp(join(tmpdir(), 'florin-devchain-'));
    const own = await startDevChain({ dataDir: ownDir, log: silentLog, tokens: [] });
    process.kill(own.pid() ?? 0, 'SIGKILL');
    await eventually(() => expect(own.pid()).toBe(null));
    await own.stop();
    await expect(readHead(own.rpcUrl)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(stat(join(ownDir, 'devchain.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    await rm(ownDir, { recursive: true });
  });

  test('takes the chain with it when it is killed', async () => {
    const ownDir = await mkdtemp(join(tmpdir(), 'florin-devchain-'));
    const moduleUrl = new URL('../../src/local/devchain/startDevChain.ts', import.meta.url).href;
    const script = `
      import { startDevChain } from ${JSON.stringify(moduleUrl)};
      const nothing = () => {};
      const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
      console.log((await startDevChain({ dataDir: ${JSON.stringify(ownDir)}, log, tokens: [] })).rpcUrl);`;
    const supervisor = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [rpcUrl] = await once(createInterface(supervisor.stdout), 'line');
    expect((await readHead(rpcUrl)).chainId).toBe(31337);
    supervisor.kill('SIGKILL');
    await eventually(() => expect(readHead(rpcUrl)).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
    await rm(ownDir, { recursive: true });
  });

  test('reports a chain that cannot be recorded', async () => {
    const absent = join(dataDir, 'absent');
    await expect(startDevChain({ dataDir: absent, log: silentLog, tokens: [] })).rejects.toMatchObject({
      cause: { stderr: expect.stringContaining('ENOENT') },
    });
  });
});
