import type { GoLive } from '../../core/dashboard/moneyApi.ts';
import { readReadiness } from '../../storage/dashboard/goLive.ts';
import { hasAnsweringEndpoint } from '../../storage/dashboard/webhookHealth.ts';
import { listWallets } from '../../storage/wallets.ts';
import type { Context } from '../context.ts';

/** Loopback hosts as they appear in a URL. */
const loopback = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/;

const isPublic = (url: string): boolean => {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && !loopback.test(hostname);
};

/** The steps before real money is taken. Always about production. */
export const readGoLive = async (context: Context, accountId: string): Promise<GoLive> => {
  const scope = { accountId, environment: 'production' } as const;
  const wallets = await listWallets(context.listDb, scope);
  const { hasSecondFactor, hasLiveKey } = await readReadiness(context.listDb, accountId);
  const networks = await context.networks.list('production');
  const steps: GoLive['steps'] = [
    {
      key: 'wallet',
      done: wallets.some(({ pending, verifiedAt }) => !pending && verifiedAt !== null),
      title: 'A production wallet is set and verified',
      help: 'Set the address or extended public key that receives the funds, and compare it with your own wallet.',
    },
    {
      key: 'webhook',
      done: await hasAnsweringEndpoint(context.listDb, scope),
      title: 'A production webhook endpoint has answered with 2xx',
      help: 'Create an endpoint and send it a test event.',
    },
    {
      key: 'secondFactor',
      done: hasSecondFactor,
      title: 'An owner has a passkey or a second factor',
      help: 'Add one to your account: a password alone is not enough to protect money.',
    },
    {
      key: 'https',
      done: isPublic(context.environments.production.publicUrl),
      title: 'Production has a public HTTPS address',
      help: 'Set FLORIN_PUBLIC_URL to the address that payers and your servers use.',
    },
    {
      key: 'network',
      done: networks.some(({ status }) => status === 'operational'),
      title: 'A production network is being watched',
      help: 'Add RPC URLs for it under networks.production in florin.config.json.',
    },
    {
      key: 'liveKey',
      done: hasLiveKey,
      title: 'A production API key exists',
      help: 'Create one under Keys, and store it only on your server.',
    },
  ];
  return { steps, ready: steps.every(({ done }) => done) };
};
