import { watchFile } from 'node:fs';
import type { Logger } from 'pino';
import { type Config, readOperatorName } from '../config/config.ts';
import { readFiles } from '../config/files.ts';

/** Between two looks at the file. Kubernetes changes a Secret by a symlink, of which no event tells. */
const LOOK_MS = 1_000;

/** @returns the operators of `OPERATORS_FILE`, as it was when it last was valid */
export function watchOperators({ operatorsFile, ...config }: Config, log: Logger) {
  let { operators } = config;
  const read = () => {
    try {
      const files = { OPERATORS_FILE: operatorsFile, ASSENT_OPERATOR: readOperatorName() };
      ({ operators } = readFiles(files));
      const names = new Set([...operators.values()].map(({ name }) => name));
      log.info({ operators: [...names] }, 'read OPERATORS_FILE');
    } catch (error) {
      log.error(
        { reason: (error as Error).message },
        'OPERATORS_FILE is wrong: its operators stay as they were',
      );
    }
  };
  if (operatorsFile) {
    watchFile(operatorsFile, { interval: LOOK_MS, persistent: false }, read);
    read();
  }
  return () => operators;
}
