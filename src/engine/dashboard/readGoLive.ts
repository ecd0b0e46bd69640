import type { GoLive } from '../../core/dashboard/moneyApi.ts';
import { readReadiness } from '../../storage/dashboard/goLive.ts';
import { hasAnsweringEndpoint } from '../../storage/dashboard/webhookHealth.ts';
import { listWallets } from '../../storage/wallets.ts';
import type { Context } from '../context.ts';

/** As URLs write them. */
const loopback = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/;

const isPublic = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && !loopback.test(hostname);
};

/** What is left to do before real money is taken, always of production. */
export const readGoLive = async (context: Context, accountId: string): Promise<GoLive> => {
  const scope = { accountId, environment: 'production' } as const;
  const wallets = await listWallets(context.listDb, scope);
  const { hasSecondFactor, hasLiveKey } = await readReadiness(context.listDb, accountId);
  const networks = await context.networks.list('production');
  const steps: GoLive['steps'] = [
    {
      key: 'wallet',
      done: wallets.some(({ pending, verifiedAt }) => !pending && verifiedAt !== null),
      title: 'A wallet of production is set and verified',
      help: 'Name the address or extended public key that gets the money, and compare what is derived with your own wallet.',
    },
    {
      key: 'webhook',
      done: await hasAnsweringEndpoint(context.listDb, scope),
      title: 'A webhook endpoint of production has answered with 2xx',
      help: 'Create an endpoint and send it a test event.',
    },
    {
      key: 'secondFactor',
      done: hasSecondFactor,
      title: 'An owner has a passkey or a second factor',
      help: 'Add one to your account: a password alone should not guard money.',
    },
    {
      key: 'https',
      done: isPublic(context.environments.production.publicUrl),
      title: 'Production has a public HTTPS address',
      help: 'Set FLORIN_PUBLIC_URL to the address under which payers and your servers reach it.',
    },
    {
      key: 'network',
      done: networks.some(({ status }) => status === 'operational'),
      title: 'A network of production is being watched',
      help: 'Add RPC URLs for it under networks.production in florin.config.json.',
    },
    {
      key: 'liveKey',
      done: hasLiveKey,
      title: 'There is a key for production',
      help: 'Create one under Keys, and give it to your server alone.',
    },
  ];
  return { steps, ready: steps.every(({ done }) => done) };
};
