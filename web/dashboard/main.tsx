import './style/dashboard.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { onSignedOut } from './client.ts';
import { forgetLists } from './money/lastList.ts';
import { queries } from './serverCalls.ts';

onSignedOut(() => {
  queries.clear();
  forgetLists();
});

createRoot(document.getElementById('app')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
