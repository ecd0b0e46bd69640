import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEndOfFile } from '../support/endOfFile.ts';
import { findProxy } from '../support/findProxy.ts';

/** The last one is Caddy with the file for two API processes. */
export type ProxyName = 'nginx' | 'caddy' | 'cluster';

type Urls = { readonly production: string; readonly sandbox: string };

/** The addresses of Florin, and a file with the certificate of localhost and its key. */
export type Behind = Urls & {
  readonly certificate: string;
  /** The addresses of the second process of a cluster. */
  readonly second?: Urls;
};

/** On every address of a proxy. */
export const ports = { plain: 8080, production: 8443, sandbox: 8444 };

const read = (path: string): string => readFileSync(new URL(`../../deploy/proxy/${path}`, import.meta.url), 'utf8');

/** Each text must be there, so that a change of the file cannot make the test leave something out. */
const replaceAll = (text: string, changes: readonly (readonly [from: string | RegExp, to: string])[]): string =>
  changes.reduce((now, [from, to]) => {
    const next = typeof from === 'string' ? now.replaceAll(from, to) : now.replace(from, to);
    if (next === now) throw new Error(`the file does not contain ${from}`);
    return next;
  }, text);

const nginxConfig = (room: string, address: string, { production, sandbox, certificate }: Behind): string => {
  const site = replaceAll(read('nginx.conf'), [
    ['listen 80;', `listen ${address}:${ports.plain};`],
    [/listen 443 ssl/, `listen ${address}:${ports.production} ssl`],
    [/listen 443 ssl/, `listen ${address}:${ports.sandbox} ssl`],
    [/server_name [^;]+;/g, 'server_name localhost;'],
    ['/etc/ssl/florin/fullchain.pem', certificate],
    ['/etc/ssl/florin/privkey.pem', certificate],
    ['server 127.0.0.1:8443;', `server ${new URL(production).host.replace('localhost', '127.0.0.1')};`],
    ['server 127.0.0.1:8444;', `server ${new URL(sandbox).host.replace('localhost', '127.0.0.1')};`],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    name => `${name}_temp_path ${join(room, name)};`,
  );
  // As root, workers would run as nobody, who cannot enter the room.
  const main = process.getuid?.() === 0 ? 'user root;' : '';
  return `${main} daemon off; worker_processes 1; pid ${join(room, 'pid')}; error_log stderr warn; events {}
http { access_log off; ${temporary.join(' ')}\n${site}\n}`;
};

const caddyConfig = (_: string, address: string, { production, sandbox, certificate }: Behind): string => {
  const given = `\tbind ${address}\n`;
  const tls = `${given}\ttls ${certificate} ${certificate}\n`;
  const site = replaceAll(read('Caddyfile'), [
    [/^http:.*\{$/m, `http://localhost:${ports.plain} {\n${given}`],
    [/^\{\$PAY_HOST.* \{$/m, `localhost:${ports.production} {\n${tls}`],
    [/^\{\$SANDBOX_HOST.* \{$/m, `localhost:${ports.sandbox} {\n${tls}`],
    ['{$FLORIN_ADDRESS:127.0.0.1}:8443', `127.0.0.1:${new URL(production).port}`],
    ['{$FLORIN_ADDRESS:127.0.0.1}:8444', `127.0.0.1:${new URL(sandbox).port}`],
  ]);
  return `{\n\tadmin off\n\tauto_https off\n}\n${site}`;
};

const clusterConfig = (_: string, address: string, behind: Behind): string => {
  const given = `\tbind ${address}\n`;
  const { certificate, second } = behind;
  const tls = `${given}\ttls ${certificate} ${certificate}\n`;
  const both = (environment: keyof Urls): string =>
    [behind, second!].map(urls => `127.0.0.1:${new URL(urls[environment]).port}`).join(' ');
  const site = replaceAll(read('Caddyfile.cluster'), [
    [/^http:.*\{$/m, `http://localhost:${ports.plain} {\n${given}`],
    [/^\{\$PAY_HOST.* \{$/m, `localhost:${ports.production} {\n${tls}`],
    [/^\{\$SANDBOX_HOST.* \{$/m, `localhost:${ports.sandbox} {\n${tls}`],
    [/Host \{\$\w+_HOST:[^}]*\}/g, 'Host localhost'],
    ['api1:8443 api2:8443', both('production')],
    ['api1:8444 api2:8444', both('sandbox')],
  ]);
  return `{\n\tadmin off\n\tauto_https off\n}\n${site}`;
};

const caddyArgs = (file: string) => ['run', '--adapter', 'caddyfile', '--config', file];

const proxies = {
  nginx: { config: nginxConfig, args: (file: string, room: string) => ['-p', room, '-e', 'stderr', '-c', file] },
  caddy: { config: caddyConfig, args: caddyArgs },
  cluster: { config: clusterConfig, args: caddyArgs },
};

/** A loopback address of this process alone, so that fixed ports cannot be taken: 127.64.0.0 and above. */
const addressOf = (name: ProxyName): string => {
  const number = (process.pid * 4 + Object.keys(proxies).indexOf(name)) % 2 ** 22;
  return `127.${64 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
};

/** Starts a proxy with our file, in which only names, addresses and certificates are others. It ends with the test file. */
export const startProxy = (name: ProxyName, behind: Behind): { address: string; output(): string } => {
  const room = mkdtempSync(join(tmpdir(), `florin-${name}-`));
  const address = addressOf(name);
  const { config, args } = proxies[name];
  const file = join(room, 'config');
  writeFileSync(file, config(room, address, behind));
  const env = { PATH: process.env.PATH, HOME: room, XDG_DATA_HOME: room, XDG_CONFIG_HOME: room };
  const child = spawn(findProxy(name === 'nginx' ? name : 'caddy')!, args(file, room), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()));
  atEndOfFile(async () => {
    child.kill('SIGTERM');
    await exited;
    rmSync(room, { recursive: true, force: true });
  });
  return { address, output: () => output };
};
