import { html } from '../../core/html.ts';

/** The inline style of the reference. The Content-Security-Policy allows it by its hash. */
export const docsStyle = html`
:root { color-scheme: light dark;
  --page: #ffffff; --panel: #f5f6f8; --line: #e1e5ea; --ink: #1b2430; --muted: #56606d; --link: #0a6253; --focus: #0a6253;
  --get-ink: #12479c; --get: #e6effc; --post-ink: #125c2a; --post: #e1f3e6;
  --patch-ink: #7c4300; --patch: #fcefd9; --delete-ink: #9c1a21; --delete: #fce8e8;
  --key: #12479c; --text: #125c2a; --value: #7c4300;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, Liberation Mono, monospace; --bar: 3.25rem; }
@media (prefers-color-scheme: dark) { :root {
  --page: #0e1217; --panel: #161c24; --line: #29313c; --ink: #e5e9ef; --muted: #a0abb9; --link: #5fd0b9; --focus: #5fd0b9;
  --get-ink: #9cc3ff; --get: #16294a; --post-ink: #86d9a0; --post: #12331f;
  --patch-ink: #f3c27a; --patch: #3a2a10; --delete-ink: #ffa6a6; --delete: #431b1e;
  --key: #9cc3ff; --text: #86d9a0; --value: #f3c27a; } }
*, *::before, *::after { box-sizing: border-box; scrollbar-width: thin; }
html { scroll-padding-top: calc(var(--bar) + 1rem); text-size-adjust: 100%; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, Segoe UI, Roboto, sans-serif; }
a { color: var(--link); text-underline-offset: 0.18em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
code, pre { font-family: var(--mono); font-size: 0.875em; }
p code { background: var(--panel); padding: 0.1em 0.25em; border-radius: 4px; }
p, dl, ul { margin: 0 0 1rem; }
h1, h2, h3, h4 { line-height: 1.25; margin: 0 0 0.75rem; letter-spacing: -0.012em; }
h1 { font-size: 2.125rem; } h2 { font-size: 1.5rem; } h3 { font-size: 1.25rem; } h4 { font-size: 0.9375rem; margin-top: 1.5rem; }
.anchor { color: inherit; text-decoration: none; } .anchor:hover { text-decoration: underline; }

.skip { position: fixed; top: -6rem; left: 0.75rem; z-index: 3; background: var(--ink); color: var(--page); padding: 0.625rem 1rem; border-radius: 6px; }
.skip:focus { top: 0.75rem; }
header { position: sticky; top: 0; z-index: 2; height: var(--bar); display: flex; align-items: center; gap: 0.75rem;
  padding: 0 1.25rem; background: var(--page); border-bottom: 1px solid var(--line); }
.brand { font-weight: 700; font-size: 1.125rem; color: var(--ink); text-decoration: none; letter-spacing: -0.02em; }
.version { color: var(--muted); font-size: 0.875rem; }
.environment { margin-left: auto; font-size: 0.8125rem; font-weight: 600; padding: 0.125rem 0.625rem; border-radius: 99px; background: var(--patch); color: var(--patch-ink); }
.environment.production { background: var(--post); color: var(--post-ink); }

nav { padding: 0.75rem 1.25rem 1.5rem; border-bottom: 1px solid var(--line); font-size: 0.9375rem; }
nav .group { margin: 1.25rem 0 0.25rem; font-size: 0.8125rem; font-weight: 700; color: var(--muted); }
nav .group a { color: inherit; text-decoration: none; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: 0.3125rem 0.5rem; margin: 0 -0.5rem; border-radius: 6px; color: var(--ink); text-decoration: none; line-height: 1.4; }
nav a:hover { background: var(--panel); }
nav li a.call { display: grid; grid-template-columns: 3.75rem 1fr; column-gap: 0.5rem; align-items: baseline; }
nav .method { justify-self: start; }
#menu { position: absolute; opacity: 0; }
label { display: block; padding: 0.75rem 1.25rem; border-bottom: 1px solid var(--line); font-weight: 600; cursor: pointer; }
label::before { content: ''; display: inline-block; width: 0.5rem; height: 0.5rem; margin: 0 0.75rem 0.125rem 0.125rem;
  border: solid var(--muted); border-width: 0 2px 2px 0; transform: rotate(-45deg); }
#menu:checked + label::before { transform: rotate(45deg); }
#menu:focus-visible + label { outline: 3px solid var(--focus); outline-offset: -3px; }
#menu:not(:checked) ~ nav { display: none; }

main { padding: 2rem 1.25rem 6rem; min-width: 0; }
.intro { max-width: 44rem; } .intro p { font-size: 1.125rem; } .intro .permission { font-size: 0.9375rem; }
.pair { padding: 2.5rem 0; border-top: 1px solid var(--line); display: grid; gap: 1.5rem; grid-template-columns: minmax(0, 1fr); }
section.group { margin-top: 2rem; padding-top: 1rem; } section.group h2 { font-size: 1.75rem; }
.prose { max-width: 46rem; min-width: 0; }
.method { font: 700 0.6875rem/1.5 var(--mono); padding: 0.0625rem 0.375rem; border-radius: 4px; }
.get { background: var(--get); color: var(--get-ink); } .post { background: var(--post); color: var(--post-ink); }
.put, .patch { background: var(--patch); color: var(--patch-ink); } .delete { background: var(--delete); color: var(--delete-ink); }
.endpoint { margin-bottom: 0.375rem; overflow-wrap: anywhere; } .endpoint .method { font-size: 0.8125rem; margin-right: 0.25rem; }
.notice { padding: 0.75rem 1rem; border-radius: 8px; background: var(--patch); }
.intro .notice { font-size: 1rem; }
.permission, .limits { color: var(--muted); font-size: 0.875rem; }

table { width: 100%; border-collapse: collapse; margin: 1.5rem 0 1rem; font-size: 0.9375rem; }
caption { text-align: left; font-weight: 650; padding-bottom: 0.5rem; }
th, td { text-align: left; vertical-align: top; padding: 0.625rem 1rem 0.625rem 0; border-top: 1px solid var(--line); font-weight: 400; }
thead th { font-size: 0.8125rem; color: var(--muted); padding-block: 0.375rem; }
td:last-child { padding-right: 0; overflow-wrap: anywhere; } td p { margin: 0; } td .limits { margin-top: 0.125rem; }
.fields tbody th { width: 34%; } .fields tbody th span, .errors tbody th code { white-space: nowrap; } .fields tbody th code { font-weight: 600; }
.fields .type { width: 19%; color: var(--muted); font-size: 0.875rem; }
.fields.errors .type { width: 12%; }
.parent { color: var(--muted); font-weight: 400; }
.required, .optional { display: block; font-size: 0.75rem; color: var(--muted); } .required { color: var(--delete-ink); font-weight: 600; }
.choices code, .failures code { white-space: nowrap; }
tr:target { background: var(--patch); }
dl div { display: grid; grid-template-columns: 10rem 1fr; gap: 1rem; padding: 0.4375rem 0; border-top: 1px solid var(--line); font-size: 0.9375rem; }
dd { margin: 0; }
details { margin: 1.25rem 0; } details table { margin-top: 0.75rem; }
summary { cursor: pointer; font-weight: 650; font-size: 0.9375rem; padding: 0.25rem 0; }
.failures { list-style: none; padding: 0; font-size: 0.9375rem; }
.failures li { padding: 0.125rem 0 0.125rem 3rem; } .status { float: left; margin-left: -3rem; color: var(--muted); font-variant-numeric: tabular-nums; }

.samples { min-width: 0; }
.sample { margin: 0 0 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
figcaption { padding: 0.5rem 0.875rem; font-size: 0.8125rem; font-weight: 600; color: var(--muted); border-bottom: 1px solid var(--line); }
pre { margin: 0; padding: 0.875rem; font-size: 0.9375rem; line-height: 1.6; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; }
pre:focus-visible { outline-offset: -3px; }
pre .key { color: var(--key); } pre .text { color: var(--text); } pre .value { color: var(--value); }

@media (max-width: 37.5rem) {
  .fields, .fields tbody, .fields tr, .fields th, .fields td { display: block; }
  .fields thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .fields caption { display: block; }
  .fields tr { border-top: 1px solid var(--line); padding: 0.625rem 0; }
  .fields tbody th, .fields tbody td, .fields .type { width: auto; border: 0; padding: 0; }
  .required, .optional { display: inline; margin-left: 0.25rem; }
  dl div { grid-template-columns: 1fr; gap: 0; }
  h1 { font-size: 1.75rem; } pre { padding: 0.75rem; }
}
@media (min-width: 37.5625rem) { pre { white-space: pre; overflow-wrap: normal; overflow-x: auto; } }
@media (min-width: 60rem) {
  #menu, label { display: none; }
  body { display: grid; grid-template-columns: 17.5rem minmax(0, 1fr); }
  .skip + header, header { grid-column: 1 / -1; }
  nav, #menu:not(:checked) ~ nav { display: block; position: sticky; top: var(--bar); height: calc(100vh - var(--bar)); overflow-y: auto;
    border: 0; border-right: 1px solid var(--line); padding: 0.25rem 1.25rem 2rem; }
  main { padding: 2.5rem 2rem 8rem; max-width: 88rem; }
}
@media (min-width: 80rem) {
  .pair { grid-template-columns: minmax(0, 1.2fr) minmax(0, 1fr); gap: 2rem; }
  .samples { position: sticky; top: calc(var(--bar) + 1rem); align-self: start; max-height: calc(100vh - var(--bar) - 2rem); overflow-y: auto; }
}
@media (forced-colors: active) { .method, .environment { border: 1px solid; } }
@media print {
  header, nav, label, #menu, .skip { display: none !important; }
  body, .pair { display: block; } main { padding: 0; max-width: none; }
  .samples { position: static; max-height: none; overflow: visible; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  tr, .sample { break-inside: avoid; } h2, h3, h4, caption { break-after: avoid; } .pair { padding: 1.5rem 0; }
}
`;
