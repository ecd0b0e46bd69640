import { once } from 'node:events';
import { type AddressInfo, isIPv6, type Server } from 'node:net';
import { codeOf } from '../../core/errorCode.ts';
import type { Log } from '../../core/log.ts';

type Listening = {
  readonly createServer: () => Server;
  readonly port: number;
  readonly hosts: readonly string[];
  readonly log: Log;
};
type Bound = { readonly servers: readonly Server[]; readonly port: number };

const attempts = 20;
const codesOfAbsentIpv6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** Listens on one port on every host. For port 0, tries ports of the first host until one is free on all hosts. */
export const listenOnAll = async (listening: Listening): Promise<Bound> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await bindAll(listening);
    } catch (error) {
      if (listening.port !== 0 || attempt === attempts || codeOf(error) !== 'EADDRINUSE') throw error;
    }
  }
};

const bindAll = async ({ createServer, port: wanted, hosts, log }: Listening): Promise<Bound> => {
  const servers: Server[] = [];
  let port = wanted;
  let unavailable: unknown;
  try {
    for (const host of hosts) {
      const server = createServer();
      try {
        // Without this, :: would also claim the IPv4 addresses of 0.0.0.0.
        server.listen({ port, host, ipv6Only: hosts.length > 1 });
        await once(server, 'listening');
      } catch (error) {
        if (!isIPv6(host) || !codesOfAbsentIpv6.has(codeOf(error))) throw error;
        log.warn({ host, code: codeOf(error) }, 'this machine has no such IPv6 address; listening without it');
        unavailable = error;
        continue;
      }
      servers.push(server);
      port = (server.address() as AddressInfo).port;
    }
    if (servers.length === 0) throw unavailable ?? new RangeError('there is no host to listen on');
    return { servers, port };
  } catch (error) {
    await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))));
    throw error;
  }
};
