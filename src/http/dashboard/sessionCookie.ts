import type { FastifyRequest } from 'fastify';

/** Browsers accept a __Host- cookie only from this host, over HTTPS and with path /. A subdomain cannot set it. */
const name = '__Host-florin';
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';

export const sessionCookie = (token: string, livesSeconds: number): string =>
  `${name}=${token}; ${attributes}; Max-Age=${livesSeconds}`;

export const endedCookie = `${name}=; ${attributes}; Max-Age=0`;

export const tokenOf = (request: FastifyRequest): string | null => {
  const cookies = (request.headers.cookie ?? '').split(';').map(each => each.trim());
  return cookies.find(each => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
};
