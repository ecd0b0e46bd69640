import { createHash } from 'node:crypto';
import { isColor } from '../../core/accent.ts';
import type { Branding } from '../../core/api/setupApi.ts';
import { invalid } from '../../core/errors.ts';
import { pictureTypes, readPicture } from '../../core/picture.ts';
import type { SettingsRow } from '../../storage/access/settings.ts';

const maxLogoBytes = 65_536;
/** Enough for any screen. A small file can unpack to an image that fills a phone's memory. */
const maxLogoPixels = 2_048;
const maxNameLength = 200;
const hashLength = 32;

type BrandColumns = Pick<SettingsRow, 'brandName' | 'brandAccent' | 'brandLogo' | 'brandLogoName'>;

/** Invisible characters and direction marks could make a name look like another. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

export const readName = (param: string, given: string): string => {
  const name = given.trim();
  if (name === '') throw invalid(param, 'Enter at least one character.');
  if ([...name].length > maxNameLength) throw invalid(param, `Enter at most ${maxNameLength} characters.`);
  if (invisible.test(name)) throw invalid(param, 'Remove characters that cannot be seen.');
  return name;
};

const readAccent = (given: string): string => {
  const color = given.toLowerCase();
  if (!isColor(color)) throw invalid('branding.accentColor', 'The colour must be # and six hexadecimal digits.');
  return color;
};

const invalidLogo = (why: string) => invalid('branding.logo', why);

const bytesOf = (dataUrl: string): Buffer => {
  const base64 = /^data:image\/(?:png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(dataUrl)?.[1];
  if (base64 === undefined) throw invalidLogo('The logo must be a PNG, JPEG or WebP picture.');
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > maxLogoBytes) throw invalidLogo('The logo must have at most 64 KiB.');
  return bytes;
};

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, hashLength);

/** Checks the content, not the declared type. */
const readLogo = (dataUrl: string): Pick<BrandColumns, 'brandLogo' | 'brandLogoName'> => {
  const brandLogo = bytesOf(dataUrl);
  const picture = readPicture(brandLogo);
  if (!picture) throw invalidLogo('The logo must be a PNG, JPEG or WebP picture.');
  const { kind, width, height } = picture;
  if (Math.min(width, height) < 1 || Math.max(width, height) > maxLogoPixels) {
    throw invalidLogo(`The logo must be at most ${maxLogoPixels} pixels wide and high.`);
  }
  return { brandLogo, brandLogoName: `logo-${hashOf(brandLogo)}.${kind}` };
};

/** Whether these are the bytes that were stored under the name: the name has their hash. */
export const isLogoOf = (name: string, bytes: Buffer): boolean => name.startsWith(`logo-${hashOf(bytes)}.`);

/** Columns of the given fields; the rest stays as it is. Null removes a field. */
export const brandColumns = ({ displayName, accentColor, logo }: Partial<Branding>): Partial<BrandColumns> => ({
  ...(displayName !== undefined && {
    brandName: displayName === null ? null : readName('branding.displayName', displayName),
  }),
  ...(accentColor !== undefined && { brandAccent: accentColor === null ? null : readAccent(accentColor) }),
  ...(logo !== undefined && (logo === null ? { brandLogo: null, brandLogoName: null } : readLogo(logo))),
});

const logoType = (name: string): string => pictureTypes[name.split('.').at(-1) as keyof typeof pictureTypes];

export const brandingObject = ({ brandName, brandAccent, brandLogo, brandLogoName }: BrandColumns): Branding => ({
  displayName: brandName,
  accentColor: brandAccent,
  logo:
    brandLogo && isLogoOf(brandLogoName!, brandLogo)
      ? `data:${logoType(brandLogoName!)};base64,${brandLogo.toString('base64')}`
      : null,
});
