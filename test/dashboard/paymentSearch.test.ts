import { describe, expect, test } from 'vitest';
import { startMoneyScene } from './moneyScene.ts';

const scene = await startMoneyScene();
const { dashboard, owner, calls } = scene;

const find = async (search: string, more: Record<string, string | number> = {}): Promise<string[]> =>
  (await owner.do('GET /payments', { query: { search, ...more } })).data.map(({ id }) => id);

const chair = await calls.made({ description: 'One oak CHAIR, 100 % solid', externalId: 'order_1042' });
const lamp = await calls.made({ description: 'A brass lamp', metadata: { customer: 'Grace Hopper', floor: 3 } });
const plain = await calls.made({ metadata: { note: 'Caf\u00e9 "Zur Post"', deep: { city: 'Graz' }, n: 1e30 } });
const zero = await calls.made({ metadata: { bad: 'a\u0000b' } });

describe('parts of texts', () => {
  const cases: [string, string, string[]][] = [
    ['a part of the description', 'oak', [chair.id]],
    ['another case', 'Oak Chair', [chair.id]],
    ['a part of externalId', '1042', [chair.id]],
    ['a value of the metadata', 'hopper', [lamp.id]],
    ['a quoted value, as it reads', '"zur post"', [plain.id]],
    ['a nested value', 'graz', [plain.id]],
    ['spaces around', '  brass ', [lamp.id]],
  ];
  test.each(cases)('%s finds the payment', async (_, search, ids) => {
    expect(await find(search)).toEqual(ids);
  });

  test('several payments come newest first, in pages with their total', async () => {
    const all = [plain.id, lamp.id, chair.id];
    expect(await find('a', { limit: 1, offset: 1 })).toEqual([lamp.id]);
    const { data, pagination, searched } = await owner.do('GET /payments', { query: { search: 'a' } });
    expect([data.map(({ id }) => id), pagination.total, searched]).toEqual([all, 3, null]);
  });

  test('wildcards are plain characters, names of metadata are not searched', async () => {
    expect(await find('100 %')).toEqual([chair.id]);
    expect(await find('order_1')).toEqual([chair.id]);
    for (const search of ['ord%1042', 'order-1042', 'br_ss', '\\', '%%', 'customer']) {
      expect(await find(search), search).toEqual([]);
    }
  });

  test('metadata that the database cannot read as text stops no search', async () => {
    expect(await find(zero.id)).toEqual([zero.id]);
    expect(await find('a lamp that nobody sells')).toEqual([]);
  });

  test('filters hold, and nothing of another account or environment is found', async () => {
    expect(await find('oak', { status: 'completed' })).toEqual([]);
    expect(await find('oak', { status: 'pending', from: '2020-01-01' })).toEqual([chair.id]);
    expect(await find('oak', { to: '2020-01-01' })).toEqual([]);
    const stranger = await dashboard.newPerson('owner', (await dashboard.scene.account()).id);
    expect((await stranger.do('GET /payments', { query: { search: 'oak' } })).data).toEqual([]);
    const query = { search: 'oak' };
    expect((await owner.do('GET /payments', { environment: 'production', query })).data).toEqual([]);
  });
});
