import { createPrivateKey, KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../core/errorCode.ts';
import { writeFileAtomically } from './writeFileAtomically.ts';

export type LocalCertificates = {
  /** The authority's certificate, for `curl --cacert` and for trust stores. */
  readonly caPath: string;
  readonly key: string;
  /** The server's certificate followed by the authority's. */
  readonly cert: string;
};

type KeyAndCertificate = { readonly key: string; readonly cert: string };

const dayMs = 86_400_000;
const authorityLifetimeMs = 3_650 * dayMs;
// Browsers refuse server certificates that live longer than 398 days.
const serverLifetimeMs = 397 * dayMs;
const renewBeforeMs = 30 * dayMs;
const backdatedMs = 300_000;

const signing = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/**
 * Creates the local authority and the server's certificate if they are missing, unusable or about to expire. Each key
 * shares a file with its certificate, so that a crash cannot leave a pair that does not match.
 */
export const ensureLocalCertificates = async ({
  dataDir,
  now = new Date(),
}: {
  readonly dataDir: string;
  readonly now?: Date;
}): Promise<LocalCertificates> => {
  const directory = join(dataDir, 'tls');
  const authorityPath = join(directory, 'authority.pem');
  const serverPath = join(directory, 'server.pem');
  const caPath = join(directory, 'ca.pem');
  await mkdir(directory, { recursive: true, mode: 0o755 });

  let authority = await readPair(authorityPath);
  if (authority === null || expiresSoon(authority.cert, now)) {
    authority = await issueAuthority(now);
    await writeFileAtomically(authorityPath, authority.key + authority.cert, 0o600);
  }
  if ((await readIfPresent(caPath)) !== authority.cert) await writeFileAtomically(caPath, authority.cert, 0o644);

  let server = await readPair(serverPath);
  if (server === null || expiresSoon(server.cert, now) || !isIssuedBy(server.cert, authority.cert)) {
    server = await issueServer(authority, now);
    await writeFileAtomically(serverPath, server.key + server.cert, 0o600);
  }
  return { caPath, key: server.key, cert: server.cert + authority.cert };
};

const readIfPresent = async (path: string): Promise<string | null> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
};

const pairPattern =
  /^(-----BEGIN PRIVATE KEY-----\n[^-]+-----END PRIVATE KEY-----\n)(-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n)$/;

/** Null for a file that is not a matching pair, so that it is replaced. */
const readPair = async (path: string): Promise<KeyAndCertificate | null> => {
  const [, key, cert] = (await readIfPresent(path))?.match(pairPattern) ?? [];
  if (key === undefined || cert === undefined) return null;
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { key, cert } : null;
  } catch {
    return null;
  }
};

const expiresSoon = (cert: string, now: Date): boolean => {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  return now < validFromDate || validToDate.getTime() - now.getTime() < renewBeforeMs;
};

const isIssuedBy = (cert: string, authorityCert: string): boolean => {
  const certificate = new X509Certificate(cert);
  const issuer = new X509Certificate(authorityCert);
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
};

const issueAuthority = async (now: Date): Promise<KeyAndCertificate> => {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const notBefore = new Date(now.getTime() - backdatedMs);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    keys,
    // Trust stores distinguish authorities by name, and one machine may have several.
    name: `CN=Florin local CA ${randomBytes(4).toString('hex')}, O=Florin`,
    serialNumber: serialNumber(),
    notBefore,
    notAfter: new Date(notBefore.getTime() + authorityLifetimeMs),
    signingAlgorithm: signing,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      // Name constraints cover host names and addresses only; this keeps the key from signing mail or code
      // certificates.
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.Extension('2.5.29.30', true, nameConstraints),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: exportKey(keys.privateKey), cert: exportCertificate(certificate.rawData) };
};

const issueServer = async (authority: KeyAndCertificate, now: Date): Promise<KeyAndCertificate> => {
  const x509 = await loadX509();
  const keys = await generateKeys();
  const issuer = new x509.X509Certificate(authority.cert);
  const notBefore = new Date(Math.max(now.getTime() - backdatedMs, issuer.notBefore.getTime()));
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'CN=localhost',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(authority.key).toCryptoKey(signing, false, ['sign']),
    serialNumber: serialNumber(),
    notBefore,
    notAfter: new Date(Math.min(notBefore.getTime() + serverLifetimeMs, issuer.notAfter.getTime())),
    signingAlgorithm: signing,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { key: exportKey(keys.privateKey), cert: exportCertificate(certificate.rawData) };
};

/**
 * Loaded only when a certificate has to be made. At load, its dependency container calls the `Reflect` metadata
 * functions of a polyfill. It injects no parameters, so functions that report no metadata are enough.
 */
const loadX509 = async () => {
  if (!('getMetadata' in Reflect)) {
    Object.assign(Reflect, { getMetadata: () => undefined, getOwnMetadata: () => undefined });
  }
  return await import('@peculiar/x509');
};

const generateKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(signing, true, ['sign', 'verify']);

const exportKey = (key: webcrypto.CryptoKey): string =>
  KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();

const exportCertificate = (der: ArrayBuffer): string => new X509Certificate(Buffer.from(der)).toString();

// A positive integer of fixed length: the leading 01 keeps the sign bit clear and the first byte from being zero.
const serialNumber = (): string => `01${randomBytes(15).toString('hex')}`;

const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  if (body.length > 127) throw new RangeError('DER value is too long for the short length form');
  return Buffer.concat([Buffer.from([tag, body.length]), body]);
};

/** NameConstraints of RFC 5280: permitted subtrees (tag 0) of a DNS name (tag 2) and of addresses with masks (tag 7). */
const nameConstraints = der(
  0x30,
  der(
    0xa0,
    der(0x30, der(0x82, Buffer.from('localhost'))),
    der(0x30, der(0x87, Buffer.from([127, 0, 0, 1, 255, 255, 255, 255]))),
    der(0x30, der(0x87, Buffer.alloc(15), Buffer.from([1]), Buffer.alloc(16, 255))),
  ),
);
