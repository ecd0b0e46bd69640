import type { RequestListener } from 'node:http';
import { type Environment, environments } from '../core/environment.ts';
import { type FlorinError, invalid } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { createClientAddress } from '../http/edge/clientAddress.ts';
import { type ConnectionCap, createConnectionCap } from '../http/edge/connectionCap.ts';
import { createHostEnvironment, isHostOf } from '../http/edge/hostEnvironment.ts';
import { createListener, type Listener, type ListenerOptions } from '../http/edge/listener.ts';
import { createRareWarning } from '../http/edge/rareWarning.ts';
import { refuseRequest } from '../http/edge/refusal.ts';
import type { Incoming } from '../http/edge/server.ts';
import { type Config, ConfigError } from './config.ts';
import type { Urls } from './createContext.ts';
import { portProblem } from './refuseTakenPorts.ts';

const unknownHost = (): FlorinError =>
  invalid(undefined, 'The Host header names neither environment. Use the address of production or of the sandbox.');

export type Ports = Record<Environment, number> & { dashboard: number | null };

/** Where connections come from, and how many an address may have. */
export type Doors = {
  readonly cap: ConnectionCap;
  /** Returns the port. */
  open(listener: Listener, port: number): Promise<number>;
};

/** This process accepts them. */
export const ownDoors = (config: Config, log: Log): Doors => {
  const { connectionsPerAddress: perAddress, trustedProxies, hosts } = config;
  return {
    cap: createConnectionCap({ perAddress, trustedProxies, log }),
    open: (listener, port) => listener.listen(port, hosts),
  };
};

/** Where clients reach this deployment, once the ports are known. */
export const urlsOf = ({ publicUrls, dashboard }: Config, ports: Ports): Urls => {
  const reached = (environment: Environment): string =>
    publicUrls[environment] ?? `https://localhost:${ports[environment]}`;
  const production = reached('production');
  const ownUrl = ports.dashboard === null ? production : `https://localhost:${ports.dashboard}`;
  return { production, sandbox: reached('sandbox'), dashboard: dashboard.url ?? ownUrl };
};

/** The target of a request; null if its Host header matches none. */
type Aim = (request: Incoming) => { environment: Environment; isForDashboard: boolean } | null;

/**
 * Starts one listener per environment, or one for both if they share a port, with the Host header to tell them apart.
 * If the dashboard has its own port, it gets its own listener, and the Host header cannot reach it on another port.
 * `dashboardUrl` is known once that port is bound.
 */
export const listen = async (
  config: Config,
  handler: RequestListener,
  options: Pick<ListenerOptions, 'tls' | 'requestId' | 'log'> & { doors: Doors; dashboardUrl: () => string },
): Promise<{ listeners: Listener[]; ports: Ports }> => {
  const listeners: Listener[] = [];
  const clientAddress = createClientAddress(config.trustedProxies);
  // A trusted proxy may use plain HTTP to us if its client used HTTPS.
  const warnUnknown = createRareWarning(options.log, 'a request named a host that is not here and was refused');
  const servePlain = (request: Incoming) => clientAddress(request).proto === 'https';
  const bind = async (port: number, aimOf: Aim): Promise<number> => {
    const tagged: RequestListener = (request, response) => {
      const aim = aimOf(request);
      if (aim === null) {
        warnUnknown({ address: request.socket.remoteAddress });
        return refuseRequest(request, response, unknownHost(), options.requestId());
      }
      const aimed: Incoming = request;
      aimed.environment = aim.environment;
      aimed.isForDashboard = aim.isForDashboard;
      handler(aimed, response);
    };
    const listener = createListener({ ...options, admit: options.doors.cap.admit, handler: tagged, servePlain });
    listeners.push(listener);
    try {
      return await options.doors.open(listener, port);
    } catch (error) {
      await Promise.all(listeners.map(each => each.close()));
      const problem = portProblem(error, port);
      throw problem === null ? error : new ConfigError([problem]);
    }
  };
  const namesDashboard = ({ headers }: Incoming): boolean => isHostOf(options.dashboardUrl(), headers.host);
  const isPortShared = config.dashboard.port === null;
  const isForDashboard = (request: Incoming): boolean => isPortShared && namesDashboard(request);
  const ports: Ports = { production: 0, sandbox: 0, dashboard: null };
  const { production, sandbox } = config.ports;
  if (production === sandbox && production !== 0) {
    const { publicUrls } = config;
    const named = createHostEnvironment({ production: publicUrls.production!, sandbox: publicUrls.sandbox! });
    const port = await bind(production, request => {
      if (isForDashboard(request)) return { environment: 'production', isForDashboard: true };
      const environment = named(request.headers.host);
      return environment && { environment, isForDashboard: false };
    });
    Object.assign(ports, { production: port, sandbox: port });
  } else {
    for (const environment of environments) {
      const aimOf: Aim = request => ({ environment, isForDashboard: isForDashboard(request) });
      ports[environment] = await bind(config.ports[environment], aimOf);
    }
  }
  if (config.dashboard.port !== null) {
    ports.dashboard = await bind(config.dashboard.port, request =>
      namesDashboard(request) ? { environment: 'production', isForDashboard: true } : null,
    );
  }
  return { listeners, ports };
};
