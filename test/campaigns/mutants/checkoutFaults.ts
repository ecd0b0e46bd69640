// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the faults quote source text.
import { api, checkout, engine, type Fault, http } from './fault.ts';

const shown: Fault[] = [
  {
    name: 'a page shows an address that was not derived again',
    file: 'src/engine/checkoutView.ts',
    find: '  assertAuthentic(context, row);\n',
    replace: '',
    tests: api('checkoutTampering'),
  },
  {
    name: 'what has arrived is asked for again',
    file: 'src/engine/checkoutView.ts',
    find: '(accepted < asked ? accepted : asked) - BigInt(amountReceived)',
    replace: 'accepted < asked ? accepted : asked',
    tests: engine('checkoutView'),
  },
  {
    name: 'a payment that is under way asks for the rest',
    file: 'src/engine/checkoutView.ts',
    find: "if (status === 'confirming' || status === 'completed') return 0n;",
    replace: "if (status === 'completed') return 0n;",
    tests: engine('checkoutView'),
  },
  {
    name: 'an expired payment can be paid on its page',
    file: 'src/engine/checkoutView.ts',
    find: "isPayable: status === 'pending' && ",
    replace: "isPayable: status !== 'completed' && ",
    tests: engine('checkoutView'),
  },
  {
    name: 'payers are sent back over http',
    file: 'src/engine/checkoutView.ts',
    find: "URL.parse(url)?.protocol === 'https:' ? url : null",
    replace: "URL.parse(url)?.protocol !== 'javascript:' ? url : null",
    tests: engine('checkoutView'),
  },
  {
    name: 'a page does not notice that the time is up',
    file: 'src/engine/readCheckout.ts',
    find: ' && now.isOver === basis.isOver',
    replace: '',
    tests: engine('readCheckout'),
  },
  {
    name: 'a page does not notice a new name of its merchant',
    file: 'src/storage/checkouts.ts',
    find: 'a.xmin::text || a.ctid::text || s.xmin::text',
    replace: 's.xmin::text',
    tests: engine('readCheckout'),
  },
  {
    name: 'a payment is shown in the other environment',
    file: 'src/storage/checkouts.ts',
    find: 'p.id = wanted.id and p.environment = wanted.environment limit 1',
    replace: 'p.id = wanted.id limit 1',
    tests: api('checkoutPages'),
  },
];

const written: Fault[] = [
  {
    name: 'quotes in values end attributes',
    file: 'src/core/html.ts',
    find: `/[&<>"']/g`,
    replace: '/[&<>]/g',
    tests: checkout('escaping'),
  },
  {
    name: 'any address becomes a link',
    file: 'src/checkout/safeUrl.ts',
    find: "parsed?.protocol === 'https:' ? parsed.href : null",
    replace: 'parsed?.href ?? null',
    tests: checkout('escaping', 'states'),
  },
  {
    name: 'a page tells the time at which it was made',
    file: 'src/http/checkoutRoutes.ts',
    find: 'timeHeader(context.clock.nowMs())',
    replace: 'timeHeader(view.createdAtMs)',
    tests: api('checkoutPages'),
  },
  {
    name: 'a page that has changed is shown as it was',
    file: 'src/http/checkoutPages.ts',
    find: 'known?.version === view.version',
    replace: 'known',
    tests: http('checkoutPages'),
  },
  {
    name: 'a page that was packed is packed again for everybody',
    file: 'src/http/checkoutPages.ts',
    find: "packedPage: keeping('packed page', (view, language) => pack(pageText(view, language))),",
    replace: 'packedPage: (view, language) => pack(pageText(view, language)),',
    tests: http('checkoutPages'),
  },
  {
    name: 'a page is shown in the language of whoever asked for it before',
    file: 'src/http/checkoutPages.ts',
    find: '${kind} ${language.tag} ${view.id}',
    replace: '${kind} ${view.id}',
    tests: http('checkoutPages'),
  },
];

const opened: Fault[] = [
  {
    name: 'any site may show the page in a frame',
    file: 'src/http/checkoutHeaders.ts',
    find: `origins.length === 0 ? "'none'" : origins.join(' ')`,
    replace: `origins.length === 0 ? '*' : origins.join(' ')`,
    tests: api('checkoutFrames', 'checkoutPages'),
  },
  {
    name: 'pages are kept by whoever passes them on',
    file: 'src/http/checkoutHeaders.ts',
    find: "'cache-control': 'no-store'",
    replace: "'cache-control': 'public, max-age=60'",
    tests: api('checkoutPages'),
  },
  {
    name: "another payment's token pays",
    file: 'src/engine/simulateCheckout.ts',
    find: '!context.vault.verifySimulateToken(row.id, token)',
    replace: 'token.length === 0',
    tests: api('checkoutSimulate'),
  },
  {
    name: 'open pages of a tampered payment keep its address',
    file: 'src/http/liveCheckouts.ts',
    find: 'if (answer instanceof TamperedPayment) block(asked);\n      else ',
    replace: '',
    tests: api('checkoutTampering'),
  },
  {
    name: 'an open page is told each time, changed or not',
    file: 'src/http/liveCheckouts.ts',
    find: 'if (listener.sent === view.version) continue;',
    replace: '',
    tests: api('checkoutLive'),
  },
  {
    name: 'one address takes all the room',
    file: 'src/http/liveCheckouts.ts',
    find: 'most: limits.perAddress',
    replace: 'most: limits.perEnvironment',
    tests: api('checkoutLiveRoom'),
  },
  {
    name: 'two Host headers are taken',
    file: 'src/http/secureServer.ts',
    find: "name.length === 4 && name.toLowerCase() === 'host') count++",
    replace: "name.length === 4 && name.toLowerCase() === 'host') count = 1",
    tests: http('listener'),
  },
];

export const checkoutFaults: readonly Fault[] = [...shown, ...written, ...opened];
