// @module-tag browser
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createSetupLink } from '../../../src/engine/access/createSetupLink.ts';
import { operatorActor } from '../../../src/engine/audit/audit.ts';
import { totpCode, totpStep } from '../../../src/vault/totp.ts';
import { type DashboardClient, testPassword } from '../../support/dashboard.ts';
import { eventually } from '../../support/until.ts';
import { expectAccessibleInBoth } from '../axe.ts';
import type { WatchedPage } from '../watchedPage.ts';
import { prove, useDashboardPages } from './dashboardPages.ts';

const pages = useDashboardPages();

/** A security key of the browser itself, which is always touched. */
const addAuthenticator = async ({ page, context }: WatchedPage): Promise<void> => {
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      // Not the platform's own: that one would also answer the offer in the e-mail field, before anything is clicked.
      transport: 'usb',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
};

const enterPassword = async (page: Page, email: string, password = testPassword): Promise<void> => {
  await page.getByLabel('Email').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Continue' }).click();
};

const signOut = async (page: Page): Promise<void> => {
  await page.locator('.person-menu summary').click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
};

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const bytesOf = (base32: string): Buffer => {
  const bits = [...base32].map(each => alphabet.indexOf(each).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g)!.map(each => Number.parseInt(each, 2)));
};

/** Codes work once: the first turns it on, the one after it is good already. */
const codesOf = (secret: string): [string, string] => {
  const step = totpStep(Date.now());
  return [totpCode(bytesOf(secret), step), totpCode(bytesOf(secret), step + 1n)];
};

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });

test('who is signed out comes back to the page that was asked for', async () => {
  const person = await pages.dashboard.newPerson('viewer');
  const { page, close } = await pages.open('/live/payments?status=expired', null);
  await enterPassword(page, person.email);
  await heading(page, 'Payments').waitFor();
  expect(page.url()).toBe(`${pages.dashboard.url}/dashboard/live/payments?status=expired`);
  expect(await page.getByLabel('Status').inputValue()).toBe('expired');
  await close();
});

test('a link that would lead away leads home', { tags: ['thorough'] }, async () => {
  const person = await pages.dashboard.newPerson('viewer');
  const { page, close } = await pages.open('/sign-in?next=//evil.example/dashboard/', null);
  await enterPassword(page, person.email);
  await heading(page, 'Home').waitFor();
  expect(new URL(page.url()).origin).toBe(pages.dashboard.url);
  await close();
});

const newSetupLink = async (): Promise<string> => {
  const { scene } = pages.dashboard;
  const { id } = await scene.account({ name: 'Fresh' });
  return `/setup#${(await createSetupLink(scene.admin, id, operatorActor)).token}`;
};

test.each([
  ['Passkey', false],
  ['Password and passkey', true],
] as const)('an owner is set up with: %s', async (way, hasPassword) => {
  const watched = await pages.open(await newSetupLink(), null);
  const { page } = watched;
  await addAuthenticator(watched);
  const email = `owner-${hasPassword}@shop.example`;
  await page.getByLabel('Your name').fill('Grace');
  await page.getByLabel('Email').fill(email);
  await page.getByRole('radio', { name: way, exact: true }).check();
  expect(await page.getByLabel('Repeat password').count()).toBe(hasPassword ? 1 : 0);
  if (hasPassword) {
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill(testPassword);
    await page.getByLabel('Repeat password').fill(testPassword);
  }
  await page.getByRole('button', { name: 'Create owner account' }).click();
  await heading(page, 'Get started').waitFor();

  await signOut(page);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await heading(page, 'Home').waitFor();
  if (hasPassword) {
    await signOut(page);
    await enterPassword(page, email);
    await heading(page, 'Home').waitFor();
  }
  await watched.close();
});

test('a passkey is added, signs in, proves, and is removed', async () => {
  const person = await pages.dashboard.newPerson('developer');
  const watched = await pages.open('/test/account', person);
  const { page } = watched;
  await addAuthenticator(watched);
  await page.getByText('Only your password protects this account.').waitFor();
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog', { name: 'Add a passkey' }).getByLabel('Name').fill('Laptop');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await prove(page);
  await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();
  await page.getByText('Only your password protects this account.').waitFor({ state: 'detached' });

  await signOut(page);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await heading(page, 'Home').waitFor();

  await person.unprove();
  await page.goto(`${pages.dashboard.url}/dashboard/test/account`);
  await page.getByRole('button', { name: 'Remove Laptop' }).click();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('No passkeys yet').waitFor();
  await watched.close();
});

test('who has a password only is shown how to add a second factor, where production needs it', async () => {
  const person = await pages.dashboard.newPerson('owner');
  const watched = await pages.open('/live/settings', person);
  const { page } = watched;
  await page.getByRole('button', { name: 'Reveal secret' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a second factor first' });
  await dialog.getByText('a password alone is not enough').waitFor();
  await expectAccessibleInBoth(watched);
  await dialog.getByRole('link', { name: 'Add a second factor' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await heading(page, 'My account').waitFor();
  await turnOn(page);
  await watched.close();
});

const turnOn = async (page: Page): Promise<{ secret: string; next: string; recoveryCodes: string[] }> => {
  await page.getByRole('button', { name: 'Set up authenticator app' }).click();
  await prove(page);
  const dialog = page.getByRole('dialog', { name: 'Set up authenticator app' });
  const secret = (await dialog.locator('.copyable code').textContent())!;
  expect(
    await dialog.getByRole('img').evaluate((image: { naturalWidth: number }) => image.naturalWidth),
  ).toBeGreaterThan(0);
  await dialog.getByLabel('Code').fill('000000');
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  await dialog.locator('.field-error').waitFor();
  const [first, next] = codesOf(secret);
  await dialog.getByLabel('Code').fill(first);
  await dialog.getByRole('button', { name: 'Turn on' }).click();
  const shown = page.getByRole('dialog', { name: 'Recovery codes' });
  await shown.waitFor();
  const recoveryCodes = await shown.getByRole('listitem').allTextContents();
  expect(recoveryCodes.length).toBeGreaterThanOrEqual(8);
  const file = await shown.getByRole('link', { name: 'Download' }).getAttribute('href');
  expect(decodeURIComponent(file!)).toContain(recoveryCodes.join('\n'));
  await shown.getByRole('button', { name: 'I saved them' }).click();
  return { secret, next, recoveryCodes };
};

test('an authenticator is set up, then asked for; a recovery code works once in its place', async () => {
  const person = await pages.dashboard.newPerson('developer');
  const { page, close } = await pages.open('/test/account', person);
  const { next, recoveryCodes } = await turnOn(page);
  await page.getByText(`Recovery codes left: ${recoveryCodes.length}`).waitFor();

  await signOut(page);
  await enterPassword(page, person.email);
  await page.getByLabel('Authenticator code').fill(next);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await heading(page, 'Home').waitFor();

  await signOut(page);
  await enterPassword(page, person.email);
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCodes[0]!);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await heading(page, 'Home').waitFor();

  await signOut(page);
  await enterPassword(page, person.email);
  await page.getByRole('button', { name: 'Use a recovery code' }).click();
  await page.getByLabel('Recovery code').fill(recoveryCodes[0]!);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('.error-box, .field-error').waitFor();
  expect(await heading(page, 'Enter your code').count()).toBe(1);
  await close();
});

const signedInElsewhere = async (person: DashboardClient): Promise<DashboardClient> => {
  const other = pages.dashboard.stranger();
  await other.do('POST /sign-in', { body: { email: person.email, password: testPassword } });
  return other;
};

test('a session that somebody ends is over at once', { tags: ['thorough'] }, async () => {
  const person = await pages.dashboard.newPerson('support');
  const mine = await pages.open('/test/account', person);
  const other = await signedInElsewhere(person);
  const theirs = await pages.open('/test/payments', other);
  await heading(theirs.page, 'Payments').waitFor();
  await mine.page.reload();
  await mine.page.getByRole('button', { name: /^Sign out (?!all others)/ }).click();
  await mine.page.getByText('Session signed out.').waitFor();
  await theirs.page.getByLabel('Status').selectOption('pending');
  await heading(theirs.page, 'Sign in').waitFor();
  expect(decodeURIComponent(theirs.page.url())).toContain('next=/dashboard/test/payments');
  // Nothing that was read in the session is left.
  expect(await theirs.page.getByText(person.email).count()).toBe(0);
  await mine.close();
  await theirs.close();
});

test('whoever guesses has to wait, and is told how long', { tags: ['thorough'] }, async () => {
  const person = await pages.dashboard.newPerson('viewer');
  const { page, close } = await pages.open('/sign-in', null);
  await page.getByLabel('Email').fill(person.email);
  await eventually(async () => {
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong wrong wrong');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/Too many wrong tries. Try again in \d+ s/);
  });
  await page.getByRole('textbox', { name: 'Password' }).fill(testPassword);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText(/Too many wrong tries/).waitFor();
  await close();
});
