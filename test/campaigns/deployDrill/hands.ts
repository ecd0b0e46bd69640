import { appendFileSync } from 'node:fs';
import { createChainCalls } from '../../watch/chainCalls.ts';
import { issue } from './authority.ts';
import { becomeOwner, type Visitor } from './dashboardCalls.ts';
import { addresses } from './machine.ts';
import type { World } from './world.ts';

/** What the page leaves to people, by step: in a browser, at a DNS provider, with a wallet. */
export type Hands = {
  /** Before the blocks of a step. */
  readonly before: Readonly<Record<string, () => void | Promise<void>>>;
  /** After them; `printed` is what they printed. */
  readonly after: Readonly<Record<string, (printed: string) => void | Promise<void>>>;
};

const treasury = '0x00000000000000000000000000000000DeaDBeef';
const network = 'base';
const usdc = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const unitOfUsdc = 1_000_000n;

/** Sends what `florin factory deploy` prints, as a person does who reads it. */
const sendPrinted = async ({ chain }: World, printed: string): Promise<void> => {
  const steps = printed.split(/^\d+\. /m).slice(1);
  if (steps.length === 0) throw new Error(`nothing to send was printed: ${printed}`);
  for (const step of steps) {
    const raw = /cast publish --rpc-url \S+ (0x[0-9a-f]+)/i.exec(step)?.[1];
    const field = (name: string): string => new RegExp(`^ {3}${name} +(\\S+)`, 'm').exec(step)![1]!;
    const receipt = raw
      ? await chain.sendRaw(raw)
      : await chain.must({ to: field('to'), data: field('data'), value: BigInt(field('value')) });
    if (receipt.status !== '0x1') throw new Error(`a step of the deployment failed: ${step}`);
  }
};

export const createHands = (world: World, room: string, values: Readonly<Record<string, string>>): Hands => {
  const names = [values.PAY!, values.SANDBOX!];
  let owner: Visitor | null = null;
  const signedIn = (): Visitor => {
    if (owner === null) throw new Error('step 12 makes the owner');
    return owner;
  };
  return {
    before: {
      names() {
        for (const name of names) world.records.set(name, addresses.florin);
      },
      certificate() {
        issue(room, `/etc/letsencrypt/live/${names[0]}`, names);
        // A public authority needs no such line.
        appendFileSync('/etc/florin/florin.env', `NODE_EXTRA_CA_CERTS=${process.env.NODE_EXTRA_CA_CERTS}\n`);
      },
    },
    after: {
      factory: printed => sendPrinted(world, printed),
      async owner(printed) {
        owner = await becomeOwner(/https:\S+/.exec(printed)![0]);
      },
      async wallet() {
        await signedIn().call('POST /wallets', { network, treasury });
        const { data } = await signedIn().call('GET /wallets');
        const wallet = data.find(each => each.network === network)!;
        if (wallet.kind === null) throw new Error('the wallet is not in force');
        await signedIn().call('POST /wallets/:network/verify', { version: wallet.version }, { network });
      },
      async webhook() {
        await signedIn().call('POST /webhooks', { url: world.receiverUrl });
      },
      async 'first-payment'(printed) {
        const { address } = JSON.parse(printed) as { address: string };
        await createChainCalls(world.chain.request).payToken(usdc, address, unitOfUsdc);
      },
    },
  };
};
