/**
 * JSON checks that `JSON.parse` does not make. One pass, no recursion, linear time. The first fault in the text is
 * reported.
 */
export type JsonFault = 'syntax' | 'depth' | 'duplicate_key' | 'unicode';
export type JsonCheck =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: JsonFault; readonly path?: string };

type Frame = {
  readonly isObject: boolean;
  /** Keys with their opening quote, which keeps `Set` from using the weaker hash of digit strings. */
  readonly keys: string[];
  manyKeys: Set<string> | null;
  index: number;
};

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A scanner returns the index after what it read, or one of these. */
const BAD_SYNTAX = -1;
const BAD_UNICODE = -2;
const DUPLICATE = -3;

/** Up to this many keys, comparing one by one beats hashing. */
const fewKeys = 8;
const maxPathLength = 200;

const badSyntax: JsonCheck = { ok: false, reason: 'syntax' };

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

const skipSpace = (text: string, from: number): number => {
  let at = from;
  for (let code = text.charCodeAt(at); code <= 0x20 && isSpace(code); code = text.charCodeAt(at)) at++;
  return at;
};

/** The value of four hexadecimal digits, or -1. */
const hexAt = (text: string, from: number): number => {
  let value = 0;
  for (let at = from; at < from + 4; at++) {
    const code = text.charCodeAt(at);
    const lower = code | 0x20;
    if (isDigit(code)) value = value * 16 + code - 0x30;
    else if (lower >= 0x61 && lower <= 0x66) value = value * 16 + lower - 0x57;
    else return -1;
  }
  return value;
};

/** Reads one escape whose backslash is at `at`. A pair of escaped surrogates is read as one. */
const scanEscape = (text: string, at: number): number => {
  switch (text.charCodeAt(at + 1)) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: {
      const unit = hexAt(text, at + 2);
      if (unit < 0) return BAD_SYNTAX;
      if (isLowSurrogate(unit)) return BAD_UNICODE;
      if (!isHighSurrogate(unit)) return at + 6;
      const escaped = text.charCodeAt(at + 6) === BACKSLASH && text.charCodeAt(at + 7) === 0x75;
      return escaped && isLowSurrogate(hexAt(text, at + 8)) ? at + 12 : BAD_UNICODE;
    }
    default:
      return BAD_SYNTAX;
  }
};

/** Reads the string whose opening quote is just before `from`; the result is just past its closing quote. */
const scanString = (text: string, from: number): number => {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code > QUOTE && code < 0xd800 && code !== BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
    else if (code === BACKSLASH) {
      at = scanEscape(text, at);
      if (at < 0) return at;
    } else if (code < 0x20) {
      return BAD_SYNTAX;
    } else if (code >= 0xd800 && code <= 0xdfff) {
      if (!isHighSurrogate(code) || !isLowSurrogate(text.charCodeAt(at + 1))) return BAD_UNICODE;
      at += 2;
    } else {
      at++;
    }
  }
  return BAD_SYNTAX;
};

const scanDigits = (text: string, from: number): number => {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at === from ? BAD_SYNTAX : at;
};

const scanNumber = (text: string, from: number): number => {
  let at = text.charCodeAt(from) === MINUS ? from + 1 : from;
  at = text.charCodeAt(at) === 0x30 ? at + 1 : scanDigits(text, at);
  if (at > 0 && text.charCodeAt(at) === 0x2e) at = scanDigits(text, at + 1);
  if (at > 0 && (text.charCodeAt(at) | 0x20) === 0x65) {
    const sign = text.charCodeAt(at + 1);
    at = scanDigits(text, sign === 0x2b || sign === MINUS ? at + 2 : at + 1);
  }
  return at;
};

const scanScalar = (text: string, at: number): number => {
  switch (text.charCodeAt(at)) {
    case QUOTE:
      return scanString(text, at + 1);
    case 0x74:
      return text.startsWith('true', at) ? at + 4 : BAD_SYNTAX;
    case 0x66:
      return text.startsWith('false', at) ? at + 5 : BAD_SYNTAX;
    case 0x6e:
      return text.startsWith('null', at) ? at + 4 : BAD_SYNTAX;
    default:
      return scanNumber(text, at);
  }
};

/** The key between two quotes, with its opening quote and its escapes resolved. */
const keyAt = (text: string, openingQuote: number, end: number): string => {
  const raw = text.slice(openingQuote, end - 1);
  return raw.includes('\\') ? `"${JSON.parse(`${raw}"`) as string}` : raw;
};

/** Adds the key unless it is there already. */
const addKey = (frame: Frame, key: string): boolean => {
  const { keys } = frame;
  if (frame.manyKeys === null) {
    if (keys.includes(key)) return false;
    if (keys.length >= fewKeys) frame.manyKeys = new Set(keys).add(key);
  } else {
    if (frame.manyKeys.has(key)) return false;
    frame.manyKeys.add(key);
  }
  keys.push(key);
  return true;
};

/** Reads a key and its colon; the result is where the value starts. */
const scanKey = (text: string, at: number, frame: Frame): number => {
  if (text.charCodeAt(at) !== QUOTE) return BAD_SYNTAX;
  const end = scanString(text, at + 1);
  if (end < 0) return end;
  if (!addKey(frame, keyAt(text, at, end))) return DUPLICATE;
  const colon = skipSpace(text, end);
  return text.charCodeAt(colon) === COLON ? skipSpace(text, colon + 1) : BAD_SYNTAX;
};

/** Adds the path of the current value, unless the path is too long to show. */
const faultAt = (reason: JsonFault, stack: readonly Frame[], key?: string): JsonCheck => {
  const parts = stack.map(({ isObject, keys, index }) =>
    isObject ? (keys[keys.length - 1] ?? '"').slice(1) : String(index),
  );
  if (key !== undefined) parts.push(key);
  const path = parts.join('.');
  return path === '' || path.length > maxPathLength ? { ok: false, reason } : { ok: false, reason, path };
};

const keyFault = (text: string, at: number, code: number, stack: readonly Frame[]): JsonCheck => {
  if (code === BAD_SYNTAX) return badSyntax;
  const outer = stack.slice(0, -1);
  if (code === BAD_UNICODE) return faultAt('unicode', outer);
  return faultAt('duplicate_key', outer, keyAt(text, at, scanString(text, at + 1)).slice(1));
};

export const checkJson = (text: string, { maxDepth }: { readonly maxDepth: number }): JsonCheck => {
  const stack: Frame[] = [];
  let at = skipSpace(text, 0);
  for (;;) {
    // A value starts here.
    const code = text.charCodeAt(at);
    let frame: Frame | undefined;
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (stack.length >= maxDepth) return faultAt('depth', stack);
      frame = { isObject: code === OPEN_OBJECT, keys: [], manyKeys: null, index: 0 };
      stack.push(frame);
      at = skipSpace(text, at + 1);
      // An empty container is closed below, like any other.
      if (text.charCodeAt(at) !== (frame.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        if (!frame.isObject) continue;
        const value = scanKey(text, at, frame);
        if (value < 0) return keyFault(text, at, value, stack);
        at = value;
        continue;
      }
    } else {
      const end = scanScalar(text, at);
      if (end < 0) return end === BAD_UNICODE ? faultAt('unicode', stack) : badSyntax;
      at = skipSpace(text, end);
    }
    // A value has ended, or an empty container is about to. Close all containers that end here, up to the next comma.
    for (;;) {
      frame = stack[stack.length - 1];
      if (frame === undefined) return at === text.length ? { ok: true } : badSyntax;
      if (text.charCodeAt(at) !== (frame.isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) break;
      stack.pop();
      at = skipSpace(text, at + 1);
    }
    if (text.charCodeAt(at) !== COMMA) return badSyntax;
    at = skipSpace(text, at + 1);
    frame.index++;
    if (frame.isObject) {
      const value = scanKey(text, at, frame);
      if (value < 0) return keyFault(text, at, value, stack);
      at = value;
    }
  }
};

const isOpening = (code: number): boolean => code === OPEN_OBJECT || code === OPEN_ARRAY;
const isClosing = (code: number): boolean => code === CLOSE_OBJECT || code === CLOSE_ARRAY;
/** Whether a value that is not nested ends before this character. */
const isAfterValue = (code: number): boolean => code === COMMA || isClosing(code) || isSpace(code);

/** The index after a value. The text must be checked. */
const skipValue = (text: string, from: number): number => {
  let level = 0;
  let at = from;
  while (at >= 0 && at < text.length) {
    const code = text.charCodeAt(at);
    if (level === 0 && isAfterValue(code)) return at;
    if (isOpening(code)) level++;
    else if (isClosing(code)) level--;
    at = code === QUOTE ? scanString(text, at + 1) : at + 1;
  }
  return text.length;
};

/** The source of a value without the white space between its tokens, and how deeply it is nested. */
export type ValueSource = { readonly source: string; readonly depth: number };

/** One pass over a value. The text must be checked. */
const sourceFrom = (text: string, from: number): ValueSource => {
  let source = '';
  let kept = from;
  let at = from;
  let level = 0;
  let depth = 0;
  while (at >= 0 && at < text.length) {
    const code = text.charCodeAt(at);
    if (level === 0 && isAfterValue(code)) break;
    if (isSpace(code)) {
      source += text.slice(kept, at);
      at = skipSpace(text, at);
      kept = at;
      continue;
    }
    if (isOpening(code)) depth = Math.max(depth, ++level);
    else if (isClosing(code)) level--;
    at = code === QUOTE ? scanString(text, at + 1) : at + 1;
  }
  return { source: source + text.slice(kept, at < 0 ? text.length : at), depth };
};

/**
 * The source text of a top-level member without white space: key order, digits and escapes stay as written. Null if
 * there is no such member. The text must have passed `checkJson`.
 */
export const memberSource = (text: string, key: string): ValueSource | null => {
  const wanted = `"${key}`;
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPEN_OBJECT) return null;
  at = skipSpace(text, at + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = scanString(text, at + 1);
    if (keyEnd < 0) return null;
    const isWanted = keyAt(text, at, keyEnd) === wanted;
    const colon = skipSpace(text, keyEnd);
    const start = skipSpace(text, colon + 1);
    if (isWanted) return sourceFrom(text, start);
    at = skipSpace(text, skipValue(text, start));
    if (text.charCodeAt(at) !== COMMA) return null;
    at = skipSpace(text, at + 1);
  }
  return null;
};
