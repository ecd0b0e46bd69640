/** The same limits as on the server, so that a wrong file is refused before it is sent. */
const mostBytes = 65_536;
const mostPixels = 2_048;
export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;

const readDataUrl = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error('This file could not be read.'));
    reader.readAsDataURL(file);
  });

const sizeOf = (dataUrl: string): Promise<{ width: number; height: number }> =>
  new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve({ width: image.naturalWidth, height: image.naturalHeight });
    image.onerror = () => reject(new Error('Browsers cannot show this file as a picture.'));
    image.src = dataUrl;
  });

/** Returns the file as a data: URL. Throws an error whose message says what is wrong with it. */
export const readLogo = async (file: File): Promise<string> => {
  if (!(logoTypes as readonly string[]).includes(file.type)) throw new Error('Choose a PNG, JPEG or WebP picture.');
  if (file.size > mostBytes)
    throw new Error(`The picture has ${Math.ceil(file.size / 1024)} KiB. The limit is 64 KiB.`);
  const dataUrl = await readDataUrl(file);
  const { width, height } = await sizeOf(dataUrl);
  if (Math.max(width, height) > mostPixels)
    throw new Error(`The picture has ${width} × ${height} pixels. The limit is ${mostPixels} × ${mostPixels}.`);
  return dataUrl;
};
