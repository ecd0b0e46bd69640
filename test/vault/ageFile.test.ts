import { randomBytes } from 'node:crypto';
import { Decrypter, Encrypter } from 'age-encryption';
import { expect, test } from 'vitest';
import { joinBytes } from '../../src/core/byteReader.ts';
import {
  type AgeKey,
  type AgeLock,
  decryptAge,
  encryptAge,
  makeIdentity,
  parseIdentities,
} from '../../src/vault/ageFile.ts';

const passphrase = 'a quiet river at noon';

const all = async (source: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.from(joinBytes(parts));
};
/** In pieces that do not fit the chunks of the format. */
async function* pieces(bytes: Uint8Array, size = 10_007) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const keysOf = async (): Promise<{ lock: AgeLock; key: AgeKey; identity: string; recipient: string }> => {
  const { identity, recipient } = await makeIdentity();
  return {
    lock: { kind: 'recipients', recipients: [recipient] },
    key: { kind: 'identities', identities: [identity] },
    identity,
    recipient,
  };
};

test.each([0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])(
  'the package of age reads what Florin writes, and the other way round: %i bytes',
  async size => {
    const { lock, key, identity, recipient } = await keysOf();
    const plain = randomBytes(size);
    const ours = await all(encryptAge(lock, pieces(plain)));
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    expect(Buffer.from(await decrypter.decrypt(ours)).equals(plain)).toBe(true);
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    const theirs = await encrypter.encrypt(plain);
    expect((await all(decryptAge(key, pieces(theirs)))).equals(plain)).toBe(true);
    expect((await all(decryptAge(key, pieces(ours, 7)))).equals(plain)).toBe(true);
  },
);

test('a passphrase works in both directions, and only the right one', { tags: ['thorough'] }, async () => {
  const ours = await all(encryptAge({ kind: 'passphrase', passphrase }, pieces(Buffer.from('ours'))));
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  expect(await decrypter.decrypt(ours, 'text')).toBe('ours');
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  encrypter.setScryptWorkFactor(12);
  const theirs = await encrypter.encrypt('theirs');
  expect((await all(decryptAge({ kind: 'passphrase', passphrase }, pieces(theirs)))).toString()).toBe('theirs');
  const open = (key: AgeKey) => all(decryptAge(key, pieces(theirs)));
  await expect(open({ kind: 'passphrase', passphrase: 'another' })).rejects.toThrow('the passphrase is wrong');
  await expect(open((await keysOf()).key)).rejects.toThrow('encrypted with a passphrase');
});

test('another identity, and a passphrase instead of one, are told apart', async () => {
  const { lock } = await keysOf();
  const file = await all(encryptAge(lock, pieces(Buffer.from('x'))));
  await expect(all(decryptAge((await keysOf()).key, pieces(file)))).rejects.toThrow('not the one it was encrypted for');
  await expect(all(decryptAge({ kind: 'passphrase', passphrase }, pieces(file)))).rejects.toThrow('with a public key');
});

test('every flipped bit is found, and every cut', { tags: ['thorough'] }, async () => {
  const { lock, key } = await keysOf();
  const file = await all(encryptAge(lock, pieces(Buffer.from('something short'))));
  const unnoticed: string[] = [];
  const isRead = (bytes: Uint8Array) =>
    all(decryptAge(key, pieces(bytes))).then(
      () => true,
      () => false,
    );
  for (let at = 0; at < file.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const changed = Buffer.from(file);
      changed[at]! ^= 1 << bit;
      if (await isRead(changed)) unnoticed.push(`bit ${bit} of byte ${at}`);
    }
    if (await isRead(file.subarray(0, at))) unnoticed.push(`cut at ${at}`);
  }
  expect(unnoticed).toEqual([]);
  expect(await isRead(file)).toBe(true);
});

test('a file that ends between two chunks is noticed', async () => {
  const { lock, key } = await keysOf();
  const file = await all(encryptAge(lock, pieces(randomBytes(3 * 65_536))));
  const cut = file.subarray(0, file.length - 65_536 - 16);
  await expect(all(decryptAge(key, pieces(cut)))).rejects.toThrow('damaged');
});

test('a file of identities has one, and no secret is in the message about another', async () => {
  const { identity, recipient } = await makeIdentity();
  expect(parseIdentities(`# public key: ${recipient}\n${identity}\n`)).toEqual([identity]);
  expect(() => parseIdentities('# nothing\n')).toThrow('empty');
  const mistyped = `${identity.slice(0, -1)}!`;
  expect(() => parseIdentities(mistyped)).toThrow(/^(?!.*!).*AGE-SECRET-KEY-1/);
});
