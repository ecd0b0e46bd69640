import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { languages } from '../../src/checkout/languages.ts';
import { renderMain } from '../../src/checkout/page.ts';
import { qrCode } from '../../src/checkout/qrCode.ts';
import { markupOf } from '../../src/core/html.ts';
import { address, nowMs, viewIn } from './checkoutViews.ts';
import { type Element, elementsOf, find, parseMarkup } from './markup.ts';

const { default: readCode } = createRequire(import.meta.url)('jsqr') as typeof import('jsqr');
const scale = 4;

/** Draws the path: each line is a run of dark modules. */
const modulesOf = (svg: Element): boolean[][] => {
  const size = Number(svg.attributes.get('viewBox')!.split(' ')[2]);
  const modules = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  const path = find(svg, ({ name }) => name === 'path').attributes.get('d')!;
  let [x, y] = [0, 0];
  for (const [, command, first, second] of path.matchAll(/([Mmh])([\d.]+)(?: ([\d.]+))?/g)) {
    if (command === 'M') [x, y] = [Number(first), Math.floor(Number(second))];
    if (command === 'm') x += Number(first);
    if (command === 'h') for (const end = x + Number(first); x < end; x++) modules[y]![x] = true;
  }
  return modules;
};

const decode = (svg: Element): string | undefined => {
  const modules = modulesOf(svg);
  const width = modules.length * scale;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (let y = 0; y < width; y++)
    for (let x = 0; x < width; x++)
      if (modules[Math.floor(y / scale)]![Math.floor(x / scale)])
        pixels.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  return readCode(pixels, width, width)?.data;
};

const codeOf = (main: string, kind: string): Element => {
  const figure = find(parseMarkup(main), ({ attributes }) => attributes.get('data-code') === kind);
  return find(figure, ({ name }) => name === 'svg');
};

test.each(['waiting', 'underpaid'] as const)(
  'both codes of a payment that is %s hold exactly what they should',
  state => {
    const view = viewIn(state);
    const main = renderMain(view, { language: languages[0]!, nowMs });
    expect(decode(codeOf(main, 'request'))).toBe(view.paymentUri);
    expect(decode(codeOf(main, 'address'))).toBe(address);
  },
);

test('the codes of an underpaid payment ask for the remainder', () => {
  const main = renderMain(viewIn('underpaid'), { language: languages[0]!, nowMs });
  expect(decode(codeOf(main, 'request'))).toMatch(/&uint256=5000001$/);
});

test('a code has four white modules around it, on a white tile', () => {
  const svg = find(parseMarkup(markupOf(qrCode(address, 'code'))), ({ name }) => name === 'svg');
  const modules = modulesOf(svg);
  const size = modules.length;
  const isDark = (from: number, to: number): boolean =>
    modules.some((row, y) => row.some((dark, x) => dark && [x, y].some(at => at >= from && at < to)));
  expect(isDark(0, 4)).toBe(false);
  expect(isDark(size - 4, size)).toBe(false);
  const tile = elementsOf(svg).find(({ name }) => name === 'rect')!;
  expect(Object.fromEntries(tile.attributes)).toEqual({ width: `${size}`, height: `${size}`, fill: '#fff' });
});

test('any address and any amount can be read back', () => {
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 40, maxLength: 40 });
  const request = fc.tuple(hex, hex, fc.nat(), fc.bigInt(1n, 10n ** 48n));
  fc.assert(
    fc.property(request, ([contract, to, chainId, units]) => {
      const uri = `ethereum:0x${contract}@${chainId}/transfer?address=0x${to}&uint256=${units}`;
      for (const text of [uri, `0x${to}`]) {
        const svg = find(parseMarkup(markupOf(qrCode(text, 'code'))), ({ name }) => name === 'svg');
        expect(decode(svg)).toBe(text);
      }
    }),
    { numRuns: 30 },
  );
});
