/** What people do and pages do not do by themselves. */
const signs = ['pointerdown', 'keydown', 'wheel', 'touchmove', 'focus'] as const;

/** As often as an open page asks for news. */
const recentMs = 60_000;

let seenAtMs = performance.now();
const note = (): void => {
  seenAtMs = performance.now();
};
for (const sign of signs) addEventListener(sign, note, { capture: true, passive: true });

/** Whether somebody has touched the page lately. Opening it counts. */
export const isSomebodyThere = (): boolean => performance.now() - seenAtMs <= recentMs;
