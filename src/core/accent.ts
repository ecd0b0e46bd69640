/** Readable brand colours: the shades closest to the chosen colour that reach the contrast of WCAG AA. */

type Rgb = readonly [number, number, number];

const minContrast = 4.5;
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
  /** Black or white: the one with the higher contrast on the accent. */
  readonly onAccent: string;
  /** A background on which the accent is readable. */
  readonly soft: string;
};

/** The page's background colours, as in checkout.css. */
const schemes = {
  light: { card: rgbOf('#ffffff'), page: rgbOf('#f3f5f8'), towards: black },
  dark: { card: rgbOf('#181b21'), page: rgbOf('#0e1014'), towards: white },
} as const;
const softPercent = 92;

/** At 100 percent the accent is black or white, which is readable on every background, so the loop ends. */
const shadesOn = (color: Rgb, { card, page, towards }: (typeof schemes)['light' | 'dark']): Shades => {
  for (let percent = 0; ; percent++) {
    const accent = mixed(color, towards, percent);
    const soft = mixed(accent, card, softPercent);
    const isReadable = [card, page, soft].every(background => contrast(accent, background) >= minContrast);
    if (!isReadable && percent < 100) continue;
    const onAccent = contrast(accent, white) >= contrast(accent, black) ? white : black;
    return { accent: textOf(accent), onAccent: textOf(onAccent), soft: textOf(soft) };
  }
};

export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/.test(text);

export const shadesOf = (color: string): { light: Shades; dark: Shades } => ({
  light: shadesOn(rgbOf(color), schemes.light),
  dark: shadesOn(rgbOf(color), schemes.dark),
});
