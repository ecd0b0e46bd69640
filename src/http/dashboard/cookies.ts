import type { FastifyRequest } from 'fastify';

const attributes = 'Path=/; Secure; HttpOnly; SameSite=Strict';

/** Browsers keep no cookie for longer. Each sign-in begins it anew. */
const deviceSeconds = 400 * 86_400;

/** The port of the dashboard's public URL. */
export const publicPort = (dashboardUrl: string): string => new URL(dashboardUrl).port || '443';

/**
 * Browsers accept a __Host- cookie only from this host, over HTTPS and with path /. A subdomain cannot set it. They do
 * send it to every port of the host, and one port can replace the cookie of another. So the names have the port, and a
 * session is valid for that port only.
 */
const sessionName = (dashboardUrl: string): string => `__Host-florin-${publicPort(dashboardUrl)}`;
const deviceName = (dashboardUrl: string): string => `__Host-florin-device-${publicPort(dashboardUrl)}`;

export const sessionCookie = (dashboardUrl: string, token: string, livesSeconds: number): string =>
  `${sessionName(dashboardUrl)}=${token}; ${attributes}; Max-Age=${livesSeconds}`;

/** Stays when the person signs out, because it says who has signed in here, not who is signed in. */
export const deviceCookie = (dashboardUrl: string, text: string): string =>
  `${deviceName(dashboardUrl)}=${text}; ${attributes}; Max-Age=${deviceSeconds}`;

export const endedCookie = (dashboardUrl: string): string => sessionCookie(dashboardUrl, '', 0);

const cookieOf = ({ headers }: FastifyRequest, name: string): string | null => {
  const cookies = (headers.cookie ?? '').split(';').map(each => each.trim());
  return cookies.find(each => each.startsWith(`${name}=`))?.slice(name.length + 1) ?? null;
};

export const tokenOf = (request: FastifyRequest, dashboardUrl: string): string | null =>
  cookieOf(request, sessionName(dashboardUrl));
export const deviceCookieOf = (request: FastifyRequest, dashboardUrl: string): string | null =>
  cookieOf(request, deviceName(dashboardUrl));
