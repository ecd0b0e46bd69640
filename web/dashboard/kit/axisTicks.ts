const mostSteps = 4;
const units = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const;

/** The smallest step of 1, 2 or 5 times a power of ten that reaches `largest` in at most four steps. */
const stepFor = (largest: number): number => {
  const power = 10 ** Math.floor(Math.log10(largest / mostSteps));
  return [1, 2, 5, 10].map(each => each * power).find(step => step * mostSteps >= largest * (1 - 1e-9))!;
};

const digitsAfterPoint = (step: number): number => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));

/**
 * Values for an axis that includes `largest`, from the top down to zero, with only the decimals that they need. An axis
 * of counts has only whole numbers.
 */
export const axisTicks = (largest: number, isCount: boolean): readonly { value: number; text: string }[] => {
  const step = largest > 0 ? Math.max(stepFor(largest), isCount ? 1 : 0) : 1;
  const steps = largest > 0 ? Math.ceil(largest / step - 1e-9) : 1;
  const [unit, suffix] = units.find(([size]) => steps * step >= size * 10) ?? [1, ''];
  const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: digitsAfterPoint(step / unit) });
  return Array.from({ length: steps + 1 }, (_, index) => (steps - index) * step).map(value => ({
    value,
    text: value === 0 ? '0' : `${format.format(value / unit)}${suffix}`,
  }));
};
