import { type Attack, compose, type Message, type Target } from './attack.ts';
import type { Random } from './random.ts';
import * as values from './values.ts';

type Field = {
  readonly name: string;
  readonly kinds: readonly values.Kind[];
  readonly wrong: readonly ((random: Random) => string)[];
  /** Checked in a place of its own, which need not name it. */
  readonly unnamed?: boolean;
};

/** A route that takes a body: a body that would do, and what may be wrong with each field of it. */
type BodyRoute = {
  readonly method: string;
  path(target: Target): string;
  readonly good: Readonly<Record<string, string>>;
  readonly required: readonly string[];
  readonly fields: readonly Field[];
};

const string = (name: string, wrong: Field['wrong']): Field => ({ name, kinds: ['string'], wrong });
const note: Field = { name: 'description', kinds: ['string', 'null'], wrong: values.wrongDescriptions };
const events: Field = { name: 'events', kinds: ['array'], wrong: values.wrongEvents };

const routes: readonly BodyRoute[] = [
  {
    method: 'POST',
    path: () => '/v1/payments',
    good: { amount: '"25.00"', currency: '"USDC"', network: '"base"' },
    required: ['amount', 'currency', 'network'],
    fields: [
      string('amount', values.wrongAmounts),
      string('currency', values.wrongCurrencies),
      string('network', values.wrongNetworks),
      string('description', values.wrongDescriptions),
      { name: 'expiresIn', kinds: ['number'], wrong: values.wrongExpiries },
      { name: 'metadata', kinds: ['object'], wrong: values.wrongMetadata, unnamed: true },
      string('callbackUrl', values.wrongTargets),
      string('redirectUrl', values.wrongRedirects),
      string('externalId', values.wrongExternalIds),
    ],
  },
  {
    method: 'POST',
    path: () => '/v1/webhooks',
    good: { url: '"https://receiver.example/hook"' },
    required: ['url'],
    fields: [string('url', values.wrongTargets), events, note],
  },
  {
    method: 'PATCH',
    path: target => `/v1/webhooks/${target.endpointId}`,
    good: {},
    required: [],
    fields: [
      string('url', values.wrongTargets),
      events,
      note,
      string('status', values.wrongWords('Enabled', 'on', 'true', 'disabled ')),
    ],
  },
  {
    method: 'POST',
    path: target => `/v1/webhooks/${target.endpointId}/test`,
    good: {},
    required: [],
    fields: [string('type', values.wrongWords('*', 'payment', 'payment.paid', 'Webhook.Test'))],
  },
  {
    method: 'POST',
    path: target => `/v1/payments/${target.paymentId}/resolve`,
    good: { action: '"accept"' },
    required: ['action'],
    fields: [string('action', values.wrongWords('Accept', 'reject', 'accept '))],
  },
  {
    method: 'POST',
    path: target => `/v1/webhooks/${target.endpointId}/replay`,
    good: { from: '"2026-01-01"', to: '"2126-01-01"' },
    required: ['from', 'to'],
    fields: [string('from', [...values.wrongTimes, () => '"2126-01-02"']), string('to', values.wrongTimes)],
  },
];

/** Creating counts for more than the rest: most fields, most to lose. */
const pickRoute = (random: Random): BodyRoute => (random.next() < 0.5 ? routes[0]! : random.pick(routes));

const objectText = (members: readonly (readonly [name: string, value: string])[]): string =>
  `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;

const membersOf = (route: BodyRoute): [string, string][] => Object.entries(route.good);

const request = (target: Target, route: BodyRoute, body: Message['body']): Buffer =>
  compose(target, { method: route.method, path: route.path(target), body: body! });

const withField = (route: BodyRoute, name: string, value: string, random: Random): string => {
  const members = membersOf(route).filter(([known]) => known !== name);
  members.splice(random.below(members.length + 1), 0, [name, value]);
  return objectText(members);
};

const spoilField = (category: string, valueFor: (random: Random, field: Field) => string) => {
  return (random: Random, target: Target): Attack => {
    const route = pickRoute(random);
    const field = random.pick(route.fields);
    const value = valueFor(random, field);
    return {
      category,
      what: `${route.method} ${route.path(target)} ${field.name} = ${value.slice(0, 80)}`,
      wire: request(target, route, withField(route, field.name, value, random)),
      statuses: [400],
      ...(field.unnamed ? {} : { param: field.name }),
    };
  };
};

export const wrongType = spoilField('wrong type', (random, field) => values.otherKind(random, field.kinds));
export const wrongValue = spoilField('wrong value', (random, field) => random.pick(field.wrong)(random));

// biome-ignore format: one list
const strangers = [
  '__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', '__defineGetter__', 'Amount', 'AMOUNT', 'amount ', ' amount', 'amount\u0000',
  'id', 'status', 'address', 'accountId', 'account_id', 'environment', 'createdAt', 'isAdmin', 'amountReceived', 'treasury', 'secret', 'disabledReason', '$schema', '', '0',
];

export const unknownField = (random: Random, target: Target): Attack => {
  const route = pickRoute(random);
  const name = random.next() < 0.7 ? random.pick(strangers) : values.oddText(random, 1 + random.below(200));
  const isKnown = route.fields.some(field => field.name === name);
  const fields = isKnown ? `${name}_` : name;
  return {
    category: 'unknown field',
    what: `${route.method} ${route.path(target)} with ${JSON.stringify(fields).slice(0, 80)}`,
    wire: request(target, route, withField(route, fields, values.anyValue(random), random)),
    statuses: [400],
  };
};

export const missingField = (random: Random, target: Target): Attack => {
  const route = random.pick(routes.filter(each => each.required.length > 0));
  const name = random.pick(route.required);
  return {
    category: 'missing field',
    what: `${route.method} ${route.path(target)} without ${name}`,
    wire: request(target, route, objectText(membersOf(route).filter(([known]) => known !== name))),
    statuses: [400],
    param: name,
  };
};

const escaped = (name: string, random: Random): string => {
  const at = random.below(name.length);
  const code = name.charCodeAt(at).toString(16).padStart(4, '0');
  return `"${name.slice(0, at)}\\u${random.next() < 0.5 ? code : code.toUpperCase()}${name.slice(at + 1)}"`;
};

/** The same key twice, spelt alike or not, with the same value or another, at the top or inside metadata. */
export const duplicateKey = (random: Random, target: Target): Attack => {
  const isInside = random.next() < 0.4;
  const route = isInside ? routes[0]! : pickRoute(random);
  const field = random.pick(route.fields);
  const name = isInside ? random.pick(['a', 'order', '__proto__', '0', 'é']) : field.name;
  const spelling = () => (random.next() < 0.5 ? JSON.stringify(name) : escaped(name, random));
  const value = isInside ? '1' : (route.good[name] ?? 'null');
  const twice = `${spelling()}:${value},${spelling()}:${random.next() < 0.5 ? value : values.anyValue(random)}`;
  const rest = membersOf(route).filter(([known]) => known !== name);
  const others = rest.map(([known, text]) => `,"${known}":${text}`).join('');
  const body = isInside ? `{"metadata":{"deep":[{${twice}}]}${others}}` : `{${twice}${others}}`;
  return {
    category: 'duplicate key',
    what: `${route.method} ${route.path(target)} ${body.slice(0, 120)}`,
    wire: request(target, route, body),
    statuses: [400],
  };
};

export const notAnObject = (random: Random, target: Target): Attack => {
  const route = pickRoute(random);
  const body = random.next() < 0.2 ? '' : values.otherKind(random, ['object']);
  const optional = route.path(target).endsWith('/test') && body === '';
  return {
    category: 'not an object',
    what: `${route.method} ${route.path(target)} ${body.slice(0, 80)}`,
    wire: request(target, route, optional ? '[]' : body),
    statuses: [400],
  };
};

/** A body that would do, for attacks on its text. Routes where that would change something are left out. */
export const goodText = (random: Random, target: Target): { method: string; path: string; text: string } => {
  const route = random.pick([routes[0]!, routes[1]!, routes[4]!]);
  const members = membersOf(route);
  if (route === routes[0])
    members.push(['metadata', '{"order":"A-1","n":[1,2.5,true,null]}'], ['description', '"tea"']);
  if (route === routes[1]) members.push(['description', '"tea"']);
  return { method: route.method, path: route.path(target), text: objectText(members) };
};
