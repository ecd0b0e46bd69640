import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createIdSource, firstIdAt, type IdKind, idPrefixes, isId, lastIdAt } from '../../src/core/ids.ts';
import { timeOfId } from '../support/timeOfId.ts';

const random40 = (): number => randomInt(2 ** 40);
const kinds = Object.keys(idPrefixes) as IdKind[];
const now = Date.UTC(2026, 0, 31, 12);
const latest = 2 ** 48 - 1;

describe('an id', () => {
  test.each(kinds)('of kind %s has its prefix and 26 characters of lower-case Crockford base32', kind => {
    const { id } = createIdSource(random40).next(kind, now);
    expect(id).toMatch(new RegExp(`^${idPrefixes[kind]}[0-9a-hjkmnp-tv-z]{26}$`));
    expect(isId(kind, id)).toBe(true);
  });

  test('prefixes are as documented, and none begins another', () => {
    expect(idPrefixes).toMatchObject({
      payment: 'pay_',
      endpoint: 'we_',
      event: 'evt_',
      delivery: 'dlv_',
      key: 'key_',
      account: 'acct_',
    });
    const prefixes = Object.values(idPrefixes);
    for (const a of prefixes) for (const b of prefixes) if (a !== b) expect(a.startsWith(b)).toBe(false);
  });

  test('carries its millisecond, from the first to the last of 48 bits', () => {
    for (const ms of [0, 1, 31, 32, now, latest]) {
      const { id } = createIdSource(random40).next('payment', ms);
      expect(timeOfId('payment', id)).toBe(ms);
    }
    fc.assert(
      fc.property(fc.integer({ min: 0, max: latest }), ms => {
        expect(timeOfId('event', createIdSource(random40).next('event', ms).id)).toBe(ms);
      }),
    );
  });

  test('spells known bits in the known way', () => {
    const bits = [0x0123456789, 0xfedcba9876];
    let at = 0;
    const { id } = createIdSource(() => bits[at++]!).next('payment', 1_469_918_176_385);
    // The example of the ULID specification for this instant is 01ARYZ6S41.
    expect(id).toBe('pay_01aryz6s41' + '04hmasw9' + 'zvebn63p');
  });
});

describe('an id source', () => {
  test('gives strictly climbing ids, within one millisecond and across many', () => {
    const ids = createIdSource(random40);
    let last = '';
    for (let i = 0; i < 20_000; i++) {
      const { id } = ids.next('payment', now + Math.floor(i / 5_000));
      expect(id > last).toBe(true);
      last = id;
    }
  });

  test('says the millisecond that the id carries', () => {
    const ids = createIdSource(random40);
    for (const ms of [now, now, now + 5, now + 5]) {
      const next = ids.next('payment', ms);
      expect(next.ms).toBe(ms);
      expect(timeOfId('payment', next.id)).toBe(ms);
    }
  });

  test('goes on from its latest millisecond when the clock goes back', () => {
    const ids = createIdSource(random40);
    const first = ids.next('payment', now);
    const second = ids.next('payment', now - 60_000);
    expect(second.ms).toBe(now);
    expect(second.id > first.id).toBe(true);
  });

  test('moves to the next millisecond when the random part is used up', () => {
    const ids = createIdSource(() => 2 ** 40 - 1);
    const first = ids.next('payment', now);
    const second = ids.next('payment', now);
    expect(first.ms).toBe(now);
    expect(second.ms).toBe(now + 1);
    expect(timeOfId('payment', second.id)).toBe(now + 1);
    expect(second.id > first.id).toBe(true);
    expect(isId('payment', second.id)).toBe(true);
  });

  test('carries over from the low half of the random part into the high', () => {
    const bits = [5, 2 ** 40 - 1, 0];
    let at = 0;
    const ids = createIdSource(() => bits[Math.min(at++, 2)]!);
    const [first, second] = [ids.next('payment', now), ids.next('payment', now)];
    expect(first.id.slice(14)).toBe('00000005zzzzzzzz');
    expect(second.id.slice(14)).toBe('0000000600000000');
  });

  test('within a millisecond steps by at most 2^32', () => {
    const bits = [0, 0, 2 ** 40 - 1];
    let at = 0;
    const ids = createIdSource(() => bits[at++]!);
    const [first, second] = [ids.next('payment', now), ids.next('payment', now)];
    expect([first.id.slice(14), second.id.slice(14)]).toEqual(['0000000000000000', '0000000004000000']);
  });

  test('within a millisecond steps by a random distance, so that a neighbour is not a guess away', () => {
    const ids = createIdSource(random40);
    const steps = new Set<string>();
    let previous = BigInt(`0x${Buffer.from(ids.next('payment', now).id).toString('hex')}`);
    for (let i = 0; i < 50; i++) {
      const value = BigInt(`0x${Buffer.from(ids.next('payment', now).id).toString('hex')}`);
      steps.add((value - previous).toString());
      previous = value;
    }
    expect(steps.size).toBeGreaterThan(45);
  });
});

describe('the range of a millisecond', () => {
  test('holds every id of it and none of its neighbours', () => {
    const ids = createIdSource(random40);
    for (const ms of [now - 1, now, now + 1]) {
      const { id } = ids.next('payment', ms);
      expect(id >= firstIdAt('payment', now) && id <= lastIdAt('payment', now)).toBe(ms === now);
    }
    expect(lastIdAt('payment', now) < firstIdAt('payment', now + 1)).toBe(true);
  });

  test('ends with ids that are ids themselves', () => {
    for (const ms of [0, now, latest]) {
      expect(isId('payment', firstIdAt('payment', ms))).toBe(true);
      expect(isId('payment', lastIdAt('payment', ms))).toBe(true);
      expect(timeOfId('payment', firstIdAt('payment', ms))).toBe(ms);
      expect(timeOfId('payment', lastIdAt('payment', ms))).toBe(ms);
    }
  });
});

test.each([
  '', 'pay_', 'pay', '01k3zjpkq8e5d0v6m0f1x2y3z4', 'pay_01k3zjpkq8e5d0v6m0f1x2y3z', 'pay_01k3zjpkq8e5d0v6m0f1x2y3z44',
  'pay_01K3ZJPKQ8E5D0V6M0F1X2Y3Z4', 'pay_i1k3zjpkq8e5d0v6m0f1x2y3z4', 'pay_0lk3zjpkq8e5d0v6m0f1x2y3z4',
  'pay_0ok3zjpkq8e5d0v6m0f1x2y3z4', 'pay_0uk3zjpkq8e5d0v6m0f1x2y3z4', 'pay_81k3zjpkq8e5d0v6m0f1x2y3z4',
  'we_01k3zjpkq8e5d0v6m0f1x2y3z4', ' pay_01k3zjpkq8e5d0v6m0f1x2y3z4', 'pay_01k3zjpkq8e5d0v6m0f1x2y3z4\n',
])('%j is no payment id', text => {
  expect(isId('payment', text)).toBe(false);
}); // biome-ignore format: one list
