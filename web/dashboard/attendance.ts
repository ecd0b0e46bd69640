/**
 * Whether somebody is there. A page that asks by itself would keep a session alive in front of an empty chair, so it stops
 * when nothing was touched for a while, and asks again at the first touch.
 */
const patienceMs = 5 * 60_000;
const touches = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const;

let touchedAtMs = Date.now();
export const isAttended = (): boolean => Date.now() - touchedAtMs < patienceMs;

export const onReturn = (notify: () => void): void => {
  const onTouch = (): void => {
    const wasAway = !isAttended();
    touchedAtMs = Date.now();
    if (wasAway) notify();
  };
  for (const touch of touches) addEventListener(touch, onTouch, { passive: true, capture: true });
};
