/** How lines look on a terminal. Files and pipes get JSON. */

const levelNames = new Map([
  [20, 'DEBUG'],
  [30, 'INFO'],
  [40, 'WARN'],
  [50, 'ERROR'],
]);
const colours = new Map([
  [20, 90],
  [40, 33],
  [50, 31],
]);

const coloured = (text: string, level: number): string => {
  const colour = colours.get(level);
  return colour === undefined ? text : `\u001b[${colour}m${text}\u001b[39m`;
};

/** Control characters could move the cursor or forge a line. JSON escapes those of ASCII; the others are escaped here. */
const printable = (text: string): string =>
  text.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const valueText = (value: unknown): string => {
  const isPlain = typeof value === 'string' && /^[!-~]+$/.test(value) && !/["=]/.test(value);
  return printable(isPlain ? value : JSON.stringify(value));
};

type Line = { readonly level: number; readonly time: string; readonly msg: string; readonly err?: unknown };

const stackOf = (err: unknown): string => {
  const stack = (err as { stack?: unknown } | undefined)?.stack;
  if (typeof stack !== 'string') return '';
  return stack
    .split('\n')
    .map(each => `    ${printable(JSON.stringify(each).slice(1, -1))}\n`)
    .join('');
};

/** A log line in JSON as text for people: time, level, message and fields; the stack of an error is below it. */
export const logText = (json: string, hasColours: boolean): string => {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Line & Record<string, unknown>;
  const name = (levelNames.get(level) ?? String(level)).padEnd(5);
  const shown = Object.entries(fields).map(([key, value]) => `${key}=${valueText(value)}`);
  if (err !== undefined) shown.push(`err=${valueText((err as { message?: unknown }).message ?? err)}`);
  const head = `${time.slice(11, 23)} ${hasColours ? coloured(name, level) : name} ${printable(msg)}`;
  return `${[head, ...shown].join('  ')}\n${stackOf(err)}`;
};
