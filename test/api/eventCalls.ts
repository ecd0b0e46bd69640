import { expect } from 'vitest';
import type { Environment } from '../../src/core/environment.ts';
import type { TestAccount, TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';
import { type PaymentCalls, paymentCalls } from './paymentCalls.ts';

type Json = Answer['json'];

export type EventCalls = PaymentCalls & {
  readonly account: TestAccount;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Expects status 200 and returns the body. */
  got(path: string): Promise<Json>;
  endpoint(url: string, events?: string[]): Promise<{ id: string; secret: string }>;
  events(query?: string): Promise<Json[]>;
  deliveries(endpointId: string, query?: string): Promise<Json[]>;
  /** All pages of a list in order; `between` runs after each but the last. */
  walk(path: string, between?: () => Promise<unknown>): Promise<Json[][]>;
};

/** Payments, endpoints, events and deliveries as one account sees them. */
export const eventCalls = (
  scene: TestFlorin,
  account: TestAccount,
  environment: Environment = 'sandbox',
): EventCalls => {
  const as = { key: account.keys[environment], environment };
  const get = (path: string): Promise<Answer> => scene.client.call('GET', `/v1${path}`, as);
  const post = (path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    scene.client.call('POST', `/v1${path}`, { ...as, body, headers });
  const expectGood = (answer: Answer): Json => {
    expect(answer.status, answer.text).toBe(200);
    return answer.json;
  };
  const got = async (path: string): Promise<Json> => expectGood(await get(path));
  return {
    ...paymentCalls(scene, account, environment),
    account,
    get,
    post,
    got,
    endpoint: async (url, events = ['*']) => expectGood(await post('/webhooks', { url, events })),
    events: async (query = '') => (await got(`/events?limit=100${query === '' ? '' : `&${query}`}`)).data,
    deliveries: async (id, query = '') =>
      (await got(`/webhooks/${id}/deliveries?limit=100${query === '' ? '' : `&${query}`}`)).data,
    async walk(path, between) {
      const pages: Json[][] = [];
      for (let cursor = ''; ; ) {
        const { data, pagination } = await got(`${path}${cursor}`);
        pages.push(data);
        expect(pages.length, 'a walk that does not end').toBeLessThan(100);
        expect(pagination.hasMore).toBe(pagination.nextCursor !== null);
        if (!pagination.hasMore) return pages;
        cursor = `${path.includes('?') ? '&' : '?'}cursor=${pagination.nextCursor}`;
        await between?.();
      }
    },
  };
};

export const idsOf = (items: readonly { id: string }[]): string[] => items.map(({ id }) => id);
