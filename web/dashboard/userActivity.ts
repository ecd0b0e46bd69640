/** Whether a person uses the page. Polling depends on it, so that an unattended page does not extend the session. */

const onEvents = (events: readonly string[], note: () => void): void => {
  for (const event of events) addEventListener(event, note, { capture: true, passive: true });
};

/** Polling stops after this time without input, and starts again at the first input. */
const idleMs = 5 * 60_000;
let inputAtMs = Date.now();
export const isActive = (): boolean => Date.now() - inputAtMs < idleMs;

export const onActiveAgain = (notify: () => void): void =>
  onEvents(['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'], () => {
    const wasIdle = !isActive();
    inputAtMs = Date.now();
    if (wasIdle) notify();
  });

/** About as long as an open page waits between two polls. */
const recentMs = 60_000;
let usedAtMs = performance.now();
// Moving the pointer across a page does not count as using it.
onEvents(['pointerdown', 'keydown', 'wheel', 'touchmove', 'focus'], () => {
  usedAtMs = performance.now();
});
/** Whether the person has used the page within the last minute. Opening it counts. */
export const wasUsedRecently = (): boolean => performance.now() - usedAtMs <= recentMs;
