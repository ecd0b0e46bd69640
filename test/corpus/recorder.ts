import type { Answer } from '../support/send.ts';
import type { Recorded } from './answersFile.ts';
import { createMasks, type Masks } from './masks.ts';

export type Noted = {
  readonly line: string;
  readonly sent?: unknown;
  /** For pages: they are compared by other tests, and only status and headers are recorded. */
  readonly isBodyLeftOut?: boolean;
};

export type Recorder = {
  readonly masks: Masks;
  readonly records: readonly Recorded[];
  note(name: string, noted: Noted, answer: Answer): void;
};

const counters = new Set(['x-ratelimit-remaining', 'x-ratelimit-reset', 'retry-after']);

const headersOf = ({ headers, text }: Answer, isHead: boolean, mask: (text: string) => string): string[] => {
  const shown = (name: string, value: string): string => {
    if (counters.has(name)) return '<number>';
    if (name !== 'content-length') return mask(value);
    // The text of a compressed body is not what was sent.
    const isUnknown = isHead || headers['content-encoding'] !== undefined;
    return isUnknown || Number(value) === Buffer.byteLength(text) ? '<length>' : value;
  };
  return Object.entries(headers)
    .filter(([name]) => name !== 'date')
    .map(
      ([name, value]) =>
        `${name}: ${[value ?? '']
          .flat()
          .map(each => shown(name, each))
          .join(' | ')}`,
    )
    .sort();
};

const longestSent = 400;

/** What an authenticator signs differs in each run, and is nothing to read. */
const withoutProof = (name: string, value: unknown): unknown =>
  name === 'response' && typeof value === 'object' && value !== null && 'rawId' in value ? '<proof>' : value;

const sentText = (sent: unknown): string | null => {
  if (sent === undefined) return null;
  const asIs = typeof sent === 'string' ? sent : Buffer.isBuffer(sent) ? sent.toString('latin1') : null;
  const text = asIs ?? JSON.stringify(sent, withoutProof);
  const cut = text.length > longestSent ? `${text.slice(0, longestSent)}… (${text.length} characters)` : text;
  return cut.replaceAll(/[^\x20-\x7e…]/g, each => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
};

/** Keeps each answer as it will be in the file. Names of requests are unique, so that a difference can be found. */
export const createRecorder = (): Recorder => {
  const masks = createMasks();
  const records: Recorded[] = [];
  const names = new Set<string>();
  return {
    masks,
    records,
    note(name, { line, sent, isBodyLeftOut = false }, answer) {
      if (names.has(name)) throw new Error(`the corpus has two requests with the name ${name}`);
      names.add(name);
      const requestId = String(answer.headers['x-request-id'] ?? '');
      const mask = (text: string): string => masks.apply(text, requestId);
      const text = sentText(sent);
      records.push({
        name,
        line: mask(line),
        sent: text === null ? null : mask(text),
        status: answer.status,
        headers: headersOf(answer, line.startsWith('HEAD '), mask),
        body: isBodyLeftOut || answer.text === '' ? null : mask(answer.text),
      });
      masks.nameRequest(requestId, name);
    },
  };
};
