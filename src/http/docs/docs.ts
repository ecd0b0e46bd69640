import { hash } from 'node:crypto';
import { type Html, html, markupOf } from '../../core/html.ts';
import type { Reply } from '../edge/route.ts';
import { exampleAnswerOf, exampleBodyOf, exampleIds } from './docsExamples.ts';
import { type Guide, guidesOf } from './docsGuides.ts';
import { commandOf, curlLines, type DocsPlace, shellQuoted } from './docsPlace.ts';
import { fieldsOf, fieldTable, jsonMarkup, type Schema } from './docsSchema.ts';
import { docsStyle } from './docsStyle.ts';
import type { OpenApi, Operation } from './openapi.ts';
import { withoutReferences } from './references.ts';

type Entry = { method: string; path: string; operation: Operation };

const headers = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', markupOf(docsStyle), 'base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

const entriesByTag = (document: OpenApi): Map<string, Entry[]> => {
  const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method, path, operation })),
  );
  return Map.groupBy(entries, ({ operation }) => operation.tags[0] ?? 'Other');
};

const idsByPath: Readonly<Record<string, string>> = {
  '/v1/webhooks': exampleIds.endpoint,
  '/v1/events': exampleIds.event,
  '/v1/deliveries': exampleIds.delivery,
};

const pathExample = (path: string, name: string): string =>
  name === 'id' ? (idsByPath[path.split('/{', 1)[0]!] ?? exampleIds.payment) : 'base';

const queryExample = ({ name, schema }: Operation['parameters'][number]): string => {
  const { default: usual, enum: choices } = schema as Schema;
  return `${name}=${usual ?? choices?.[0]}`;
};

/** The schema of the body, if it has properties. */
const bodyOf = ({ requestBody }: Operation): Schema | undefined => {
  const schema = requestBody?.content['application/json'].schema as Schema | undefined;
  return schema && fieldsOf(schema).length > 0 ? schema : undefined;
};

/** A command that works unchanged once the variables of the first example are set. */
const curlOf = ({ method, path, operation }: Entry, place: DocsPlace): Html => {
  const target = path.replaceAll(/\{([a-z]+)\}/g, (_, name: string) => pathExample(path, name));
  const schema = bodyOf(operation);
  const query = operation.parameters.filter(each => each.in === 'query' && (each.required || each.name === 'limit'));
  const isImplied = method === 'get' || (method === 'post' && schema !== undefined);
  const verb = isImplied ? '' : ` -X ${method.toUpperCase()}`;
  const lines = curlLines(place, verb, query.length === 0 ? target : `${target}?${query.map(queryExample).join('&')}`);
  if (operation.security) lines.push('-H "Authorization: Bearer $FLORIN_KEY"');
  if (schema) {
    const body = JSON.stringify(exampleBodyOf(schema, place), null, 2).replaceAll('\n', '\n  ');
    lines.push("-H 'Content-Type: application/json'", `-d ${shellQuoted(body)}`);
  }
  return html`${commandOf(lines)}`;
};

const sampleBlock = (title: string, code: Html): Html =>
  html`<figure class="sample"><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;

const badge = (method: string): Html => html`<span class="method ${method}">${method.toUpperCase()}</span>`;

const parameterTable = ({ path, operation }: Entry): Html | null =>
  operation.parameters.length === 0
    ? null
    : fieldTable(
        'Parameters',
        operation.parameters.map(parameter => ({
          path: parameter.name,
          schema: parameter.schema as Schema,
          required: parameter.required,
          description:
            parameter.in === 'path'
              ? `Part of the path. Example: ${pathExample(path, parameter.name)}`
              : `${parameter.description ?? 'Returns only results with this value.'}${parameter.in === 'header' ? ' Send it as a header.' : ''}`,
        })),
        'request',
      );

const errorList = ({ responses }: Operation): Html => {
  const failures = Object.entries(responses).filter(([status]) => status >= '400');
  return html`<h4>Errors</h4>
<ul class="failures">${failures.map(([status, { description }]) => {
    const codes = [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code!);
    return html`<li><span class="status">${status}</span> ${codes.map(
      code => html`<a href="#error-${code}"><code>${code}</code></a> `,
    )}</li>`;
  })}</ul>`;
};

const permissionLine = ({ security }: Operation): Html =>
  security
    ? html`<p class="permission">Needs a key with ${security.flatMap(({ apiKey }) => apiKey).map(scope => html`<code>${scope}</code>`)}</p>`
    : html`<p class="permission">No key needed</p>`;

const operationSection = (entry: Entry, place: DocsPlace): Html => {
  const { method, path, operation } = entry;
  const body = bodyOf(operation);
  const answer = operation.responses['200']?.content?.['application/json']?.schema as Schema | undefined;
  const example = answer && exampleAnswerOf(operation.operationId, answer, place);
  return html`<article class="pair" id="${operation.operationId}" aria-labelledby="${operation.operationId}-title">
<div class="prose">
<h3 id="${operation.operationId}-title"><a class="anchor" href="#${operation.operationId}">${operation.summary}</a></h3>
<p class="endpoint">${badge(method)} <code>${path.split('/').map((part, i) => (i === 0 ? part : [html`<wbr>`, `/${part}`]))}</code></p>
${permissionLine(operation)}
${parameterTable(entry)}
${body ? fieldTable(operation.requestBody!.required ? 'Request body' : 'Request body (optional)', fieldsOf(body), 'request') : null}
${answer ? html`<details><summary>Response fields</summary>${fieldTable('Response', fieldsOf(answer), 'answer')}</details>` : null}
${errorList(operation)}
</div>
<div class="samples" role="group" aria-label="Examples">${sampleBlock('Request', curlOf(entry, place))}${example === undefined ? null : sampleBlock('Response, 200', jsonMarkup(example))}</div>
</article>
`;
};

const guideSection = ({
  id,
  title,
  text,
  sample,
}: Guide): Html => html`<section class="pair" id="${id}" aria-labelledby="${id}-title">
<div class="prose"><h2 id="${id}-title"><a class="anchor" href="#${id}">${title}</a></h2>
${text}</div>
${sample ? html`<div class="samples">${sampleBlock(sample.title, sample.code)}</div>` : null}
</section>
`;

/** The summary up to its first comma, semicolon or colon. */
const shortTitle = ({ summary }: Operation): string => summary.split(/[,;:]/, 1)[0]!;

const groupId = (tag: string): string => `group-${tag.toLowerCase()}`;

const navigation = (
  guides: readonly Guide[],
  groups: Map<string, Entry[]>,
): Html => html`<nav id="contents" aria-label="Contents">
<p class="group">Guide</p>
<ul>${guides.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
${[...groups].map(
  ([tag, entries]) => html`<p class="group"><a href="#${groupId(tag)}">${tag}</a></p>
<ul>${entries.map(
    ({ method, operation }) =>
      html`<li><a class="call" href="#${operation.operationId}">${badge(method)}<span>${shortTitle(operation)}</span></a></li>`,
  )}</ul>
`,
)}</nav>`;

const notice = html`<p class="notice" role="note"><strong>Start in the sandbox: it uses test money only.</strong> Manage keys,
webhooks, wallets and your team in the dashboard.</p>`;

const page = (document: OpenApi, place: DocsPlace): Html => {
  const { title, version, description } = document.info;
  const { environment } = place;
  const guides = guidesOf(place);
  const groups = entriesByTag(document);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} API reference</title>
<style>${docsStyle}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the reference</a>
<header><a class="brand" href="#main">${title}</a><span class="version">API ${version}</span><span class="environment ${environment}">${environment}</span></header>
<input type="checkbox" id="menu"><label for="menu">Contents</label>
${navigation(guides, groups)}
<main id="main" tabindex="-1">
<div class="intro"><h1>API reference</h1>
<p>${description}</p>
<p class="permission">JSON over HTTPS. There is also an <a href="/openapi.json">OpenAPI 3.1 document</a>.</p>
${notice}</div>
${guides.map(guideSection)}
${[...groups].map(
  ([tag, entries]) => html`<section class="group" id="${groupId(tag)}" aria-labelledby="${groupId(tag)}-title">
<h2 id="${groupId(tag)}-title">${tag}</h2>
${entries.map(entry => operationSection(entry, place))}</section>
`,
)}</main>
</body>
</html>
`;
};

/** The API reference as one page without scripts. Its operations come from the OpenAPI document. */
export const renderDocs = (document: OpenApi, place: DocsPlace): Reply & { body: string } => ({
  body: markupOf(page(withoutReferences(document), place)),
  contentType: 'text/html; charset=utf-8',
  headers,
});
