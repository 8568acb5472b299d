import fs from 'node:fs';
import path from 'node:path';
import { CHECKOUT } from '../support/process/folder.ts';
import type { Run } from '../support/process/program.ts';
import type { Engine } from './engine.ts';

/** Not sent to the engine: what `.dockerignore` leaves out, and what is large. */
const LEFT_OUT = new Set(['.git', '.data', 'dist', 'node_modules', 'test', 'bench']);

/** A checkout of its own, as an operator has it, whose files a test may change. */
export function copyCheckout(to: string): string {
  const filter = (file: string) => !LEFT_OUT.has(path.basename(file));
  fs.cpSync(CHECKOUT, to, { recursive: true, filter });
  return to;
}

/** The services of a compose file, with the commands of an operator in its folder. */
export class Service {
  readonly #engine: Engine;
  readonly #folder: string;
  readonly variables: Record<string, string>;

  /** @param changed what a test needs to have otherwise, as YAML */
  constructor(engine: Engine, folder: string, changed: string, variables: Record<string, string> = {}) {
    this.#engine = engine;
    this.#folder = folder;
    const file = path.join(engine.folder, `${path.basename(folder)}.changed.yml`);
    fs.writeFileSync(file, changed);
    this.variables = { COMPOSE_FILE: `docker-compose.yml:${file}`, ...variables };
  }

  /** @param input what a person types */
  try(script: string, input = ''): Promise<Run> {
    return this.#engine.shell(script, this.#folder, this.variables, input);
  }

  async run(script: string, input = ''): Promise<string> {
    const { code, stdout, stderr } = await this.try(script, input);
    if (code !== 0) throw new Error(`ended with ${code}: ${script}\n${stdout}\n${stderr}`);
    return stdout;
  }

  async inspect(service: string) {
    const id = (await this.run(`docker compose ps --all --quiet ${service}`)).trim();
    return JSON.parse(await this.#engine.docker('inspect', id))[0];
  }
}
