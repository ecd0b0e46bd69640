import type { GoLive } from '../../core/api/moneyApi.ts';
import { isPublicOrigin } from '../../core/url.ts';
import { readReadiness } from '../../storage/access/goLive.ts';
import { listWallets } from '../../storage/wallets/wallets.ts';
import { hasAnsweringReceiver } from '../../storage/webhooks/webhookHealth.ts';
import type { Context } from '../context.ts';

type Facts = {
  readonly listDb: Context['listDb'];
  readonly networks: Pick<Context['networks'], 'list'>;
  readonly environments: { readonly production: { readonly publicUrl: string } };
};

/** The steps before real money is taken, for the dashboard and for `florin doctor --live`. Always about production. */
export const readGoLive = async (context: Facts, accountId: string): Promise<GoLive> => {
  const scope = { accountId, environment: 'production' } as const;
  const wallets = await listWallets(context.listDb, scope);
  const { hasSecondFactor, hasLiveKey } = await readReadiness(context.listDb, accountId);
  const networks = await context.networks.list('production');
  const steps: GoLive['steps'] = [
    {
      key: 'secondFactor',
      done: hasSecondFactor,
      title: 'Protect an owner account with a passkey or an authenticator app',
      help: 'Live keys, wallets, secrets and webhooks need one. A password alone is not accepted for them.',
    },
    {
      key: 'wallet',
      done: wallets.some(({ pending, verifiedAt }) => !pending && verifiedAt !== null),
      title: 'Set and verify a live wallet',
      help: 'Set your payout address, then confirm that you found it in your own wallet.',
    },
    {
      key: 'webhook',
      done: await hasAnsweringReceiver(context.listDb, scope),
      title: 'Add a live webhook endpoint that answers with 2xx',
      help: 'Add an endpoint and send it a test event.',
    },
    {
      key: 'https',
      done: isPublicOrigin(context.environments.production.publicUrl),
      title: 'Use a public HTTPS address',
      help: 'Set FLORIN_PUBLIC_URL to the address that payers and your servers use.',
    },
    {
      key: 'network',
      done: networks.some(({ status }) => status === 'operational'),
      title: 'Connect a live network',
      help: 'Add its RPC URLs under networks.production in florin.config.json.',
    },
    {
      key: 'liveKey',
      done: hasLiveKey,
      title: 'Create a live API key',
      help: 'Create it on the API keys page and store it only on your server.',
    },
  ];
  return { steps, ready: steps.every(({ done }) => done) };
};
