import type { FastifyRequest } from 'fastify';

/** The prefix holds browsers to this very host, to HTTPS and to all paths: no neighbour can set one of this name. */
const name = '__Host-florin';
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';

export const sessionCookie = (token: string, livesSeconds: number): string =>
  `${name}=${token}; ${attributes}; Max-Age=${livesSeconds}`;

export const endedCookie = `${name}=; ${attributes}; Max-Age=0`;

export const tokenOf = (request: FastifyRequest): string | null => {
  const cookies = (request.headers.cookie ?? '').split(';').map(each => each.trim());
  return cookies.find(each => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
};
