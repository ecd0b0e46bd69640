import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

type Json = Record<string, unknown>;
/** What an honest one would not do. */
export type Deviation = {
  origin?: string;
  challenge?: string;
  rpId?: string;
  /** Nobody was asked for a finger or a PIN. */
  unverified?: boolean;
  counter?: number;
  userHandle?: string;
};

const flags = { present: 0x01, verified: 0x04, attested: 0x40 };

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

const cborBytes = (bytes: Buffer): Buffer => {
  const head = Buffer.alloc(3);
  head.writeUInt8(0x59, 0);
  head.writeUInt16BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
};
const cborText = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);

/** The public key in the form that authenticators send: COSE, P-256 with SHA-256. */
const coseKey = (publicKey: KeyObject): Buffer => {
  const { x, y } = publicKey.export({ format: 'jwk' });
  const part = (text: string) => Buffer.concat([Buffer.from([0x58, 32]), Buffer.from(text, 'base64url')]);
  const head = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]);
  return Buffer.concat([head, part(x!), Buffer.from([0x22]), part(y!)]);
};

export type TestAuthenticator = {
  readonly credentialId: Buffer;
  register(options: Json, deviation?: Deviation): Json;
  authenticate(options: Json, deviation?: Deviation): Json;
};

/** A passkey in software: what a browser would pass on from a device with one key. */
export const createAuthenticator = (origin: string): TestAuthenticator => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  let counter = 0;
  let userHandle = '';

  const clientData = (type: string, options: Json, deviation: Deviation): Buffer =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: deviation.challenge ?? options.challenge,
        origin: deviation.origin ?? origin,
        crossOrigin: false,
      }),
    );

  const authenticatorData = (more: number, deviation: Deviation): Buffer => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags.present | (deviation.unverified ? 0 : flags.verified) | more, 0);
    head.writeUInt32BE(deviation.counter ?? counter, 1);
    return Buffer.concat([sha256(deviation.rpId ?? new URL(origin).hostname), head]);
  };

  const answer = (response: Json): Json => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });

  return {
    credentialId,
    register(options, deviation = {}) {
      userHandle = (options.user as { id: string }).id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const credential = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)]);
      const data = Buffer.concat([authenticatorData(flags.attested, deviation), credential]);
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        ...[cborText('fmt'), cborText('none'), cborText('attStmt'), Buffer.from([0xa0])],
        ...[cborText('authData'), cborBytes(data)],
      ]);
      return answer({
        clientDataJSON: clientData('webauthn.create', options, deviation).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      });
    },
    authenticate(options, deviation = {}) {
      counter += 1;
      const client = clientData('webauthn.get', options, deviation);
      const data = authenticatorData(0, deviation);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: deviation.userHandle ?? userHandle,
      });
    },
  };
};
