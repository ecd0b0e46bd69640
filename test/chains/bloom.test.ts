import { beforeAll, expect, test } from 'vitest';
import {
  explainsBloom,
  factoryEmitter,
  type Header,
  type LogEntry,
  missesEmitter,
  readHeader,
  readLog,
  tokenEmitter,
  transferTopic,
} from '../../src/chains/evm/block.ts';
import { bloomBits, bloomBytes, covers, mayContain, setBits } from '../../src/chains/evm/bloom.ts';
import { accounts } from './evmNode.ts';
import { addressOf, startTestChain, type TestChain } from './followScene.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await startTestChain();
  await chain.block(chain.mint(accounts[0], 10n ** 12n));
});

const bytes = (hex: string): Uint8Array => Buffer.from(hex.slice(2), 'hex');

const newest = async (): Promise<{ header: Header; logs: LogEntry[] }> => {
  const block = await chain.blockAt('latest');
  const logs = await chain.node.request<unknown[]>('eth_getLogs', { blockHash: block.hash });
  return { header: readHeader(block), logs: logs.map(readLog) };
};

/** The bloom filter of these logs, computed here. */
const filterOf = (logs: readonly LogEntry[]): Uint8Array => {
  const bloom = new Uint8Array(bloomBytes);
  for (const { contract, topics } of logs) {
    for (const item of [contract, ...topics]) setBits(bloom, bloomBits(bytes(item)));
  }
  return bloom;
};

test('the filter of a real header is exactly that of its logs', async () => {
  await chain.block(...Array.from({ length: 30 }, (_, at) => chain.transfer(addressOf(`holder ${at}`), 1n)));
  const { header, logs } = await newest();
  expect(logs).toHaveLength(30);
  expect(Buffer.from(filterOf(logs))).toEqual(Buffer.from(header.bloom));
  expect(explainsBloom(header, logs)).toBe(true);
});

test('any one log with bits of its own is missed', async () => {
  await chain.block(...Array.from({ length: 12 }, (_, at) => chain.transfer(addressOf(`missed ${at}`), 1n)));
  const { header, logs } = await newest();
  let own = 0;
  for (const left of logs) {
    const others = logs.filter(log => log !== left);
    const isHidden = covers(filterOf(others), header.bloom);
    expect(explainsBloom(header, others)).toBe(isHidden);
    if (!isHidden) own += 1;
  }
  expect(own).toBeGreaterThan(8);
  expect(explainsBloom(header, [])).toBe(false);
});

test('a log more than the block has is no evidence of one less', async () => {
  await chain.block(chain.transfer(addressOf('once'), 1n));
  const { header, logs } = await newest();
  expect(explainsBloom(header, [...logs, { ...logs[0]!, topics: [`0x${'77'.repeat(32)}`] }])).toBe(true);
});

test('an empty block needs no logs', async () => {
  await chain.block();
  const { header, logs } = await newest();
  expect(logs).toEqual([]);
  expect(explainsBloom(header, [])).toBe(true);
  expect(missesEmitter(header, [tokenEmitter(chain.token), factoryEmitter], [])).toBe(false);
});

test('an emitter that spoke and is in none of the logs is missed', async () => {
  await chain.block(chain.transfer(addressOf('heard'), 1n));
  const { header, logs } = await newest();
  const token = tokenEmitter(chain.token);
  expect(missesEmitter(header, [token], [])).toBe(true);
  expect(missesEmitter(header, [token], logs)).toBe(false);
  expect(missesEmitter(header, [factoryEmitter], [])).toBe(false);
  expect(mayContain(header.bloom, token.bits)).toBe(true);
  expect(mayContain(header.bloom, bloomBits(bytes(transferTopic)))).toBe(true);
});
