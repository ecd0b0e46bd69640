import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PRAGUE } from '@nomicfoundation/edr';
import type { Hex } from 'viem';
import { type Slug, testnets } from '../../src/core/registry/backings.ts';
import { type EvmNode, startEvmNode } from '../chains/evmNode.ts';
import { placeFactory } from '../chains/placeFactory.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import { type ChainCalls, createChainCalls, runtimeCodeOf } from './chainCalls.ts';

export type FarChain = {
  readonly url: string;
  readonly caip2: string;
  /** Bypasses the server: works even while it does not answer. */
  readonly chain: ChainCalls;
  /** Address at which the registry lists a token or look-alike of this network. */
  token(symbol: string): string;
  /** Puts a working token there. */
  placeToken(symbol: string, decimals: number): Promise<void>;
  /** Puts a contract of the tests there, as its code alone. */
  placeCode(symbol: string, contract: string): Promise<void>;
  /** Whether the server answers; otherwise it says that it is unavailable. */
  answers(yes: boolean): void;
  /** Serves another chain with the same id; without an argument, the original one again. */
  pretend(other?: FarChain): void;
  readonly node: EvmNode;
  close(): Promise<void>;
};

type Call = { readonly id: unknown; readonly method: string; readonly params?: unknown[] };

const answerCall = async (node: EvmNode, { id, method, params = [] }: Call): Promise<object> => {
  try {
    return { jsonrpc: '2.0', id, result: await node.request(method, ...params) };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: -32000, message: (error as Error).message } };
  }
};

/** A test network of the registry as a foreign node would serve it. The test makes its blocks. */
export const startFarChain = async (slug: Slug, behindSeconds = 0, { factory = true } = {}): Promise<FarChain> => {
  const { chainId, caip2, tokens, lookAlikes } = testnets[slug];
  const node = await startEvmNode(PRAGUE, BigInt(chainId), behindSeconds);
  if (factory) await placeFactory(node);
  const chain = createChainCalls(node.request);
  let served = node;
  let isAnswering = true;

  const answer = async (body: string, response: ServerResponse): Promise<void> => {
    if (!isAnswering) return void response.writeHead(503).end();
    const asked = JSON.parse(body) as Call | Call[];
    const result = Array.isArray(asked)
      ? await Promise.all(asked.map(call => answerCall(served, call)))
      : await answerCall(served, asked);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', () => void answer(Buffer.concat(chunks).toString('utf8'), response));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise(resolve => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  atEndOfFile(close);

  const token = (symbol: string): string => [...tokens, ...lookAlikes].find(each => each.symbol === symbol)!.address;
  const setCode = (symbol: string, code: Hex): Promise<unknown> => node.request('hardhat_setCode', token(symbol), code);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caip2,
    chain,
    node,
    token,
    async placeToken(symbol, decimals) {
      const { address } = await chain.deploy('TestToken', [symbol, symbol, decimals]);
      await setCode(symbol, await node.code(address));
    },
    async placeCode(symbol, contract) {
      await setCode(symbol, runtimeCodeOf(contract));
    },
    answers(yes) {
      isAnswering = yes;
    },
    pretend(other) {
      served = other?.node ?? node;
    },
    close,
  };
};
