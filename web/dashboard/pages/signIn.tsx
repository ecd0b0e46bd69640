import type { ReactElement } from 'react';
import { Page } from '../kit/page.tsx';

export default function SignIn(): ReactElement {
  return <Page title="Sign in">{null}</Page>;
}
