import { expect, test } from 'vitest';
import { createHostEnvironment } from '../../src/http/edge/hostEnvironment.ts';

const environmentOf = createHostEnvironment({
  production: 'https://pay.example',
  sandbox: 'https://sandbox.pay.example:8443',
});

test.each([
  ['pay.example', 'production'],
  ['Pay.Example', 'production'],
  ['pay.example:443', 'production'],
  ['pay.example:8443', null],
  ['sandbox.pay.example:8443', 'sandbox'],
  ['SANDBOX.pay.example:8443', 'sandbox'],
  ['sandbox.pay.example', null],
  ['sandbox.pay.example:443', null],
  ['other.example', null],
  ['127.0.0.1', null],
  ['', null],
  [undefined, null],
])('%s means %s', (host, environment) => {
  expect(environmentOf(host)).toBe(environment);
});
