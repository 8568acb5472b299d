import { ledger } from './ledger.ts';

// Vitest runs this before each test file, also where the files of a worker share their modules.

ledger.beginAnew();
