import { execFile } from 'node:child_process';
import { createPrivateKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ensureLocalCertificates } from '../../src/local/localCa.ts';

const dayMs = 86_400_000;
const execFileAsync = promisify(execFile);

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'florin-ca-'));
});
afterEach(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

const serve = async (tls: { key: string; cert: string }, host: string) => {
  const server = createServer(tls, (_request, response) => response.end('hello'));
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise<void>(resolve => server.close(() => resolve())),
  };
};

/** The outcome of a verified handshake: 'authorized', or the code OpenSSL refused with. */
const handshake = (port: number, host: string, servername: string, ca: string): Promise<string> =>
  new Promise(resolve => {
    const socket = connect({ port, host, ca, ...(servername === '' ? {} : { servername }) });
    socket.once('secureConnect', () => {
      resolve('authorized');
      socket.destroy();
    });
    socket.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.name));
  });

/** A certificate for any names, as somebody with the authority's key could make it. */
const forge = async (names: { type: 'dns' | 'ip'; value: string }[]) => {
  const x509 = await import('@peculiar/x509');
  const authority = await readFile(join(dataDir, 'tls', 'authority.pem'), 'utf8');
  const issuer = new x509.X509Certificate(authority.slice(authority.indexOf('-----BEGIN CERTIFICATE')));
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: 'O=Forged',
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(authority).toCryptoKey(algorithm, false, ['sign']),
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + dayMs),
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension(names)],
  });
  return {
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificate.toString('pem'),
  };
};

describe('local certificates', () => {
  test('are accepted by a verifying client under every loopback name', async () => {
    const { caPath, key, cert } = await ensureLocalCertificates({ dataDir });
    const ca = await readFile(caPath, 'utf8');
    const server = await serve({ key, cert }, '127.0.0.1');
    expect(await handshake(server.port, '127.0.0.1', 'localhost', ca)).toBe('authorized');
    expect(await handshake(server.port, '127.0.0.1', '', ca)).toBe('authorized');
    expect(await handshake(server.port, '127.0.0.1', 'example.com', ca)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    await server.close();
    const certificate = new X509Certificate(cert);
    expect(certificate.checkIP('::1')).toBe('::1');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkHost('localhost')).toBe('localhost');
  });

  test('satisfy curl', async () => {
    const { caPath, key, cert } = await ensureLocalCertificates({ dataDir });
    const server = await serve({ key, cert }, '127.0.0.1');
    const request = (host: string) =>
      execFileAsync('curl', ['-sS', '--noproxy', '*', '--cacert', caPath, `https://${host}:${server.port}/`]);
    try {
      expect((await request('127.0.0.1')).stdout).toBe('hello');
      expect((await request('localhost')).stdout).toBe('hello');
    } catch (error) {
      // Without curl on the machine, there is nothing to check.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    } finally {
      await server.close();
    }
  });

  test.each([
    { type: 'dns', value: 'example.com' },
    { type: 'ip', value: '10.0.0.1' },
  ] as const)('cannot be forged for $value, even with the key of the authority', async name => {
    const { caPath } = await ensureLocalCertificates({ dataDir });
    const ca = await readFile(caPath, 'utf8');
    const honest = await serve(await forge([{ type: 'dns', value: 'localhost' }]), '127.0.0.1');
    expect(await handshake(honest.port, '127.0.0.1', 'localhost', ca)).toBe('authorized');
    await honest.close();
    const forged = await serve(await forge([{ type: 'dns', value: 'localhost' }, name]), '127.0.0.1');
    // Node has no code for OpenSSL's "permitted subtree violation"; only the extra name differs from the case above.
    expect(await handshake(forged.port, '127.0.0.1', 'localhost', ca)).toBe('UNSPECIFIED');
    await forged.close();
  });

  test('keep the keys to their owner and leave no temporary files', async () => {
    await ensureLocalCertificates({ dataDir });
    const directory = join(dataDir, 'tls');
    expect((await readdir(directory)).sort()).toEqual(['authority.pem', 'ca.pem', 'server.pem']);
    expect((await stat(join(directory, 'authority.pem'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'server.pem'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(directory, 'ca.pem'), 'utf8')).not.toContain('PRIVATE KEY');
  });

  test('are kept, and the server certificate alone is renewed in its last thirty days', async () => {
    const start = new Date('2030-01-01T00:00:00Z');
    const first = await ensureLocalCertificates({ dataDir, now: start });
    const ca = await readFile(first.caPath, 'utf8');
    const lifetimeMs = new X509Certificate(first.cert).validToDate.getTime() - start.getTime();
    expect(lifetimeMs).toBeLessThanOrEqual(397 * dayMs);

    const kept = await ensureLocalCertificates({ dataDir, now: new Date(start.getTime() + 366 * dayMs) });
    expect(kept).toEqual(first);
    const renewed = await ensureLocalCertificates({ dataDir, now: new Date(start.getTime() + 368 * dayMs) });
    expect(renewed.cert).not.toBe(first.cert);
    expect(await readFile(first.caPath, 'utf8')).toBe(ca);
  });

  test('never outlive the authority, which is renewed in its own last thirty days', async () => {
    const start = new Date('2030-01-01T00:00:00Z');
    const first = await ensureLocalCertificates({ dataDir, now: start });
    const authority = new X509Certificate(await readFile(first.caPath, 'utf8'));
    const late = new Date(authority.validToDate.getTime() - 40 * dayMs);
    const lateServer = new X509Certificate((await ensureLocalCertificates({ dataDir, now: late })).cert);
    expect(lateServer.validToDate).toEqual(authority.validToDate);

    const later = new Date(authority.validToDate.getTime() - 20 * dayMs);
    const renewed = await ensureLocalCertificates({ dataDir, now: later });
    const newAuthority = new X509Certificate(await readFile(renewed.caPath, 'utf8'));
    expect(newAuthority.fingerprint256).not.toBe(authority.fingerprint256);
    expect(new X509Certificate(renewed.cert).verify(newAuthority.publicKey)).toBe(true);
  });

  test('recover from files that are damaged or do not belong together', async () => {
    const first = await ensureLocalCertificates({ dataDir });
    const serverPath = join(dataDir, 'tls', 'server.pem');
    const whole = await readFile(serverPath, 'utf8');
    await writeFile(serverPath, whole.slice(0, 300));
    const second = await ensureLocalCertificates({ dataDir });
    expect(new X509Certificate(second.cert).checkPrivateKey(createPrivateKey(second.key))).toBe(true);

    await rm(join(dataDir, 'tls', 'authority.pem'));
    const third = await ensureLocalCertificates({ dataDir });
    const authority = new X509Certificate(await readFile(third.caPath, 'utf8'));
    expect(new X509Certificate(third.cert).verify(authority.publicKey)).toBe(true);
    expect(new X509Certificate(first.cert).verify(authority.publicKey)).toBe(false);
  });
});
