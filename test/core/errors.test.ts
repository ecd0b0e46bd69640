import { expect, test } from 'vitest';
import { errorBody, errorStatus, FlorinError, invalid } from '../../src/core/errors.ts';

test('an error carries its code, its status and what it is about', () => {
  const error = new FlorinError('rate_limit_exceeded', 'Too many.', undefined, 7);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'FlorinError', message: 'Too many.', status: 429, retryAfterSeconds: 7 });
  expect(invalid('amount', 'No.')).toMatchObject({ code: 'invalid_request', status: 400, param: 'amount' });
});

test('the wire form names a parameter only where one is at fault', () => {
  expect(JSON.parse(errorBody(invalid('amount', 'No.'), 'req_1'))).toEqual({
    error: { code: 'invalid_request', message: 'No.', param: 'amount', requestId: 'req_1' },
  });
  expect(errorBody(invalid(undefined, 'No.'), 'req_1')).not.toContain('param');
});

test('every status is one of an error', () => {
  for (const status of Object.values(errorStatus)) expect(status >= 400 && status < 600).toBe(true);
});
