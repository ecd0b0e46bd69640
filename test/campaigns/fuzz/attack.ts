/** What the campaign is aimed at: a listener of the sandbox, keys, and two resources that no request may change. */
export type Target = {
  readonly port: number;
  readonly ca: string;
  /** All permissions in the sandbox, and limits wide enough to stay out of the way. */
  readonly key: string;
  readonly readOnlyKey: string;
  readonly productionKey: string;
  /** A canceled payment: a further action on it is a conflict. */
  readonly paymentId: string;
  readonly endpointId: string;
};

/** One request that is wrong by construction, and what may come of it. */
export type Attack = {
  readonly category: string;
  /** What is wrong with it, for people. */
  readonly what: string;
  readonly wire: Buffer;
  /** Sent without TLS. */
  readonly plain?: boolean;
  /** After the bytes: stay (the default), say that no more will come, stay silent for as long as it takes, or vanish. */
  readonly ending?: 'stay' | 'halfClose' | 'stall' | 'vanish';
  /** An answer to HEAD has no body. */
  readonly isHead?: boolean;
  /** The transport itself is broken, so that a closed connection is as good an answer as a 4xx. */
  readonly mayCut?: boolean;
  /** Narrower than any 4xx. */
  readonly statuses?: readonly number[];
  /** What error.param must begin with. */
  readonly param?: string;
};

export type Header = readonly [name: string, value: string];

export type Message = {
  readonly method?: string;
  readonly path: string;
  /** Latin-1, as on the wire. They come after the ones that are always there. */
  readonly headers?: readonly Header[];
  /** Names of headers that are left out of those that are always there. */
  readonly without?: readonly string[];
  readonly body?: Buffer | string;
  readonly version?: string;
};

/** A request as bytes. Unless left out: Host, Authorization, and with a body Content-Type and Content-Length. */
export const compose = (target: Target, message: Message): Buffer => {
  const { method = 'POST', path, headers = [], without = [], version = '1.1' } = message;
  const body = message.body === undefined ? null : Buffer.from(message.body as string);
  const always: Header[] = [
    ['Host', `localhost:${target.port}`],
    ['Authorization', `Bearer ${target.key}`],
  ];
  if (body) always.push(['Content-Type', 'application/json'], ['Content-Length', String(body.length)]);
  const dropped = new Set(without.map(name => name.toLowerCase()));
  const lines = [...always.filter(([name]) => !dropped.has(name.toLowerCase())), ...headers];
  const head = `${method} ${path} HTTP/${version}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);
};

/** A create that would succeed; something about its transport has to be wrong. */
export const goodBody = '{"amount":"25.00","currency":"USDC","network":"base"}';
