import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isColor, shadesOf } from '../../src/core/accent.ts';
import { rounds } from '../support/rounds.ts';

/** The formula of WCAG 2. */
const luminance = (color: string): number => {
  const [red, green, blue] = [1, 3, 5].map(at => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (one: string, other: string): number => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
};

const grounds = { light: ['#ffffff', '#f3f5f8'], dark: ['#181b21', '#0e1014'] } as const;
const anyColor = fc.integer({ min: 0, max: 0xffffff }).map(value => `#${value.toString(16).padStart(6, '0')}`);

describe('the shades of a colour', () => {
  test('can be read on every ground of the page, and black or white on them', () => {
    fc.assert(
      fc.property(anyColor, color => {
        const shades = shadesOf(color);
        for (const scheme of ['light', 'dark'] as const) {
          const { accent, onAccent, soft } = shades[scheme];
          for (const ground of [...grounds[scheme], soft, onAccent]) {
            expect(contrast(accent, ground), `${accent} on ${ground}`).toBeGreaterThanOrEqual(4.5);
          }
          expect(['#000000', '#ffffff']).toContain(onAccent);
        }
      }),
      { numRuns: rounds(50, 300) },
    );
  });

  test('are the colour itself where that can be read', () => {
    expect(shadesOf('#2450c8').light).toEqual({ accent: '#2450c8', onAccent: '#ffffff', soft: expect.any(String) });
    expect(shadesOf('#9dbbff').dark).toEqual({ accent: '#9dbbff', onAccent: '#000000', soft: expect.any(String) });
  });

  test('are as near to the colour as can be read', () => {
    const channels = (color: string): number[] => [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16));
    const textOf = (rgb: readonly number[]): string =>
      `#${rgb.map(each => each.toString(16).padStart(2, '0')).join('')}`;
    const mix = (color: string, other: string, percent: number): string => {
      const [from, to] = [channels(color), channels(other)];
      return textOf(from.map((channel, i) => Math.round(channel + ((to[i]! - channel) * percent) / 100)));
    };
    const nearest = (color: string, scheme: 'light' | 'dark'): string => {
      const [card, page] = grounds[scheme];
      for (let percent = 0; ; percent++) {
        const shade = mix(color, scheme === 'light' ? '#000000' : '#ffffff', percent);
        if ([card, page, mix(shade, card, 92)].every(ground => contrast(shade, ground) >= 4.5)) return shade;
      }
    };
    // Nearly black: their channels are on the straight part of the curve.
    const dark = fc.tuple(fc.nat(10), fc.nat(10), fc.nat(10)).map(textOf);
    fc.assert(
      fc.property(fc.oneof(anyColor, dark), color => {
        for (const scheme of ['light', 'dark'] as const) {
          expect(shadesOf(color)[scheme].accent, color).toBe(nearest(color, scheme));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('are darker or lighter where it cannot', () => {
    expect(luminance(shadesOf('#ffe600').light.accent)).toBeLessThan(luminance('#ffe600'));
    expect(luminance(shadesOf('#10104a').dark.accent)).toBeGreaterThan(luminance('#10104a'));
  });
});

test('a colour is # and six lower-case hexadecimal digits, and nothing that could end a rule', () => {
  for (const color of ['#000000', '#9dbbff']) expect(isColor(color), color).toBe(true);
  for (const other of [
    '',
    '#fff',
    '#FFFFFF',
    'red',
    '#9dbbf',
    '#9dbbff ',
    '#9dbbff\n',
    '#9dbbff;}',
    'x#9dbbff',
    '#gggggg',
  ]) {
    expect(isColor(other), other).toBe(false);
  }
});
