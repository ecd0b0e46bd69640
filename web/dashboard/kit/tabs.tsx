import { type KeyboardEvent, type ReactElement, type ReactNode, useId, useState } from 'react';

export type Tab = { readonly key: string; readonly label: string; readonly content: ReactNode };

/** Arrow keys move between tabs. The Tab key moves into the panel. */
export const Tabs = ({ label, tabs }: { label: string; tabs: readonly Tab[] }): ReactElement => {
  const [chosen, choose] = useState(tabs[0]?.key);
  const id = useId();
  const shown = tabs.find(({ key }) => key === chosen) ?? tabs[0];
  const move = (event: KeyboardEvent<HTMLDivElement>): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = tabs.findIndex(({ key }) => key === shown?.key);
    const next = tabs[(index + step + tabs.length) % tabs.length]!;
    choose(next.key);
    document.getElementById(`${id}-${next.key}`)?.focus();
  };
  return (
    <div className="tabs">
      <div role="tablist" aria-label={label} className="tab-list" onKeyDown={move}>
        {tabs.map(tab => (
          <button
            key={tab.key}
            type="button"
            role="tab"
            id={`${id}-${tab.key}`}
            aria-selected={tab.key === shown?.key}
            aria-controls={`${id}-panel`}
            tabIndex={tab.key === shown?.key ? 0 : -1}
            onClick={() => choose(tab.key)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown?.key}`}>
        {shown?.content}
      </div>
    </div>
  );
};
