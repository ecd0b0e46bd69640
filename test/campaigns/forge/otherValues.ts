import type { Column } from './tables.ts';

const zeros = '00'.repeat(32);

/** Columns whose text has a form. */
const formed: Readonly<Record<string, string>> = { trace: `"${'a'.repeat(32)}-01"` };

/** What may be in a column where nothing is. */
const insteadOfNull = (type: string): string | null => {
  if (type.startsWith('timestamp')) return '"2026-01-01T00:00:00+00:00"';
  if (type === 'boolean') return 'true';
  if (/^(bigint|integer|smallint|numeric|base_units|double)/.test(type)) return '1';
  if (type === 'text') return '"forged"';
  if (type === 'text[]') return '["forged"]';
  if (type === 'cidr[]') return '["0.0.0.0/0"]';
  if (type === 'bytea') return `"\\\\x${zeros}"`;
  return type === 'bytea[]' ? `["\\\\x${zeros}"]` : null;
};

const otherText = (text: string): string => {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return '0x52908400098527886E0F7030069857D2E4169EE7';
  if (text.startsWith('0x')) return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`;
  if (text.startsWith('http')) return text.replace(/\/[^/]*$/, '/thief');
  return `${text.slice(0, -1)}${text.endsWith('x') ? 'y' : 'x'}`;
};

const otherValue = (type: string, value: string): string | null => {
  if (type === 'boolean') return value === 'true' ? 'false' : 'true';
  if (type.endsWith('[]')) {
    const elements = JSON.parse(value) as unknown[];
    return elements.length > 0 ? JSON.stringify(elements.slice(1)) : insteadOfNull(type);
  }
  if (type.startsWith('double')) return String(Number(value) + 1);
  if (/^(bigint|integer|smallint|numeric|base_units)/.test(type)) {
    return (BigInt(value.split('.')[0]!) + 1n).toString();
  }
  if (type === 'json' || type === 'jsonb') return value === '{}' ? '{"forged":true}' : '{}';
  const text = JSON.parse(value) as string;
  if (type.startsWith('timestamp') || type === 'date') {
    return JSON.stringify(new Date(Date.parse(text) + 86_400_000).toISOString());
  }
  if (type === 'bytea') return JSON.stringify(`${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`);
  return type === 'text' ? JSON.stringify(otherText(text)) : null;
};

/** Other values for a column, as JSON text: every word where it has only some, otherwise one. */
export const otherValues = ({ name, type, words }: Column, value: string): string[] => {
  if (words.length > 0) return words.map(word => JSON.stringify(word)).filter(word => word !== value);
  const other = value === 'null' ? (formed[name] ?? insteadOfNull(type)) : otherValue(type, value);
  return other === null || other === value ? [] : [other];
};
