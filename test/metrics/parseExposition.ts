/** One value of a metric: the name with its suffix, and the labels. */
export type ParsedSample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};
export type ParsedFamily = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: readonly ParsedSample[];
};

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, char: string) => {
    if (char === 'n') return '\n';
    if (char === '\\' || char === '"') return char;
    throw new Error(`a label has the escape \\${char}`);
  });

const parseLabels = (text: string): Record<string, string> => {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const found = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(?:,(?=.)|$)/.exec(rest);
    if (!found) throw new Error(`these are no labels: ${rest}`);
    const [all, name, value] = found;
    if (name! in labels) throw new Error(`the label ${name} is there twice`);
    labels[name!] = unescaped(value!);
    rest = rest.slice(all.length);
  }
  return labels;
};

const parseValue = (text: string): number => {
  const special: Readonly<Record<string, number>> = { '+Inf': Infinity, '-Inf': -Infinity, NaN: Number.NaN };
  if (text in special) return special[text]!;
  if (!/^-?(?:[0-9]+(?:\.[0-9]+)?)(?:e[+-]?[0-9]+)?$/.test(text)) throw new Error(`this is no value: ${text}`);
  return Number(text);
};

const parseSample = (line: string): ParsedSample => {
  const found = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.+)\})? (\S+)$/.exec(line);
  if (!found) throw new Error(`this is no sample: ${line}`);
  return { name: found[1]!, labels: parseLabels(found[2] ?? ''), value: parseValue(found[3]!) };
};

const suffixesOf: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

/** A histogram's buckets grow, end with +Inf, and the last one is its count. */
const checkHistogram = ({ name, samples }: ParsedFamily): void => {
  const seriesOf = ({ labels: { le: _, ...labels } }: ParsedSample): string =>
    JSON.stringify(Object.entries(labels).sort());
  for (const [series, parts] of Map.groupBy(samples, seriesOf)) {
    const buckets = parts.filter(part => part.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => parseValue(labels.le!));
    const counts = buckets.map(({ value }) => value);
    const grows = (values: readonly number[]): boolean =>
      values.every((value, place) => place === 0 || value >= values[place - 1]!);
    const count = parts.filter(part => part.name === `${name}_count`);
    const sum = parts.filter(part => part.name === `${name}_sum`);
    const isWhole = count.length === 1 && sum.length === 1 && bounds.at(-1) === Infinity;
    if (!isWhole || !grows(bounds) || !grows(counts) || new Set(bounds).size < bounds.length)
      throw new Error(`${name} ${series} is no histogram`);
    if (counts.at(-1) !== count[0]!.value) throw new Error(`${name} ${series} has another count than its last bucket`);
  }
};

const checkFamily = (family: ParsedFamily): void => {
  const { name, type, samples } = family;
  const suffixes = suffixesOf[type];
  if (!suffixes) throw new Error(`${name} has the type ${type}`);
  const names = suffixes.map(suffix => name + suffix);
  const foreign = samples.find(sample => !names.includes(sample.name));
  if (foreign) throw new Error(`${foreign.name} is below ${name}`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`the counter ${name} has no _total`);
  const series = samples.map(({ name: own, labels }) => `${own} ${JSON.stringify(Object.entries(labels).sort())}`);
  if (new Set(series).size < series.length) throw new Error(`${name} has a series twice`);
  if (type === 'histogram') checkHistogram(family);
};

/** Reads the text format of Prometheus strictly: help, then type, then samples, each family once. */
export const parseExposition = (text: string): ParsedFamily[] => {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end');
  const families: { name: string; help: string; type: string; samples: ParsedSample[] }[] = [];
  for (const line of text.split('\n').slice(0, -1)) {
    const latest = families.at(-1);
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    const type = /^# TYPE (\S+) (\S+)$/.exec(line);
    if (help) families.push({ name: help[1]!, help: help[2]!, type: '', samples: [] });
    else if (type) {
      if (latest?.name !== type[1] || latest?.type !== '') throw new Error(`this type is out of place: ${line}`);
      latest!.type = type[2]!;
    } else latest!.samples.push(parseSample(line));
  }
  const names = families.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new Error('a family is there twice');
  for (const family of families) checkFamily(family);
  return families;
};
