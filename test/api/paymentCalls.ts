import { expect } from 'vitest';
import type { Environment } from '../../src/core/environment.ts';
import type { Sending } from '../support/client.ts';
import { startTestFlorin, type TestAccount, type TestFlorin } from '../support/florin.ts';
import type { Answer } from '../support/send.ts';

/** A valid request. */
export const ordinary = { amount: '25', currency: 'USDC', network: 'base' };

export type PaymentCalls = {
  create(body?: unknown, sending?: Sending): Promise<Answer>;
  /** Creates a payment, expects success and returns the payment object. */
  made(fields?: object): Promise<Answer['json']>;
  read(id: string): Promise<Answer>;
  list(query?: string): Promise<Answer>;
  act(id: string, action: string, sending?: Sending): Promise<Answer>;
};

/** Calls of the payment endpoints by one account in one environment. */
export const paymentCalls = (
  scene: TestFlorin,
  account: TestAccount,
  environment: Environment = 'sandbox',
): PaymentCalls => {
  const as = { key: account.keys[environment], environment };
  const create: PaymentCalls['create'] = (body = ordinary, sending = {}) =>
    scene.client.call('POST', '/v1/payments', { ...as, body, ...sending });
  return {
    create,
    async made(fields = {}) {
      const answer = await create({ ...ordinary, ...fields });
      expect(answer.status, answer.text).toBe(200);
      return answer.json;
    },
    read: id => scene.client.call('GET', `/v1/payments/${id}`, as),
    list: (query = '') => scene.client.call('GET', `/v1/payments${query === '' ? '' : `?${query}`}`, as),
    act: (id, action, sending = {}) => scene.client.call('POST', `/v1/payments/${id}/${action}`, { ...as, ...sending }),
  };
};

/** A Florin with an account for the tests of a file, stopped after the last of them. */
export const startPaymentScene = async () => {
  const scene = await startTestFlorin();
  const account = await scene.account();
  return { scene, account, calls: paymentCalls(scene, account) };
};

/** Expects an error with code, message and requestId, and with this param if given. */
export const expectError = (answer: Answer, status: number, code: string, param?: string): void => {
  expect(answer.json, answer.text).toEqual({
    error: {
      code,
      message: expect.stringMatching(/\S/),
      requestId: answer.headers['x-request-id'],
      ...(param === undefined ? {} : { param }),
    },
  });
  expect(answer.status, answer.text).toBe(status);
};

export const expectInvalid = (answer: Answer, param?: string): void =>
  expectError(answer, 400, 'invalid_request', param);
