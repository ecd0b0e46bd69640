import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { apiObjects } from '../../src/core/api/apiObjects.ts';
import { errorObject } from '../../src/core/api/error.ts';
import { paymentEvent, securityEvent, testEvent } from '../../src/core/api/event.ts';
import { environments } from '../../src/core/environment.ts';
import { eventTypes } from '../../src/core/payment/states.ts';
import { openApiDocument } from '../../src/http/docs/openapi.ts';
import { withoutReferences } from '../../src/http/docs/references.ts';
import { documentedRoutes } from './documentedRoutes.ts';

const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Every object in the document that is no example, and no part of one. */
const partsOf = (value: unknown): Json[] => {
  if (!isObject(value)) return [];
  const inner = Object.entries(value).flatMap(([name, each]) => (name === 'example' ? [] : partsOf(each)));
  return Array.isArray(value) ? inner : [value, ...inner];
};

const document = openApiDocument(documentedRoutes, 'sandbox');
const operations = Object.values(document.paths).flatMap(each => Object.values(each));
const hooks = Object.values(document.webhooks).map(({ post }) => post);

const operationOf = (id: string) => operations.find(({ operationId }) => operationId === id)!;

describe('the OpenAPI document', () => {
  test.each(environments)('of %s has no fault that a linter finds', async environment => {
    const config = await createConfig({
      extends: ['recommended-strict'],
      rules: {
        // Operations without a key have no security, and the document has none for all.
        'security-defined': 'off',
        // Event is the type for receivers, which get events of all types at one URL.
        'no-unused-components': 'off',
        'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: false },
      },
    });
    const source = JSON.stringify(openApiDocument(documentedRoutes, environment));
    const problems = await lintFromString({ source, config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  test('names each operation once, with a summary, a tag and its errors', () => {
    const ids = [...operations, ...hooks].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operationId, summary, tags, responses } of operations) {
      expect(operationId).toMatch(
        /^(?:get|list|create|update|delete|cancel|resolve|resend|replay|rotate|simulate|test)[A-Z]/,
      );
      expect([summary !== '', tags.length], operationId).toEqual([true, 1]);
      const failures = Object.entries(responses).filter(([status]) => status >= '400');
      expect(failures.length, operationId).toBeGreaterThan(0);
      for (const [, { $ref }] of failures) expect($ref).toBe('#/components/responses/Error');
    }
  });

  test('writes no large schema twice', () => {
    const { paths, webhooks, components } = document;
    const large = partsOf({ paths, webhooks, schemas: components.schemas })
      .filter(part => ['properties', 'items', 'anyOf', 'enum'].some(keyword => keyword in part))
      .map(part => JSON.stringify(part, null, 2))
      .filter(text => text.split('\n').length > 20);
    expect(large.length).toBeGreaterThan(10);
    expect(large.filter((text, index) => large.indexOf(text) !== index)).toEqual([]);
  });

  test('gives each object one name', () => {
    const schemas: Json = apiObjects;
    const texts = Object.values(schemas).map(schema => {
      const { description: _, ...rest } = schema as Json;
      return JSON.stringify(rest);
    });
    expect(new Set(texts).size).toBe(texts.length);
  });

  test('lists a webhook for each event type', () => {
    expect(Object.keys(document.webhooks)).toEqual([...eventTypes]);
  });
});

/** The document says of a list of strings that it has strings. Validators need not be told. */
const untyped = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(untyped);
  if (!isObject(value)) return value;
  const { type, ...rest } = value;
  const entries = Object.entries('enum' in value && type === 'string' ? rest : value);
  return Object.fromEntries(entries.map(([name, each]) => [name, untyped(each)]));
};

describe.each(documentedRoutes.map(route => [route.operationId, route] as const))('%s', (id, { body, answer }) => {
  const whole = withoutReferences(document);
  const { requestBody, responses } = Object.values(whole.paths)
    .flatMap(each => Object.values(each))
    .find(({ operationId }) => operationId === id)!;

  test('is documented with the schemas that validate it', () => {
    expect(untyped(requestBody?.content['application/json'].schema)).toEqual(body && plain(body));
    expect(untyped(responses['200']!.content?.['application/json']?.schema)).toEqual(answer && plain(answer));
  });

  test('has examples that fit them', () => {
    const said = operationOf(id);
    if (body) expect([...Value.Errors(body, said.requestBody!.content['application/json'].example)]).toEqual([]);
    const example = said.responses['200']!.content?.['application/json']?.example;
    if (answer) expect([...Value.Errors(answer, example)]).toEqual([]);
    expect(JSON.stringify(example ?? null)).not.toContain('"text"');
  });
});

test.each(eventTypes)('%s has an example of its own type', type => {
  const { schema, example } = document.webhooks[type]!.post.requestBody.content['application/json'];
  const others = {
    'webhook.test': ['TestEvent', testEvent],
    'account.security': ['SecurityEvent', securityEvent],
  } as const;
  const [name, own] = type in others ? others[type as keyof typeof others] : (['PaymentEvent', paymentEvent] as const);
  expect(schema).toEqual({ $ref: `#/components/schemas/${name}` });
  expect(example).toMatchObject({ type });
  expect([...Value.Errors(own, example)]).toEqual([]);
});

test('the example of an error fits its schema', () => {
  const { Error: said } = document.components.responses as { Error: { content: Record<string, { example: unknown }> } };
  expect([...Value.Errors(errorObject, said.content['application/json']!.example)]).toEqual([]);
});
