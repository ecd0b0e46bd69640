import { Check, Errors } from 'typebox/value';
import { expect, test } from 'vitest';
import { event } from '../../src/core/api/event.ts';
import { eventTypes } from '../../src/core/payment/states.ts';
import { renderTestEvent } from '../../src/engine/webhooks/testEvent.ts';

const rendered = (type: (typeof eventTypes)[number], endpointId: string | null) => {
  const made = {
    id: `evt_${'0'.repeat(26)}`,
    type,
    atMs: 1_768_469_472_000,
    environment: 'sandbox',
    endpointId,
  } as const;
  return JSON.parse(renderTestEvent({ checkoutUrl: 'https://pay.example/checkout' }, made));
};

test.each(eventTypes)('%s is as documented', type => {
  for (const endpointId of [null, `we_${'0'.repeat(26)}`]) {
    expect([...Errors(event, rendered(type, endpointId))]).toEqual([]);
  }
});

test('an event about neither a payment nor a test is not', () => {
  for (const data of [
    {},
    { test: false, endpointId: null },
    { ...rendered('payment.created', null).data, id: undefined },
  ]) {
    expect(Check(event, { ...rendered('payment.created', null), data })).toBe(false);
  }
});
