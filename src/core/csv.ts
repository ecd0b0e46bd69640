/** RFC 4180. Spreadsheets read a cell that begins with one of these characters as a formula. */
const looksLikeFormula = /^[=+\-@\t\r]/;
const needsQuotes = /[",\r\n]/;

export const csvCell = (text: string): string => {
  const plain = looksLikeFormula.test(text) ? `'${text}` : text;
  return needsQuotes.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

export const csvLine = (cells: readonly (string | null)[]): string =>
  `${cells.map(cell => (cell === null ? '' : csvCell(cell))).join(',')}\r\n`;
