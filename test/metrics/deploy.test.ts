import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { metricTable } from '../../src/metrics/metricTable.ts';
import { causes } from '../campaigns/alerts/causes.ts';
import { alertCases } from './alertCases.ts';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Metrics that an expression names, without the suffixes of histograms. */
const metricsIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:florin|process)_[a-z_]+/g)].map(([name]) => {
    const bare = name!.replace(/_(?:bucket|sum|count)$/, '');
    return metricTable[bare as keyof typeof metricTable]?.type === 'histogram' ? bare : name!;
  });
const unknownIn = (text: string): string[] => metricsIn(text).filter(name => !(name in metricTable));

describe('deploy/prometheus/alerts.yaml', () => {
  const text = read('deploy/prometheus/alerts.yaml');
  const rules = text.split(/^ {6}- (?=alert: )/m).slice(1);
  const nameOf = (rule: string): string => /^alert: (\w+)$/m.exec(rule)![1]!;

  test('asks for metrics that exist', () => {
    expect(metricsIn(text).length).toBeGreaterThan(20);
    expect(unknownIn(text)).toEqual([]);
  });

  test.each(rules.map(rule => [nameOf(rule), rule] as const))(
    '%s says what is wrong and where it is explained',
    (name, rule) => {
      expect(rule).toMatch(/^ {10}severity: (?:page|ticket)$/m);
      expect(rule).toMatch(/^ {10}summary: '.+\.'$/m);
      expect(rule).toContain(`runbook: docs/metrics.md#${name.toLowerCase()}\n`);
    },
  );

  test('each rule has a cause in the campaign of alerts, and the other way round', () => {
    const caused = causes.flatMap(({ alerts }) => alerts);
    expect(caused.sort()).toEqual(rules.map(nameOf).sort());
  });

  test('each rule has a section of the guide and a case, and the other way round', () => {
    const names = rules.map(nameOf).sort();
    const sections = [...read('docs/metrics.md').matchAll(/^### (Florin\w+)$/gm)].map(([, name]) => name!);
    expect(new Set(names).size).toBe(names.length);
    expect(sections.sort()).toEqual(names);
    expect([...new Set(alertCases.map(({ alert }) => alert))].sort()).toEqual(names);
  });
});

type Target = { readonly expr: string; readonly refId: string };
type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
};
type Board = {
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string }[] };
  readonly panels: readonly Panel[];
};

describe('deploy/grafana/florin.json', () => {
  const board: Board = JSON.parse(read('deploy/grafana/florin.json'));
  const targets = board.panels.flatMap(panel => panel.targets ?? []);

  test('shows every metric, and none that does not exist', () => {
    const shown = new Set(targets.flatMap(({ expr }) => metricsIn(expr)));
    expect(targets.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
    expect(Object.keys(metricTable).filter(name => !shown.has(name))).toEqual([]);
  });

  test('has panels with ids and titles of their own, and what a board needs', () => {
    for (const field of ['id', 'title'] as const) {
      expect(new Set(board.panels.map(panel => panel[field])).size).toBe(board.panels.length);
    }
    expect(board).toMatchObject({ title: 'Florin', schemaVersion: expect.any(Number) });
    expect(board.panels.filter(({ type, targets: own }) => (type === 'row') !== (own === undefined))).toEqual([]);
  });

  test('has no panel above another or beyond its width', () => {
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(board.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  test('uses the variables that it defines', () => {
    const defined = board.templating.list.map(({ name }) => name);
    const used = new Set([...JSON.stringify(board).matchAll(/\$\{?([a-z]\w*)\}?/g)].map(([, name]) => name!));
    expect([...used].sort()).toEqual(defined.sort());
  });
});
