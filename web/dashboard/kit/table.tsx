import type { ReactElement, ReactNode } from 'react';

export type Column<Row> = {
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: 'end';
  /** A column of buttons: its head is only for screen readers. */
  readonly isActions?: boolean;
};

/** On narrow screens each row becomes a card, with the heads beside its cells. */
export const Table = <Row,>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  /** Only for screen readers: the heading above is visible. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}): ReactElement => (
  <table className="table">
    <caption className="quiet">{caption}</caption>
    <thead>
      <tr>
        {columns.map(({ head, align, isActions }) => (
          <th key={head} scope="col" className={align === 'end' ? 'end' : undefined}>
            {isActions ? <span className="quiet">{head}</span> : head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(row => (
        <tr key={keyOf(row)}>
          {columns.map(({ head, cell, align, isActions }) => (
            <td
              key={head}
              data-head={isActions ? undefined : head}
              className={
                [align === 'end' ? 'end' : '', isActions ? 'actions' : ''].filter(Boolean).join(' ') || undefined
              }
            >
              {cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
