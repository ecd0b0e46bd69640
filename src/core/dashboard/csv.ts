/** RFC 4180, and safe to open in a spreadsheet, which takes a cell that begins like this for a formula. */
const looksLikeFormula = /^[=+\-@\t\r]/;
const needsQuotes = /[",\r\n]/;

export const csvCell = (text: string): string => {
  const plain = looksLikeFormula.test(text) ? `'${text}` : text;
  return needsQuotes.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};

export const csvLine = (cells: readonly (string | null)[]): string =>
  `${cells.map(cell => (cell === null ? '' : csvCell(cell))).join(',')}\r\n`;
