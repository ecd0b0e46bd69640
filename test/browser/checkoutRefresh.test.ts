// @module-tag browser
// @module-tag thorough
import { describe, expect, test } from 'vitest';
import { languages } from '../../src/checkout/languages.ts';
import { renderMain } from '../../src/checkout/page.ts';
import { eventually } from '../support/until.ts';
import { type CheckoutStage, stagedView, useCheckoutStages } from './checkoutStage.ts';
import { expectNoProblems } from './watchedPage.ts';

const onStage = useCheckoutStages();
const main = (state: string): string => `main[data-state="${state}"]`;
const look = (state: string): string => `
  Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });
  document.dispatchEvent(new Event('visibilitychange'));`;

describe('a page asks', () => {
  test('for what it does not show, wherever that came from', () =>
    onStage(async stage => {
      stage.instead.set('live', (_, response) => response.writeHead(503).end());
      await stage.open('?lang=de');
      const ask = async (): Promise<string | undefined> => {
        const before = stage.asked('main').length;
        await eventually(async () => expect(stage.asked('main').length).toBeGreaterThan(before));
        return stage.asked('main').at(-1)!.headers['if-none-match'];
      };
      expect(await ask()).toBe('"7.de"');
      stage.view = stagedView('canceled', { version: '8' });
      await stage.page.locator(main('canceled')).waitFor();
      expect(await ask()).toBe('"8.de"');
    }));

  test('again where the server has another version than it shows', () =>
    onStage(async stage => {
      await stage.open();
      await eventually(async () => expect(stage.asked('live').length).toBe(1));
      stage.tell('same', stage.view.version);
      stage.view = stagedView('canceled', { version: '8' });
      // What servers said before they told the version there.
      stage.tell('same', '');
      await stage.page.evaluate('0');
      expect(stage.asked('main')).toEqual([]);
      stage.tell('same', '8');
      await stage.page.locator(main('canceled')).waitFor();
      expect(stage.asked('main')).toHaveLength(1);
      expectNoProblems(stage);
    }));
});

describe('a stream that falls silent', () => {
  const canceled = (version: string): string =>
    renderMain(stagedView('canceled', { version }), { language: languages[0]!, nowMs: Date.now() });
  /** What the stream says at first, and then something that shows that it was heard. */
  const openHearing = async (stage: CheckoutStage, word: string): Promise<void> => {
    stage.firstWord = word;
    await stage.page.clock.install();
    await stage.open();
    await eventually(async () => expect(stage.streams()).toBe(1));
    await hear(stage, '8');
  };
  const hear = async (stage: CheckoutStage, version: string): Promise<void> => {
    stage.tell('main', canceled(version));
    await stage.page.locator(`main[data-version="${version}"]`).waitFor();
  };

  test.each(['event: beat\ndata:\n\n', 'event: same\ndata: 7\n\n'])('after %j is opened anew', word =>
    onStage(async stage => {
      await openHearing(stage, word);
      // What the page shows by now: another version would have to be asked for.
      stage.firstWord = 'event: same\ndata: 8\n\n';
      await stage.page.clock.fastForward(41_000);
      await eventually(async () => expect(stage.asked('live').length).toBe(2));
      expect(stage.asked('main')).toEqual([]);
    }),
  );

  test('is kept while there are beats', () =>
    onStage(async stage => {
      await openHearing(stage, 'event: beat\ndata:\n\n');
      for (let version = 9; version < 15; version++) {
        stage.tell('beat', '');
        await hear(stage, String(version));
        await stage.page.clock.fastForward(30_000);
      }
      expect(stage.asked('live').length).toBe(1);
      expectNoProblems(stage);
    }));

  test('is kept where there never were any', () =>
    onStage(async stage => {
      await openHearing(stage, 'event: same\ndata:\n\n');
      await stage.page.clock.fastForward(300_000);
      await hear(stage, '9');
      expect(stage.asked('live').length).toBe(1);
      expectNoProblems(stage);
    }));
});

test('a page that is looked at again opens a stream that is gone', () =>
  onStage(async stage => {
    stage.instead.set('live', (_, response) => response.writeHead(503).end());
    await stage.open();
    await eventually(async () => expect(stage.asked('main').length).toBeGreaterThan(0));
    stage.instead.delete('live');
    await stage.page.evaluate(look('hidden'));
    await stage.page.evaluate(look('visible'));
    await eventually(async () => expect(stage.asked('live').length).toBe(2));
    const before = stage.asked('main').length;
    stage.view = stagedView('canceled', { version: '8' });
    stage.tell('main', renderMain(stage.view, { language: languages[0]!, nowMs: Date.now() }));
    await stage.page.locator(main('canceled')).waitFor();
    expect(stage.asked('main').length).toBeLessThanOrEqual(before + 1);
  }));

describe('what arrives', () => {
  test('has the title that the server made, in which no name turns anything round', () =>
    onStage(async stage => {
      const merchantName = '\u202eemcA\u2069';
      stage.view = stagedView('waiting', { merchantName });
      await stage.open();
      stage.view = stagedView('underpaid', { merchantName, version: '8' });
      stage.tell('main', renderMain(stage.view, { language: languages[0]!, nowMs: Date.now() }));
      await stage.page.locator(main('underpaid')).waitFor();
      const shown = await stage.page.title();
      expect(shown).toBe('Pay the remaining 5.000001 USDC to emcA');
      await stage.page.reload();
      expect(await stage.page.title()).toBe(shown);
    }));

  test('and is not ours is not shown, and is no answer', () =>
    onStage(async stage => {
      stage.instead.set('live', (_, response) => response.writeHead(503).end());
      stage.instead.set('main', (_, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<main><h1>Sign in to this network</h1></main>');
      });
      await stage.open();
      await stage.page.locator('#connection:visible', { hasText: 'Connection lost' }).waitFor();
      expect(await stage.page.locator('h1').textContent()).toBe('Pay 25.00 USDC to Acme');
      stage.instead.delete('main');
      await stage.page.locator('#connection').waitFor({ state: 'hidden' });
    }));
});

describe('a simulated payment', () => {
  const openPanel = async (stage: CheckoutStage): Promise<void> => {
    stage.view = stagedView('waiting', { environment: 'sandbox', simulateToken: 'a'.repeat(64) });
    await stage.open('?lang=de');
    await stage.page.locator('aside summary').click();
  };
  const posts = ({ requests }: CheckoutStage): string[] =>
    requests.filter(request => request.method() === 'POST').map(request => request.url());
  const button = 'button[name=outcome][value=paid]';

  test('whose answer was lost is not made again, and keeps the language', () =>
    onStage(async stage => {
      await openPanel(stage);
      await stage.page.route('**/simulate**', route => route.abort('connectionreset'));
      await stage.page.locator(button).click();
      // That it is asked for what became of it says that this is over.
      await eventually(async () => expect(stage.asked('main').length).toBe(1));
      await stage.page.locator(`${button}:not([aria-disabled])`).waitFor();
      expect(posts(stage)).toEqual([`${stage.url}${stage.view.id}/simulate?lang=de`]);
      expect(await stage.page.locator('form[data-simulate] input').count()).toBe(1);
    }));

  test('that was refused says why', () =>
    onStage(async stage => {
      await openPanel(stage);
      stage.instead.set('simulate', (_, response) => response.writeHead(403).end('refused'));
      await stage.page.locator(button).click();
      await stage.page.getByText('refused').waitFor();
      expect(posts(stage)).toHaveLength(2);
    }));
});
