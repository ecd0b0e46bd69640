import { type Shades, shadesOf } from '../core/accent.ts';
import type { Brand } from '../core/checkoutView.ts';
import { pictureTypes } from '../core/picture.ts';
import { createRecentMap } from '../core/recentMap.ts';
import { type Asset, type CheckoutAssets, namedAsset } from './assets.ts';
import type { Frame } from './frame.ts';

const variables = ({ accent, onAccent, soft }: Shades): string =>
  `:root{--accent:${accent};--on-accent:${onAccent};--accent-soft:${soft}}`;

/** For screens only: printed pages use black. */
const accentRules = (accent: string): string => {
  const { light, dark } = shadesOf(accent);
  return `@media screen{${variables(light)}}@media screen and (prefers-color-scheme:dark){${variables(dark)}}`;
};

/** As large as the letter it replaces, so that nothing moves when it has loaded. */
const logoRules =
  '.logo{flex:none;width:2.25rem;height:2.25rem;border-radius:.375rem;object-fit:contain;background:#fff}';

const keptBytes = 2 * 1024 * 1024;
const kept = createRecentMap<Asset>(keptBytes, (_, { body }) => body.length);

/**
 * The style sheet of the page with the rules of a brand at its end. One file, because a second one would be another
 * request. It is derived from the colour in its name, so nothing is stored or looked up.
 */
const brandStyle = (assets: Pick<CheckoutAssets, 'css'>, accent: string | null): Asset => {
  const stem = `brand-${accent?.slice(1) ?? 'none'}`;
  const key = `${stem} ${assets.css.name}`;
  const known = kept.get(key);
  if (known) return known;
  const rules = `${accent === null ? '' : accentRules(accent)}${logoRules}\n`;
  const made = namedAsset(stem, 'css', assets.css.contentType, assets.css.body.toString() + rules);
  kept.set(key, made);
  return made;
};

/** A style sheet by its name; null for a name that no current page uses. */
export const findBrandStyle = (assets: Pick<CheckoutAssets, 'css'>, name: string): Asset | null => {
  const color = /^brand-([0-9a-f]{6}|none)-[0-9a-f]{16}\.css$/.exec(name)?.[1];
  if (color === undefined) return null;
  const style = brandStyle(assets, color === 'none' ? null : `#${color}`);
  return style.name === name ? style : null;
};

/** Null if the name is not that of a logo. */
export const logoTypeOf = (name: string): string | null => {
  const kind = /^logo-[0-9a-f]{32}\.(png|jpg|webp)$/.exec(name)?.[1] as keyof typeof pictureTypes | undefined;
  return kind === undefined ? null : pictureTypes[kind];
};

/** The files of a page. A logo is also the icon, so that a branded page loads no more files than another. */
export const brandedAssets = (assets: CheckoutAssets, brand?: Brand): Frame['assets'] => {
  const { script, css, icon } = assets;
  if (!brand) return { script, css: css.name, icon };
  const { accent, logo } = brand;
  return {
    script,
    css: brandStyle(assets, accent).name,
    icon: logo === null ? icon : { name: logo, contentType: logoTypeOf(logo)! },
  };
};
