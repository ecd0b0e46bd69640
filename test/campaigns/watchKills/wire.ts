/** What a client of PostgreSQL asks for at once: one statement, or a step of the login. */
export type Request = {
  /** The prepared name, the text of a plain query, or '' for anything else. */
  readonly statement: string;
  readonly bytes: Buffer;
};

const textUntilZero = (bytes: Buffer, from: number): { text: string; end: number } => {
  const end = bytes.indexOf(0, from);
  return { text: bytes.toString('utf8', from, end), end: end + 1 };
};

const [queryCode, bindCode, syncCode] = ['Q', 'B', 'S'];

/** Cuts the bytes of one connection into requests. The first message of a connection has no letter in front. */
export const createRequestReader = () => {
  let pending: Buffer = Buffer.alloc(0);
  let isStarted = false;
  let collected: Buffer[] = [];
  let statement = '';

  const take = (): Buffer | null => {
    const letter = isStarted ? 1 : 0;
    if (pending.length < letter + 4) return null;
    const size = letter + pending.readInt32BE(letter);
    if (pending.length < size) return null;
    const message = pending.subarray(0, size);
    pending = pending.subarray(size);
    return message;
  };

  return (chunk: Buffer): Request[] => {
    pending = Buffer.concat([pending, chunk]);
    const requests: Request[] = [];
    for (let message = take(); message !== null; message = take()) {
      if (!isStarted) {
        isStarted = true;
        requests.push({ statement: '', bytes: message });
        continue;
      }
      const code = String.fromCharCode(message[0]!);
      collected.push(message);
      if (code === bindCode) statement = textUntilZero(message, textUntilZero(message, 5).end).text;
      if (code === queryCode) statement = textUntilZero(message, 5).text;
      // Parts of one statement end with a Sync; a plain query and the messages of the login stand alone.
      const isPart = 'PBDECH'.includes(code);
      if (isPart && code !== syncCode) continue;
      requests.push({ statement, bytes: Buffer.concat(collected) });
      collected = [];
      statement = '';
    }
    return requests;
  };
};

const readyCode = 'Z'.charCodeAt(0);

/** Says when the server has done what it was asked: from there on it waits for the next request. */
export const createAnswerReader = () => {
  let pending: Buffer = Buffer.alloc(0);
  return (chunk: Buffer): boolean => {
    pending = Buffer.concat([pending, chunk]);
    let isDone = false;
    while (pending.length >= 5) {
      const size = 1 + pending.readInt32BE(1);
      if (pending.length < size) break;
      isDone ||= pending[0] === readyCode;
      pending = pending.subarray(size);
    }
    return isDone;
  };
};
