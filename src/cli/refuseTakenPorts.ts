import { createServer } from 'node:net';
import { codeOf } from '../core/errorCode.ts';
import { silentLog } from '../core/log.ts';
import { listenOnAll } from '../http/edge/listenOnAll.ts';
import { type Config, ConfigError } from './config.ts';

const faults: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program',
  EACCES: 'needs privileges that this process does not have',
  EADDRNOTAVAIL: 'cannot be bound to the addresses of --host or FLORIN_METRICS_HOST',
};

/** Why a port cannot be bound, as a message; null for any other error. */
export const portProblem = (error: unknown, port: number): string | null => {
  const fault = faults[codeOf(error)];
  return fault === undefined
    ? null
    : `Port ${port} ${fault}. Choose others with --port, --sandbox-port, --dashboard-port and --metrics-port.`;
};

const problemOf = async (port: number, hosts: readonly string[]): Promise<string | null> => {
  try {
    const { servers } = await listenOnAll({ createServer, port, hosts, log: silentLog });
    await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
    return null;
  } catch (error) {
    return portProblem(error, port);
  }
};

/** Tries to bind every port before anything else has started. */
export const refuseTakenPorts = async ({ roles, ports, dashboard, hosts, metrics }: Config): Promise<void> => {
  const served = roles.includes('api') ? [ports.production, ports.sandbox, dashboard.port ?? 0] : [];
  const wanted = [...new Set(served)].map(port => ({ port, hosts }));
  const problems: string[] = [];
  for (const { port, hosts } of metrics === null ? wanted : [...wanted, metrics]) {
    const problem = port === 0 ? null : await problemOf(port, hosts);
    if (problem !== null) problems.push(problem);
  }
  if (problems.length > 0) throw new ConfigError(problems);
};
