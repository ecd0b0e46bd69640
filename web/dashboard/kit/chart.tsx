import { type ReactElement, useId } from 'react';
import { axisTicks } from './axisTicks.ts';
import type { CurrencyTone } from './currencyTone.ts';

export type Series = {
  readonly name: string;
  readonly values: readonly number[];
  readonly tone: CurrencyTone | 'good' | 'calm';
};

const height = 100;
const gap = 0.16;

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
export const dayText = (day: string): string => dayFormat.format(Date.parse(day));

const Bars = ({ days, series, top }: { days: readonly string[]; series: Series; top: number }): ReactElement => (
  <g className={`chart-series chart-${series.tone}`}>
    {series.values.map((value, index) => {
      const size = (Math.max(0, value) / top) * height;
      return (
        <rect
          key={days[index]}
          x={index + gap}
          y={height - size}
          width={1 - 2 * gap}
          height={value > 0 ? Math.max(size, 0.8) : 0}
        />
      );
    })}
  </g>
);

/** One transparent area per day, as high as the chart. Pointing at it shows the numbers of the day. */
const Hints = ({
  days,
  series,
  textOf,
}: {
  days: readonly string[];
  series: readonly Series[];
  textOf: (value: number, series: number, day: number) => string;
}): ReactElement => (
  <g>
    {days.map((day, index) => (
      <rect key={day} className="chart-hint" x={index} y={0} width={1} height={height}>
        <title>
          {[
            dayText(day),
            ...series.map(({ name, values }, at) => `${name}: ${textOf(values[index]!, at, index)}`),
          ].join('\n')}
        </title>
      </rect>
    ))}
  </g>
);

const Legend = ({ series }: { series: readonly Series[] }): ReactElement => (
  <ul className="chart-legend">
    {series.map(({ name, tone }) => (
      <li key={name} className={`chart-${tone}`}>
        {name}
      </li>
    ))}
  </ul>
);

/** The same numbers as a table, to read, search and copy. */
const DataTable = ({
  label,
  days,
  series,
  textOf,
}: {
  label: string;
  days: readonly string[];
  series: readonly Series[];
  textOf: (value: number, series: number, day: number) => string;
}): ReactElement => (
  <details className="chart-table">
    <summary>Show as a table</summary>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard. */}
    <section className="chart-scroll" tabIndex={0} aria-label={`${label}, as a table`}>
      <table>
        <caption className="quiet">{label}</caption>
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day, index) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {series.map(({ name, values }, at) => (
                <td key={name}>{textOf(values[index]!, at, index)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  </details>
);

/** One bar per day. Later series are drawn in front of earlier ones. `textOf` gives the exact numbers. */
export const BarChart = ({
  label,
  days,
  series,
  textOf = value => String(value),
  isCount = false,
}: {
  /** Says what the chart shows and its main numbers, for people who cannot see it. */
  label: string;
  days: readonly string[];
  series: readonly Series[];
  textOf?: (value: number, series: number, day: number) => string;
  isCount?: boolean;
}): ReactElement => {
  const id = useId();
  const ticks = axisTicks(Math.max(0, ...series.flatMap(({ values }) => values)), isCount);
  const top = ticks[0]!.value;
  const [first, last] = [days[0], days.at(-1)];
  return (
    <figure className="chart">
      {series.length > 1 && <Legend series={series} />}
      <div className="chart-plot">
        <div className="chart-axis" aria-hidden="true">
          {ticks.map(({ text }) => (
            <span key={text}>{text}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${Math.max(1, days.length)} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-labelledby={id}
        >
          <title id={id}>{label}</title>
          <path
            className="chart-grid"
            d={ticks.map(({ value }) => `M0 ${height - (value / top) * height}H${days.length}`).join('')}
          />
          {series.map(each => (
            <Bars key={each.name} days={days} series={each} top={top} />
          ))}
          <Hints days={days} series={series} textOf={textOf} />
        </svg>
        <div className="chart-days" aria-hidden="true">
          <span>{first && dayText(first)}</span>
          <span>{last && dayText(last)}</span>
        </div>
      </div>
      <DataTable label={label} days={days} series={series} textOf={textOf} />
    </figure>
  );
};
