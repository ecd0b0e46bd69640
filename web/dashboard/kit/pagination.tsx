import type { ReactElement } from 'react';
import { Button } from './button.tsx';

const count = new Intl.NumberFormat('en-US');

/** The total is exact, so the last page is known. */
export const Pagination = ({
  limit,
  offset,
  total,
  what,
  onMove,
}: {
  limit: number;
  offset: number;
  total: number;
  /** In the plural: `payments`. */
  what: string;
  onMove: (offset: number) => void;
}): ReactElement => {
  const last = Math.min(offset + limit, total);
  const go = (label: string, to: number, isPossible: boolean): ReactElement => (
    <Button isSmall disabled={!isPossible} onClick={() => onMove(to)}>
      {label}
    </Button>
  );
  return (
    <nav className="pagination" aria-label={`Pages of ${what}`}>
      <p>
        {total === 0
          ? `No ${what}`
          : `${count.format(offset + 1)}–${count.format(last)} of ${count.format(total)} ${what}`}
      </p>
      <div className="pagination-buttons">
        {go('Previous', Math.max(0, offset - limit), offset > 0)}
        {go('Next', offset + limit, last < total)}
      </div>
    </nav>
  );
};
