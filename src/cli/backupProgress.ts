const units = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** Decimal units, as disks are sold. */
export const sizeText = (bytes: number): string => {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  return `${power === 0 ? bytes : (bytes / 1_000 ** power).toFixed(1)} ${units[power]}`;
};

const stepPercent = 10;

/** Tells the standard error at every tenth. The size is that of the beginning, and may grow by the log. */
export const createProgress = (done: string): ((bytes: number, of: number) => void) => {
  let told = 0;
  return (bytes, of) => {
    const percent = of === 0 ? 0 : Math.min(Math.floor((bytes * 100) / of), 100);
    if (percent < told + stepPercent) return;
    told = percent - (percent % stepPercent);
    console.error(`${told} % of ${sizeText(of)} ${done}`);
  };
};
