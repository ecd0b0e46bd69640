import type { ReactElement } from 'react';
import { longestPassword, shortestPassword } from '../../src/core/access/passwordRules.ts';
import { CallError } from './client.ts';
import { Field } from './kit/field.tsx';
import type { Values } from './kit/form.tsx';

export const NewPassword = (): ReactElement => (
  <>
    <Field
      label="Password"
      name="password"
      type="password"
      autoComplete="new-password"
      minLength={shortestPassword}
      maxLength={longestPassword}
      hint={`At least ${shortestPassword} characters. A few unrelated words make a good password, without your email address.`}
      required
    />
    <Field
      label="Repeat password"
      name="again"
      type="password"
      autoComplete="new-password"
      maxLength={longestPassword}
      required
    />
  </>
);

/** The password. Throws if the two fields differ. */
export const samePassword = (values: Values): string => {
  const password = values.exact('password');
  if (password === values.exact('again')) return password;
  throw new CallError(null, {
    code: 'invalid_request',
    message: 'The passwords do not match.',
    param: 'again',
  });
};
