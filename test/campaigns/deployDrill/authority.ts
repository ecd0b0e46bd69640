import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const openssl = (...args: string[]): void =>
  void execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90'];

/** A certificate authority that programs of the drill trust by NODE_EXTRA_CA_CERTS and CURL_CA_BUNDLE. */
export const createAuthority = (room: string): string => {
  const ca = join(room, 'ca.pem');
  openssl('req', '-x509', ...newKey, '-subj', '/CN=Drill', '-keyout', join(room, 'ca.key'), '-out', ca);
  return ca;
};

/** A certificate for names, where certbot puts it. */
export const issue = (
  room: string,
  directory: string,
  names: readonly string[],
  days = 90,
): { cert: string; key: string } => {
  mkdirSync(directory, { recursive: true });
  const [cert, key] = [join(directory, 'fullchain.pem'), join(directory, 'privkey.pem')];
  const [request, extensions] = [join(room, 'request.pem'), join(room, 'extensions')];
  writeFileSync(extensions, `subjectAltName=${names.map(name => `DNS:${name}`).join(',')}\n`);
  openssl('req', ...newKey.slice(0, -2), '-subj', `/CN=${names[0]}`, '-keyout', key, '-out', request);
  const by = ['-CA', join(room, 'ca.pem'), '-CAkey', join(room, 'ca.key'), '-CAcreateserial'];
  openssl('x509', '-req', '-in', request, ...by, '-days', String(days), '-extfile', extensions, '-out', cert);
  return { cert, key };
};
