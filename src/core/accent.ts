/** Colours of a brand that can be read: shades of what was chosen, as near to it as the contrast of WCAG AA lets them. */

type Rgb = readonly [number, number, number];

const leastContrast = 4.5;
const white: Rgb = [255, 255, 255];
const black: Rgb = [0, 0, 0];

const rgbOf = (color: string): Rgb => {
  const digits = Number.parseInt(color.slice(1), 16);
  return [(digits >> 16) & 255, (digits >> 8) & 255, digits & 255];
};
const textOf = (rgb: Rgb): string => `#${rgb.map(each => each.toString(16).padStart(2, '0')).join('')}`;

const linear = (channel: number): number => {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};
const luminance = ([red, green, blue]: Rgb): number =>
  0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
const contrast = (one: Rgb, other: Rgb): number => {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
};
const mixed = (color: Rgb, other: Rgb, percent: number): Rgb =>
  color.map((channel, i) => Math.round(channel + ((other[i]! - channel) * percent) / 100)) as unknown as Rgb;

export type Shades = {
  /** For links, buttons and marks. */
  readonly accent: string;
  /** Black or white, whichever is read better on it. */
  readonly onAccent: string;
  /** A ground on which the accent can be read. */
  readonly soft: string;
};

/** The grounds of the page: see checkout.css. */
const schemes = {
  light: { card: rgbOf('#ffffff'), page: rgbOf('#f3f5f8'), towards: black },
  dark: { card: rgbOf('#181b21'), page: rgbOf('#0e1014'), towards: white },
} as const;
const softPercent = 92;

/** At the end of the way is black or white, which is read on all of these grounds. */
const shadesOn = (color: Rgb, { card, page, towards }: (typeof schemes)['light' | 'dark']): Shades => {
  for (let percent = 0; ; percent++) {
    const accent = mixed(color, towards, percent);
    const soft = mixed(accent, card, softPercent);
    const isRead = [card, page, soft].every(ground => contrast(accent, ground) >= leastContrast);
    if (!isRead && percent < 100) continue;
    const onAccent = contrast(accent, white) >= contrast(accent, black) ? white : black;
    return { accent: textOf(accent), onAccent: textOf(onAccent), soft: textOf(soft) };
  }
};

export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/.test(text);

export const shadesOf = (color: string): { light: Shades; dark: Shades } => ({
  light: shadesOn(rgbOf(color), schemes.light),
  dark: shadesOn(rgbOf(color), schemes.dark),
});
