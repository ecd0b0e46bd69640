import { beforeAll, expect, test } from 'vitest';
import type { AccessLine } from '../../src/http/edge/server.ts';
import { startTestFlorin, type TestFlorin } from '../support/florin.ts';

const requests: AccessLine[] = [];
let scene: TestFlorin;
beforeAll(async () => {
  const nothing = (): void => {};
  const info = (fields: object, message: string) => void (message === 'request' && requests.push(fields as AccessLine));
  scene = await startTestFlorin({
    env: { FLORIN_ROLES: 'api' },
    log: { debug: nothing, info, warn: nothing, error: nothing },
  });
});

const lineOf = async (path: string, headers: Record<string, string>): Promise<AccessLine> => {
  const answer = await scene.client.call('GET', path, { headers });
  return requests.find(({ requestId }) => requestId === answer.headers['x-request-id'])!;
};

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

test.each(['/v1/networks', '/nothing', '/healthz'])('the line of %s names the trace of its request', async path => {
  expect(await lineOf(path, { traceparent: `00-${traceId}-00f067aa0ba902b7-01` })).toMatchObject({ traceId });
});

test.each([
  `00-${traceId}-0000000000000000-01`,
  `00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`,
  `00-${traceId}-00f067aa0ba902b7-01,00-${traceId}-00f067aa0ba902b7-01`,
  '"},{"level":60',
])('an invalid header is ignored: %s', async traceparent => {
  expect(await lineOf('/v1/networks', { traceparent })).not.toHaveProperty('traceId');
});

test('a request without the header has no trace in its line', async () => {
  expect(await lineOf('/v1/networks', {})).not.toHaveProperty('traceId');
});
