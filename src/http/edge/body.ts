import type { IncomingMessage } from 'node:http';
import { FlorinError, invalid } from '../../core/errors.ts';
import { checkJson, memberSource } from '../../core/json.ts';

/** A request body after reading and checking: its bytes, text and value. */
export type Body = { readonly bytes: Buffer; readonly text: string; readonly value: unknown };

const maximumBytes = 64 * 1024;
/** Metadata has the smaller limit. This one is larger, so that the error can name metadata instead of the body. */
const maximumDepth = 32;
const drainBytes = 8 * 1024 * 1024;
const drainMs = 2_000;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const tooLarge = (most: number) =>
  new FlorinError('payload_too_large', `The request body is larger than ${most} bytes.`);

/**
 * Reads and discards the rest of the body, so that a client that is still sending can read the response. Limited in
 * bytes and time.
 */
const drain = (stream: IncomingMessage): Promise<void> =>
  new Promise(resolve => {
    let seen = 0;
    const done = () => {
      clearTimeout(timer);
      stream.off('data', count);
      stream.off('end', done);
      stream.off('error', done);
      stream.off('close', done);
      resolve();
    };
    const count = (chunk: Buffer) => {
      seen += chunk.length;
      if (seen > drainBytes) done();
    };
    const timer = setTimeout(done, drainMs);
    stream.on('data', count);
    stream.once('end', done);
    stream.once('error', done);
    stream.once('close', done);
    stream.resume();
  });

const readBytes = async (stream: IncomingMessage, most: number): Promise<Buffer> => {
  if (Number(stream.headers['content-length'] ?? 0) > most) {
    await drain(stream);
    throw tooLarge(most);
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= most) {
        chunks.push(chunk);
        return;
      }
      stream.off('data', onData);
      stream.off('end', onEnd);
      void drain(stream).then(() => reject(tooLarge(most)));
    };
    const onEnd = () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    stream.on('data', onData);
    stream.once('end', onEnd);
    stream.once('error', () => reject(invalid(undefined, 'The request body ended too early.')));
  });
};

const refusals = {
  syntax: 'The request body is not valid JSON.',
  depth: 'The request body is nested too deeply.',
  duplicate_key: 'The request body has the same key twice in one object.',
  unicode: 'The request body contains text that is not well-formed Unicode.',
} as const;

const readText = (bytes: Buffer): string => {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalid(undefined, 'The request body is not valid UTF-8.');
  }
};

/** Reads strict JSON: UTF-8, no duplicate keys, no lone surrogates, limited nesting. A missing body is undefined. */
export const readJsonBody = async (stream: IncomingMessage, most = maximumBytes): Promise<Body | undefined> => {
  const bytes = await readBytes(stream, most);
  if (bytes.length === 0) return undefined;
  const text = readText(bytes);
  const checked = checkJson(text, { maxDepth: maximumDepth });
  if (!checked.ok) throw invalid(checked.path || undefined, refusals[checked.reason]);
  return { bytes, text, value: JSON.parse(text) };
};

/** Reads the fields of a form by name. Each field may appear once. */
export const readFormBody = async (stream: IncomingMessage, most = maximumBytes): Promise<Body | undefined> => {
  const bytes = await readBytes(stream, most);
  if (bytes.length === 0) return undefined;
  const text = readText(bytes);
  const fields = [...new URLSearchParams(text)];
  const value = Object.fromEntries(fields);
  if (Object.keys(value).length < fields.length) throw invalid(undefined, 'The form has the same field twice.');
  return { bytes, text, value };
};

const metadataBytes = 16 * 1024;
const metadataDepth = 16;

/** The source text of the metadata member, without white space between tokens. */
export const metadataSource = (text: string): string => {
  const member = memberSource(text, 'metadata');
  if (member === null) return '{}';
  const { source, depth } = member;
  if (Buffer.byteLength(source) > metadataBytes) throw invalid('metadata', 'metadata must be at most 16 KiB.');
  if (depth > metadataDepth) throw invalid('metadata', `metadata must be nested at most ${metadataDepth} deep.`);
  return source;
};
