import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { codeOf, hasCode } from '../../core/errorCode.ts';
import { isPublicOrigin } from '../../core/url.ts';
import type { ResolveHost } from '../../webhooks/connect.ts';
import { describeFailure, EgressError } from '../../webhooks/failure.ts';
import { bareHost, classifyAddress } from '../../webhooks/guard.ts';
import type { Config } from '../config.ts';
import type { Told } from '../doctorChecks.ts';
import { bad, good, judged, type Situation } from './situation.ts';

type Site = { readonly variable: string; readonly url: string | null; readonly isApi: boolean };

/** The addresses of this deployment. The last two are optional. */
const sitesOf = ({ publicUrls, checkoutUrl, dashboard }: Config): Site[] => [
  { variable: 'FLORIN_PUBLIC_URL', url: publicUrls.production, isApi: true },
  { variable: 'FLORIN_SANDBOX_PUBLIC_URL', url: publicUrls.sandbox, isApi: true },
  ...(checkoutUrl === null ? [] : [{ variable: 'FLORIN_CHECKOUT_URL', url: checkoutUrl, isApi: false }]),
  ...(dashboard.url === null ? [] : [{ variable: 'FLORIN_DASHBOARD_URL', url: dashboard.url, isApi: false }]),
];

type PublicSite = Site & { readonly url: string };

const publicSites = (config: Config): PublicSite[] =>
  sitesOf(config).filter((site): site is PublicSite => site.url !== null && isPublicOrigin(site.url));

const unset = 'Not checked: the addresses are not set.';
const hostOf = (url: string): string => bareHost(new URL(url).hostname);

const addressesOf = async (url: string, resolveHost: ResolveHost): Promise<readonly string[]> =>
  isIP(hostOf(url)) === 0 ? resolveHost(hostOf(url)) : [hostOf(url)];

const nameProblem = async ({ variable, url }: Site, resolveHost: ResolveHost): Promise<string | null> => {
  if (url === null) return `${variable} is not set`;
  if (!isPublicOrigin(url)) return `${variable} is an address of this machine only`;
  try {
    const loopback = (await addressesOf(url, resolveHost)).find(address => classifyAddress(address) === 'loopback');
    return loopback === undefined ? null : `${hostOf(url)} leads to ${loopback}, this machine only`;
  } catch (error) {
    return `${hostOf(url)}: ${describeFailure(error)}`;
  }
};

/** Asks the name servers and not /etc/hosts, because payers do not have that file. */
export const checkNames = async ({ config, resolveHost }: Situation): Promise<Told> => {
  const sites = sitesOf(config);
  const problems = await Promise.all(sites.map(site => nameProblem(site, resolveHost)));
  const names = sites.map(({ url }) => url && hostOf(url)).join(', ');
  return judged(
    problems.filter(problem => problem !== null),
    `${names} have addresses`,
    'Set the public URLs and add A or AAAA records for their names.',
  );
};

const dayMs = 86_400_000;
const renewBeforeMs = 14 * dayMs;

/** Certificates live for 6 to 398 days. Their renewal is late in the last fifth, or the last two weeks of long ones. */
const expiryProblem = (validFrom: Date, validTo: Date, nowMs: number): string | null => {
  const left = validTo.getTime() - nowMs;
  if (validFrom.getTime() > nowMs) return `it is valid only from ${validFrom.toISOString()} on`;
  if (left <= 0) return `it expired at ${validTo.toISOString()}`;
  const early = Math.min(renewBeforeMs, (validTo.getTime() - validFrom.getTime()) / 5);
  return left < early ? `it expires at ${validTo.toISOString()} and was not renewed` : null;
};

const renew = 'Get a certificate for all public names, renew it in time, and restart Florin or the proxy.';

const fileProblems = async (
  { certFile, keyFile }: NonNullable<Config['tls']>,
  sites: readonly PublicSite[],
  nowMs: number,
): Promise<{ problems: string[]; until: string; fingerprint: string | null }> => {
  try {
    const certificate = new X509Certificate(await readFile(certFile));
    const isPair = certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile)));
    const hosts = [...new Set(sites.map(({ url }) => hostOf(url)))];
    const covers = (host: string): boolean =>
      (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
    const expiry = expiryProblem(certificate.validFromDate, certificate.validToDate, nowMs);
    const problems = [
      ...hosts.filter(host => !covers(host)).map(host => `${certFile} is not for ${host}`),
      ...(isPair ? [] : [`${keyFile} is not its private key`]),
      ...(expiry === null ? [] : [`${certFile}: ${expiry}`]),
    ];
    return { problems, until: certificate.validToDate.toISOString(), fingerprint: certificate.fingerprint256 };
  } catch (error) {
    const problem = `${certFile} and ${keyFile} cannot be used (${codeOf(error) || 'not PEM'})`;
    return { problems: [problem], until: '', fingerprint: null };
  }
};

const timeoutMs = 5_000;

/** Connects to what the name servers said, so that /etc/hosts does not decide. */
const pinnedTo =
  (addresses: readonly string[]): LookupFunction =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map(address => ({ address, family: isIP(address) })),
    );

const timedOut = (): Error => Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' });

type Served = { readonly from: Date; readonly to: Date; readonly fingerprint: string };

/** Shakes hands with whatever serves the address, and verifies its certificate as every client does. */
const served = async (url: string, resolveHost: ResolveHost): Promise<Served> => {
  const lookup = pinnedTo(await addressesOf(url, resolveHost));
  const host = hostOf(url);
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const name = isIP(host) === 0 ? { servername: host } : {};
  const port = Number(new URL(url).port || 443);
  const socket = tlsConnect({ host, port, lookup, ...name, rejectUnauthorized: true }, () => resolve(socket));
  socket.on('error', reject);
  socket.setTimeout(timeoutMs, () => socket.destroy(timedOut()));
  try {
    const { valid_from, valid_to, fingerprint256 } = (await promise).getPeerCertificate();
    return { from: new Date(valid_from), to: new Date(valid_to), fingerprint: fingerprint256 };
  } finally {
    socket.destroy();
  }
};

/** What clients get there. Where nothing answers yet, the line of the public addresses says so. */
const servedProblems = async (
  { url }: PublicSite,
  { resolveHost, nowMs }: Situation,
  fingerprint: string | null,
): Promise<string[]> => {
  try {
    const { from, to, fingerprint: its } = await served(url, resolveHost);
    if (fingerprint !== null && its !== fingerprint) return [`${url} serves another certificate than the file`];
    const expiry = expiryProblem(from, to, nowMs);
    return expiry === null ? [] : [`${url}: ${expiry}`];
  } catch (error) {
    const isSilent = hasCode(error, 'ECONNREFUSED', 'ETIMEDOUT') || error instanceof EgressError;
    return fingerprint !== null && isSilent ? [] : [`${url}: ${describeFailure(error)}`];
  }
};

/** The files, and what is served: after a renewal, Florin serves the earlier certificate until it is restarted. */
export const checkCertificate = async (situation: Situation): Promise<Told> => {
  const { config, nowMs } = situation;
  const sites = publicSites(config);
  if (sites.length === 0) return bad(unset);
  const files = config.tls && (await fileProblems(config.tls, sites, nowMs));
  if (files && files.problems.length > 0) return judged(files.problems, '', renew);
  const problems = await Promise.all(sites.map(site => servedProblems(site, situation, files?.fingerprint ?? null)));
  const isValid = files
    ? `valid for all names until ${files.until}`
    : 'the proxy has a valid certificate for all names';
  return judged(problems.flat(), isValid, renew);
};

type Answer = { readonly status: number; readonly body: string };

const maxBodyBytes = 16_384;

const get = async (url: string, resolveHost: ResolveHost): Promise<Answer> => {
  const agent = new Agent({ lookup: pinnedTo(await addressesOf(url, resolveHost)), rejectUnauthorized: true });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const asking = request(url, { agent, signal: AbortSignal.timeout(timeoutMs) }, response => {
    let body = '';
    response.setEncoding('utf8').on('data', (text: string) => {
      body = (body + text).slice(0, maxBodyBytes);
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    response.on('error', reject);
  });
  asking.on('error', error =>
    reject(error.name === 'TimeoutError' || error.name === 'AbortError' ? timedOut() : error),
  );
  asking.end();
  try {
    return await promise;
  } finally {
    agent.destroy();
  }
};

/** Florin's answer to /readyz, and not that of another program at the same address. */
const isReady = ({ status, body }: Answer): boolean => {
  if (status !== 200) return false;
  try {
    return (JSON.parse(body) as { ready?: unknown }).ready === true;
  } catch {
    return false;
  }
};

const answerProblem = async ({ url, isApi }: PublicSite, resolveHost: ResolveHost): Promise<string | null> => {
  try {
    const answer = await get(isApi ? `${url}/readyz` : url, resolveHost);
    if (isApi ? isReady(answer) : answer.status < 500) return null;
    return `${url} answers ${answer.status}, and Florin's /readyz would answer 200`;
  } catch (error) {
    return `${url}: ${describeFailure(error).replace('delivery', 'the connection')}`;
  }
};

/** Over TLS, verified, by the public name and port: as payers and merchants reach it. */
export const checkAnswers = async ({ config, resolveHost }: Situation): Promise<Told> => {
  const sites = publicSites(config);
  if (sites.length === 0) return bad(unset);
  const problems = await Promise.all(sites.map(site => answerProblem(site, resolveHost)));
  return judged(
    problems.filter(problem => problem !== null),
    sites.map(({ url }) => url).join(', '),
    'Start Florin, let it listen on more than loopback or put a proxy in front, and open the ports.',
  );
};

export const checkMetrics = async ({ config: { metrics } }: Situation): Promise<Told> => {
  if (metrics === null) return bad('FLORIN_METRICS_PORT is not set. Set it and restart Florin.');
  const host = metrics.hosts[0]!;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${metrics.port}/metrics`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    const isUp = /^florin_database_up 1$/m.test(await answer.text());
    return isUp
      ? good(`${url} answers. Whether Prometheus asks is not known here`)
      : bad(`${url} does not say that the database is up. Look at the log.`);
  } catch {
    return bad(`${url} does not answer. Start Florin again with FLORIN_METRICS_PORT.`);
  }
};
