import type { FastifyRequest } from 'fastify';

/** Browsers accept a __Host- cookie only from this host, over HTTPS and with path /. A subdomain cannot set it. */
const sessionName = '__Host-florin';
const deviceName = '__Host-florin-device';
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Browsers keep no cookie for longer. Each sign-in begins it anew. */
const deviceSeconds = 400 * 86_400;

export const sessionCookie = (token: string, livesSeconds: number): string =>
  `${sessionName}=${token}; ${attributes}; Max-Age=${livesSeconds}`;

/** Stays when the person signs out, because it says who has signed in here, not who is signed in. */
export const deviceCookie = (text: string): string => `${deviceName}=${text}; ${attributes}; Max-Age=${deviceSeconds}`;

export const endedCookie = `${sessionName}=; ${attributes}; Max-Age=0`;

const cookieOf = ({ headers }: FastifyRequest, name: string): string | null => {
  const cookies = (headers.cookie ?? '').split(';').map(each => each.trim());
  return cookies.find(each => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
};

export const tokenOf = (request: FastifyRequest): string | null => cookieOf(request, sessionName);
export const deviceCookieOf = (request: FastifyRequest): string | null => cookieOf(request, deviceName);
