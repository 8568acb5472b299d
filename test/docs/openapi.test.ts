import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { read, root } from './checkout.ts';
import { openApi } from './openapi.ts';

// docs/openapi.json, made from the operations: `npx vitest run test/docs -u` writes it, without -u it is compared.

it('docs/openapi.json matches the operations of the operators’ API', async () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const file = fileURLToPath(new URL('docs/openapi.json', root));
  await expect(`${JSON.stringify(openApi(version), null, 2)}\n`).toMatchFileSnapshot(file);
});
