export type Labels = Readonly<Record<string, string>>;

/** A value with its labels. `suffix` is only for the parts of a histogram. */
export type Sample = {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: Labels;
  readonly value: number;
};

export type MetricType = 'counter' | 'gauge' | 'histogram';

export type Family = {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly samples: readonly Sample[];
};

/** The same samples, each with these labels too. */
export const labelled = (families: readonly Family[], labels: Labels): Family[] =>
  families.map(family => ({
    ...family,
    samples: family.samples.map(sample => ({ ...sample, labels: { ...labels, ...sample.labels } })),
  }));

/** Each family once, with the samples of all that have its name. */
export const merged = (families: readonly Family[]): Family[] =>
  [...Map.groupBy(families, ({ name }) => name).values()].map(([first, ...others]) => ({
    ...first!,
    samples: [first!, ...others].flatMap(({ samples }) => samples),
  }));

/** The media type of version 0.0.4 of the text format, which every Prometheus reads. */
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');

const writeNumber = (value: number): string => {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
};

const writeLabels = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
};

/** Families in the text format of Prometheus. One without samples is left out: its value is not known. */
export const writeExposition = (families: readonly Family[]): string =>
  families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ suffix = '', labels, value }) => `${name}${suffix}${writeLabels(labels)} ${writeNumber(value)}\n`,
      );
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
