import { Agent } from 'node:https';
import { startRpcNode } from '../api/rpcNode.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../api/webhookReceiver.ts';
import { startSmtpReceiver } from '../mail/smtpReceiver.ts';
import { cookieName, type DashboardClient, startDashboard, type TestDashboard } from '../support/dashboard.ts';
import { atEndOfFile } from '../support/endOfFile.ts';
import type { TestAccount, TestFlorin } from '../support/florin.ts';
import { type Answer, send } from '../support/send.ts';
import { until } from '../support/until.ts';
import { createRecorder, type Recorder } from './recorder.ts';

type Environment = keyof TestAccount['keys'];

export type Asking = {
  /** The key; null for none. Without it, the account's key of the environment. */
  key?: string | null;
  environment?: Environment;
  body?: unknown;
  headers?: Record<string, string>;
  /** Only status and headers are recorded. */
  isPage?: boolean;
  /** Sees the answer before it is recorded, to name what must be masked in it. */
  learn?: (answer: Answer) => void;
};

/** Sends `GET /path` and records the answer under this name. */
export type Ask = (name: string, request: string, asking?: Asking) => Promise<Answer>;
export type AskAs = (
  person: DashboardClient,
  name: string,
  request: string,
  asking?: Pick<Asking, 'body' | 'headers' | 'isPage' | 'learn'>,
) => Promise<Answer>;

export type Corpus = {
  readonly recorder: Recorder;
  readonly dashboard: TestDashboard;
  readonly florin: TestFlorin;
  readonly receiver: WebhookReceiver;
  readonly account: Pick<TestAccount, 'id' | 'keys'>;
  /** A door for the requests of a chapter. Each has an IP address of its own, because some limits are per address. */
  door(chapter: string): Ask;
  /** The same for calls of the dashboard's app; their paths are below /dashboard/api. */
  appDoor(chapter: string): AskAs;
  /** Asks for a payment until it is as wanted, without recording. */
  reach(id: string, isWanted: (payment: Answer['json']) => boolean): Promise<Answer['json']>;
};

/** Addresses that requests of the corpus name. */
export const fixedAddresses = {
  treasury: '0x00000000000000000000000000000000DeaDBeef',
  otherTreasury: '0x00000000000000000000000000000000000A11cE',
  zero: `0x${'0'.repeat(40)}`,
} as const;

const startParts = async (env: Record<string, string>) => {
  const node = await startRpcNode(1);
  const mail = await startSmtpReceiver();
  atEndOfFile(mail.close);
  const dashboard = await startDashboard({
    env: {
      FLORIN_TRUSTED_PROXIES: '127.0.0.1,::1',
      FLORIN_DASHBOARD_ACCOUNTS: 'on',
      FLORIN_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      FLORIN_MAIL_FROM: 'florin@shop.example',
      ...env,
    },
    configFile: { networks: { production: { ethereum: { rpcUrls: [node.url] } } } },
  });
  const { scene } = dashboard;
  await until(
    () => scene.client.call('GET', '/v1/networks/ethereum', { environment: 'production' }),
    answer => answer.json.status === 'operational',
  );
  return dashboard;
};

/** Ports and contracts: what the masks must know before the first answer. */
const prepareMasks = async ({ masks }: Recorder, { scene }: TestDashboard, receiver: WebhookReceiver) => {
  const urls = { ...scene.florin.urls, receiver: receiver.url };
  for (const [name, url] of Object.entries(urls)) {
    const { hostname, port } = new URL(url);
    // Also as a part of a URL's path or query.
    for (const colon of [':', '%3A']) masks.name(`${hostname}${colon}${port}`, `${hostname}${colon}<${name} port>`);
  }
  const session = cookieName(scene.florin.dashboardUrl);
  masks.name(session, '__Host-florin-<production port>');
  masks.name(session.replace('-florin-', '-florin-device-'), '__Host-florin-device-<production port>');
  for (const address of Object.values(fixedAddresses)) masks.keep(address);
  for (const environment of ['sandbox', 'production'] as const) {
    const { json } = await scene.client.call('GET', '/v1/networks', { environment });
    for (const network of json.data) {
      for (const { contractAddress } of network.currencies) if (contractAddress) masks.keep(contractAddress);
    }
  }
};

/** A whole Florin with both environments, an owner in the dashboard and a merchant's server. */
export const startCorpus = async (env: Record<string, string> = {}, recorder = createRecorder()): Promise<Corpus> => {
  const receiver = await startWebhookReceiver();
  const dashboard = await startParts(env);
  const { scene, accountId, keys, url, ca } = dashboard;
  await prepareMasks(recorder, dashboard, receiver);
  const agent = new Agent({ ca, keepAlive: true, maxSockets: 4 });
  atEndOfFile(() => agent.destroy());
  let doors = 0;
  const nextAddress = (): string => {
    doors += 1;
    return `198.51.100.${doors}`;
  };

  const door: Corpus['door'] = chapter => {
    const address = nextAddress();
    return async (name, request, { environment = 'sandbox', key = keys[environment], ...asking } = {}) => {
      const [method, path] = request.split(' ') as [string, string];
      const { body, isPage = false } = asking;
      const headers = { 'x-forwarded-for': address, ...asking.headers };
      const outgoing = { key, headers, agent, ...(body === undefined ? {} : { body }) };
      const answer = await send(scene.florin.urls[environment], method, path, outgoing);
      asking.learn?.(answer);
      const line = `${request} (${environment})`;
      recorder.note(`${chapter}: ${name}`, { line, sent: body, isBodyLeftOut: isPage }, answer);
      return answer;
    };
  };

  const appDoor: Corpus['appDoor'] = chapter => {
    const address = nextAddress();
    return async (person, name, request, { body, headers = {}, isPage = false, learn } = {}) => {
      const [method, path] = request.split(' ') as [string, string];
      const all = {
        'x-forwarded-for': address,
        ...(person.cookie === '' ? {} : { cookie: person.cookie }),
        ...(method === 'GET' ? {} : { origin: url, 'sec-fetch-site': 'same-origin' }),
        ...headers,
      };
      const outgoing = { headers: all, agent, ...(body === undefined ? {} : { body }) };
      const answer = await send(url, method, `/dashboard/api${path}`, outgoing);
      learn?.(answer);
      const line = `${method} /dashboard/api${path} (${person.email === '' ? 'signed out' : person.role})`;
      recorder.note(`${chapter}: ${name}`, { line, sent: body, isBodyLeftOut: isPage }, answer);
      const set = answer.headers['set-cookie']?.[0]?.split(';', 1)[0];
      if (set !== undefined) person.cookie = set.endsWith('=') ? '' : set;
      return answer;
    };
  };

  return {
    recorder,
    dashboard,
    florin: scene,
    receiver,
    account: { id: accountId, keys },
    door,
    appDoor,
    reach: (id, isWanted) =>
      until(async () => (await scene.client.call('GET', `/v1/payments/${id}`, { key: keys.sandbox })).json, isWanted),
  };
};
