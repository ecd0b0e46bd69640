import { expect, test } from 'vitest';
import { parseDeliveryNews } from '../../src/storage/webhooks/deliveryNews.ts';

test('news name the target of a delivery, and whether somebody waits for it', () => {
  const target = { accountId: 'acct_1', environment: 'sandbox', target: 'we_1' };
  expect(parseDeliveryNews('acct_1 sandbox we_1')).toEqual({ target, isAskedFor: false });
  expect(parseDeliveryNews('acct_1 sandbox we_1 now')).toEqual({ target, isAskedFor: true });
});

test.each(['', 'acct_1', 'acct_1 sandbox', 'acct_1 sandbox ', ' sandbox we_1', 'acct_1 elsewhere we_1'])(
  'a payload that Florin does not write is no news: "%s"',
  payload => {
    expect(parseDeliveryNews(payload)).toBeNull();
  },
);
