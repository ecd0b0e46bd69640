import { createHash } from 'node:crypto';
import { isColor } from '../../core/accent.ts';
import type { Branding } from '../../core/dashboard/setupApi.ts';
import { invalid } from '../../core/errors.ts';
import { pictureTypes, readPicture } from '../../core/picture.ts';
import type { SettingsRow } from '../../storage/settings.ts';

const maxLogoBytes = 65_536;
/** More than any screen shows of it; a small file can unpack to a picture that fills a phone's memory. */
const maxLogoPixels = 2_048;
const maxNameLength = 200;
const hashLength = 32;

type BrandColumns = Pick<SettingsRow, 'brandName' | 'brandAccent' | 'brandLogo' | 'brandLogoName'>;

/** Characters that turn the direction of what follows, or that nobody sees, would let a name pass for another. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

export const readName = (param: string, given: string): string => {
  const name = given.trim();
  if (name === '') throw invalid(param, 'Give at least one letter.');
  if ([...name].length > maxNameLength) throw invalid(param, `At most ${maxNameLength} characters are possible.`);
  if (unseen.test(name)) throw invalid(param, 'Leave out characters that cannot be seen.');
  return name;
};

const readAccent = (given: string): string => {
  const color = given.toLowerCase();
  if (!isColor(color)) throw invalid('branding.accentColor', 'Write the colour as # and six hexadecimal digits.');
  return color;
};

const noPicture = (why: string) => invalid('branding.logo', why);

const bytesOf = (dataUrl: string): Buffer => {
  const base64 = /^data:image\/(?:png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(dataUrl)?.[1];
  if (base64 === undefined) throw noPicture('The logo must be a PNG, JPEG or WebP picture.');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > maxLogoBytes) throw noPicture('The logo may have at most 64 KiB.');
  return bytes;
};

/** By what it is, whatever it was called. */
const readLogo = (dataUrl: string): Pick<BrandColumns, 'brandLogo' | 'brandLogoName'> => {
  const brandLogo = bytesOf(dataUrl);
  const picture = readPicture(brandLogo);
  if (!picture) throw noPicture('The logo must be a PNG, JPEG or WebP picture.');
  const { kind, width, height } = picture;
  if (Math.min(width, height) < 1 || Math.max(width, height) > maxLogoPixels) {
    throw noPicture(`The logo may be at most ${maxLogoPixels} pixels wide and high.`);
  }
  const hash = createHash('sha256').update(brandLogo).digest('hex').slice(0, hashLength);
  return { brandLogo, brandLogoName: `logo-${hash}.${kind}` };
};

/** What is named; the rest stays as it is. Null takes a part back. */
export const brandColumns = ({ displayName, accentColor, logo }: Partial<Branding>): Partial<BrandColumns> => ({
  ...(displayName !== undefined && {
    brandName: displayName === null ? null : readName('branding.displayName', displayName),
  }),
  ...(accentColor !== undefined && { brandAccent: accentColor === null ? null : readAccent(accentColor) }),
  ...(logo !== undefined && (logo === null ? { brandLogo: null, brandLogoName: null } : readLogo(logo))),
});

const logoType = (name: string): string => pictureTypes[name.split('.').at(-1) as keyof typeof pictureTypes];

export const shownBranding = ({ brandName, brandAccent, brandLogo, brandLogoName }: BrandColumns): Branding => ({
  displayName: brandName,
  accentColor: brandAccent,
  logo: brandLogo && `data:${logoType(brandLogoName!)};base64,${brandLogo.toString('base64')}`,
});
