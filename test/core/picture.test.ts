import { describe, expect, test } from 'vitest';
import { readPicture } from '../../src/core/picture.ts';
import { jpeg, png, webps } from './pictures.ts';

describe('a picture is told by its first bytes, with its size', () => {
  test('PNG', () => expect(readPicture(png(300, 120))).toEqual({ kind: 'png', width: 300, height: 120 }));
  test('JPEG', () => expect(readPicture(jpeg(640, 480))).toEqual({ kind: 'jpg', width: 640, height: 480 }));
  test.each(Object.entries(webps))('WebP, %s', (_, make) => {
    expect(readPicture(make(511, 257))).toEqual({ kind: 'webp', width: 511, height: 257 });
  });
  test('a PNG that would unpack to more than memory holds', () => {
    expect(readPicture(png(0xffffffff, 0xffffffff))).toEqual({ kind: 'png', width: 0xffffffff, height: 0xffffffff });
  });
});

const others: readonly (readonly [string, Buffer])[] = [
  ['nothing', Buffer.alloc(0)],
  ['a vector graphic', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
  ['a page', Buffer.from(`<!doctype html>${' '.repeat(100)}`)],
  ['a GIF', Buffer.from(`GIF89a${'\0'.repeat(100)}`, 'latin1')],
  ['a PNG without its head', png(1, 1).subarray(0, 20)],
  ['a JPEG whose segments lead nowhere', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, ...Array(40).fill(0)])],
  ['a JPEG without a frame', Buffer.from([0xff, 0xd8, 0xff, 0xd9, ...Array(40).fill(0)])],
  ['a WAV', Buffer.from(`RIFF\0\0\0\0WAVEfmt ${'\0'.repeat(60)}`, 'latin1')],
  ['a WebP of no known kind', Buffer.from(`RIFF\0\0\0\0WEBPVP9 ${'\0'.repeat(60)}`, 'latin1')],
];
test.each(others)('%s is no picture', (_, bytes) => expect(readPicture(bytes)).toBe(null));
