import { describe, expect, test } from 'vitest';
import { readPicture } from '../../src/core/picture.ts';
import { jpeg, png, webps } from './pictures.ts';

describe('a picture is told by its first bytes, with its size', () => {
  test('PNG', () => expect(readPicture(png(300, 120))).toEqual({ kind: 'png', width: 300, height: 120 }));
  test('JPEG', () => expect(readPicture(jpeg(640, 480))).toEqual({ kind: 'jpg', width: 640, height: 480 }));
  test.each(Object.entries(webps))('WebP, %s', (_, make) => {
    expect(readPicture(make(511, 258))).toEqual({ kind: 'webp', width: 511, height: 258 });
  });
  test('a PNG that would unpack to more than memory holds', () => {
    expect(readPicture(png(0xffffffff, 0xffffffff))).toEqual({ kind: 'png', width: 0xffffffff, height: 0xffffffff });
  });
});

/** A JPEG of one segment after its first two bytes. */
const segment = (marker: number, length = 17): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, marker, 0, length, 8, 0, 48, 0, 64]), Buffer.alloc(20)]);

describe('the frame of a JPEG', () => {
  test.each([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xcb, 0xcd, 0xcf])('begins with marker %i', marker => {
    expect(readPicture(segment(marker))).toEqual({ kind: 'jpg', width: 64, height: 48 });
  });
  test.each([0xbf, 0xc4, 0xc8, 0xcc, 0xd0])('does not begin with marker %i', marker => {
    expect(readPicture(segment(marker))).toBeNull();
  });
  test('is found after a segment that is as short as can be', () => {
    const empty = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2]);
    expect(readPicture(Buffer.concat([empty, segment(0xc0).subarray(2)]))).toMatchObject({ width: 64, height: 48 });
    empty[5] = 1;
    expect(readPicture(Buffer.concat([empty, Buffer.from([0xff]), segment(0xc0).subarray(2)]))).toBeNull();
  });
  test('is looked for where a segment ends, and nowhere else', () => {
    const gap = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2, 0]);
    expect(readPicture(Buffer.concat([gap, segment(0xc0).subarray(2)]))).toBeNull();
    expect(readPicture(Buffer.concat([Buffer.from([0xff, 0xd8, 0]), segment(0xc0).subarray(3)]))).toBeNull();
  });
  test('has its size before the end', () => {
    const whole = segment(0xc0);
    expect(readPicture(whole.subarray(0, 12))).toMatchObject({ width: 64 });
    for (let length = 0; length < 12; length++) expect(readPicture(whole.subarray(0, length))).toBeNull();
  });
});

/** With one byte changed. */
const spoiled = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
};

test('a picture is none once a byte of its signature differs, or what holds its size is cut off', () => {
  for (const at of [0, 1, 2, 3, 4, 5, 6, 7, 12, 15]) expect(readPicture(spoiled(png(1, 1), at)), `${at}`).toBeNull();
  for (const at of [0, 1]) expect(readPicture(spoiled(jpeg(1, 1), at)), `${at}`).toBeNull();
  for (const make of Object.values(webps)) {
    for (const at of [0, 3, 8, 11]) expect(readPicture(spoiled(make(1, 1), at)), `${at}`).toBeNull();
    expect(readPicture(make(9, 9).subarray(0, 29))).toBeNull();
    expect(readPicture(make(9, 9).subarray(0, 30))).toMatchObject({ width: 9, height: 9 });
  }
  expect(readPicture(png(1, 1).subarray(0, 32))).toBeNull();
  expect(readPicture(png(1, 1).subarray(0, 33))).toMatchObject({ width: 1, height: 1 });
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
