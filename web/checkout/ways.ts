import { all, one, root } from './page.ts';
import { hasWallets } from './providers.ts';

/** The choices are kept here, because each update replaces the markup. */
let chosenWay: string | null = null;
let chosenCode: string | null = null;

const tabOf = (section: HTMLElement): HTMLButtonElement => {
  const tab = document.createElement('button');
  tab.type = 'button';
  tab.id = `tab-${section.id}`;
  tab.textContent = section.dataset.way ?? '';
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', section.id);
  section.setAttribute('role', 'tabpanel');
  section.setAttribute('aria-labelledby', tab.id);
  return tab;
};

/** The tab that a key moves to. In right-to-left languages the arrow keys are swapped. */
const tabFor = (key: string, index: number, count: number): number | null => {
  const forward = root.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
  const backward = root.dir === 'rtl' ? 'ArrowRight' : 'ArrowLeft';
  if (key === forward) return (index + 1) % count;
  if (key === backward) return (index + count - 1) % count;
  if (key === 'Home') return 0;
  return key === 'End' ? count - 1 : null;
};

/** The payer's last choice. Otherwise the wallet if this browser has one, and the QR code if not. */
const firstWay = (sections: readonly HTMLElement[]): HTMLElement => {
  const wanted = hasWallets() ? 'way-wallet' : 'way-qr';
  return sections.find(({ id }) => id === (chosenWay ?? wanted)) ?? sections[0]!;
};

export const makeTabs = (ways: HTMLElement): void => {
  const sections = all('[data-way]', ways);
  if (sections.length === 0) return;
  const tabs = sections.map(tabOf);
  const list = document.createElement('div');
  list.setAttribute('role', 'tablist');
  list.setAttribute('aria-label', ways.dataset.label ?? '');
  const select = (chosen: HTMLElement): void => {
    for (const [index, tab] of tabs.entries()) {
      const isChosen = sections[index] === chosen;
      tab.setAttribute('aria-selected', String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      sections[index]!.hidden = !isChosen;
    }
  };
  const choose = (index: number): void => {
    const section = sections[index]!;
    chosenWay = section.id;
    select(section);
    tabs[index]!.focus();
  };
  for (const [index, tab] of tabs.entries()) {
    tab.addEventListener('click', () => choose(index));
    tab.addEventListener('keydown', event => {
      const next = tabFor(event.key, index, tabs.length);
      if (next === null) return;
      event.preventDefault();
      choose(next);
    });
  }
  list.append(...tabs);
  ways.prepend(list);
  select(firstWay(sections));
};

/** Shows one code at a time: a camera that sees two may read the wrong one. */
export const makeCodeToggle = (codes: HTMLElement): void => {
  const figures = all('figure[data-code]', codes);
  if (figures.length < 2) return;
  const group = document.createElement('div');
  group.className = 'toggle';
  const buttons = figures.map(figure => {
    const button = document.createElement('button');
    button.type = 'button';
    button.id = `code-${figure.dataset.code}`;
    button.textContent = one('figcaption', figure)?.textContent ?? '';
    return button;
  });
  const show = (code: string | undefined): void => {
    for (const [index, figure] of figures.entries()) {
      const isShown = figure.dataset.code === code;
      figure.hidden = !isShown;
      buttons[index]!.setAttribute('aria-pressed', String(isShown));
    }
  };
  for (const [index, button] of buttons.entries()) {
    button.addEventListener('click', () => {
      chosenCode = figures[index]!.dataset.code ?? null;
      show(figures[index]!.dataset.code);
    });
  }
  group.append(...buttons);
  codes.append(group);
  show(figures.some(figure => figure.dataset.code === chosenCode) ? chosenCode! : figures[0]!.dataset.code);
};
