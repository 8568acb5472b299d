import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../support/server.ts';

const RULES = fileURLToPath(new URL('../../../deploy/prometheus/assent.rules.yml', import.meta.url));

/** Starts the Prometheus of this machine on servers, with our rules. @param targets each as `host:port` */
export async function startPrometheus(targets: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'assent-prometheus-'));
  const address = `127.0.0.1:${await freePort()}`;
  const config = {
    global: { scrape_interval: '2s', evaluation_interval: '2s' },
    rule_files: [RULES],
    scrape_configs: [{ job_name: 'assent', static_configs: [{ targets }] }],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const args = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=${address}`,
  ];
  const child = spawn('prometheus', args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  return {
    url: `http://${address}`,
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}
