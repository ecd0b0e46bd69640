import type { OpenApi } from './openapi.ts';
import type { Reply } from './route.ts';
export const renderDocs = (document: OpenApi): Reply => ({ body: JSON.stringify(document.info) });
