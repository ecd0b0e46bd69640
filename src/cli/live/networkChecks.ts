import { isIP } from 'node:net';
import { findFactory } from '../../chains/evm/factory.ts';
import { createNode } from '../../chains/evm/node.ts';
import { readNumber } from '../../chains/evm/reading.ts';
import { RpcFault } from '../../chains/evm/rpc.ts';
import type { Network } from '../../core/registry/networks.ts';
import { listWallets } from '../../storage/wallets/wallets.ts';
import { bareHost } from '../../webhooks/guard.ts';
import type { Told } from '../doctorChecks.ts';
import { bad, good, judged, type Records, type Situation, withRecords } from './situation.ts';

const none = 'No network of production has nodes. Add networks.production to florin.config.json and restart Florin.';

const timeoutMs = 5_000;
/** How far a node may be behind another. */
const inStepSeconds = 60;
const inStepBlocks = 5;

type Asked = { readonly height: number } | { readonly problem: string };

/** Names a node by its place in `rpcUrls`: its URL often contains a key. */
const askNode = async (url: string, at: number, { chainId }: Network): Promise<Asked> => {
  const node = createNode(url, at, { timeoutMs }, () => 0);
  const calls = [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ];
  try {
    const [chain, height] = await node.callMany(calls, new AbortController().signal);
    const served = readNumber(chain, 'its chain id');
    if (served !== chainId) return { problem: `node ${at + 1} serves chain ${served} instead of ${chainId}` };
    return { height: readNumber(height, 'its block number') };
  } catch (error) {
    if (!(error instanceof RpcFault)) throw error;
    return { problem: `node ${at + 1} gives no usable answer (${error.kind})` };
  }
};

const stepProblem = (heights: readonly number[], { blockTimeSeconds }: Network): string | null => {
  const behind = Math.max(...heights) - Math.min(...heights);
  const limit = Math.max(inStepBlocks, inStepSeconds / blockTimeSeconds);
  return behind <= limit ? null : `its nodes are ${behind} blocks apart`;
};

/** What tells providers apart: the domain of a name. An address says nothing of who runs it. */
const providerOf = (url: string): string => {
  const { host, hostname } = new URL(url);
  return isIP(bareHost(hostname)) === 0 ? hostname.split('.').slice(-2).join('.') : host;
};

const providerProblem = (rpcUrls: readonly string[]): string | null => {
  if (new Set(rpcUrls.map(providerOf)).size > 1) return null;
  return rpcUrls.length < 2
    ? 'it has one node, and needs two of different providers'
    : `its ${rpcUrls.length} nodes are of one provider, and it needs two`;
};

const nodeProblems = async (network: Network): Promise<string[]> => {
  const { rpcUrls } = network;
  const asked = await Promise.all(rpcUrls.map((url, at) => askNode(url, at, network)));
  const heights = asked.flatMap(each => ('height' in each ? [each.height] : []));
  const alike = providerProblem(rpcUrls);
  const apart = heights.length > 1 ? stepProblem(heights, network) : null;
  return [
    ...asked.flatMap(each => ('problem' in each ? [each.problem] : [])),
    ...(alike === null ? [] : [alike]),
    ...(apart === null ? [] : [apart]),
  ];
};

/** Whether the watcher follows the network now. */
const readingProblem = async ({ directory }: Records, { slug }: Network): Promise<string[]> => {
  const measured = await directory.find('production', slug);
  return measured?.status === 'operational' ? [] : [`Florin does not read it: ${measured?.reason ?? 'not measured'}`];
};

const inAll = async (networks: readonly Network[], ask: (network: Network) => Promise<string[]>): Promise<string[]> => {
  const asked = networks.map(async network => (await ask(network)).map(problem => `${network.slug}: ${problem}`));
  return (await Promise.all(asked)).flat();
};

const namesOf = (networks: readonly Network[]): string => networks.map(({ slug }) => slug).join(', ');

export const checkNetworks = async (situation: Situation): Promise<Told> => {
  const { networks, records } = situation;
  if (networks.length === 0) return bad(none);
  const problems = await inAll(networks, async network => [
    ...(await nodeProblems(network)),
    ...(typeof records === 'string' ? [records] : await readingProblem(records, network)),
  ]);
  return judged(
    problems,
    `${namesOf(networks)}: at least two nodes agree, and Florin reads them`,
    'Correct rpcUrls in florin.config.json and restart Florin.',
  );
};

/** Asks the nodes, so it works before the first start. */
export const checkFactory = async ({ networks }: Situation): Promise<Told> => {
  if (networks.length === 0) return bad(none);
  const problems = await inAll(networks, async ({ rpcUrls, chainId }) => {
    const { found, reason } = await findFactory(rpcUrls, chainId);
    if (found?.state === 'present') return [];
    if (found === null) return [`not known: ${reason}`];
    return [found.state === 'absent' ? 'it is absent' : 'its address has different code: do not use this network'];
  });
  return judged(problems, `present on ${namesOf(networks)}`, 'Run florin factory deploy, and send what it prints.');
};

export const checkWallet = withRecords(async ({ db, accountId, goLive }, { networks }) => {
  if (networks.length === 0) return bad(none);
  const rows = await listWallets(db, { accountId, environment: 'production' });
  const set = new Set(rows.filter(({ pending }) => !pending).map(({ network }) => network));
  const without = networks.filter(({ slug }) => !set.has(slug));
  if (without.length > 0) {
    return bad(`No wallet is in force on ${namesOf(without)}. Set it on the Wallets page, or with florin wallets set.`);
  }
  const step = goLive.steps.find(({ key }) => key === 'wallet')!;
  return step.done ? good(`in force on ${namesOf(networks)}, and verified`) : bad(`${step.title}. ${step.help}`);
});
