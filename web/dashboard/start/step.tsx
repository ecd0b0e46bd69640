import type { ReactElement, ReactNode } from 'react';
import { Icon } from '../kit/icon.tsx';

export const Step = ({
  number,
  title,
  isDone,
  children,
}: {
  number: number;
  title: string;
  isDone: boolean;
  children: ReactNode;
}): ReactElement => (
  <li className={isDone ? 'step is-done' : 'step'}>
    <span className="step-number" aria-hidden="true">
      {isDone ? <Icon name="check" /> : number}
    </span>
    <div className="step-body">
      <h2>
        {title} {isDone && <span className="quiet">(done)</span>}
      </h2>
      {children}
    </div>
  </li>
);
