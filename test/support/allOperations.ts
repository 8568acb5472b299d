import { readdirSync } from 'node:fs';
import type { AnyOperation } from '../../src/operations/operation.ts';

const FOLDER = new URL('../../src/operations/', import.meta.url);
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);
const modules: Record<string, unknown>[] = await Promise.all(files.map((file) => import(`${FOLDER}${file}`)));

export const ALL_OPERATIONS = modules
  .flatMap(({ secret = {}, ...others }) => [
    ...Object.values<unknown>(others),
    ...Object.values(secret as object),
  ])
  .filter((one): one is AnyOperation => typeof one === 'object' && one !== null && 'summary' in one);
