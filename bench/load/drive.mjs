import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from './connection.mjs';
import { Latencies } from './latencies.mjs';

/**
 * @typedef {object} Job
 * @property {string} workload one of `workloads.mjs`
 * @property {number} port
 * @property {number} connections concurrent ones; each sends its next request after the last response
 * @property {any[]} items of the requests, each once, unless the workload has them
 * @property {boolean} [again] start over after the last item; otherwise that ends the run
 * @property {number} seconds in which responses count
 * @property {number} warmSeconds before that, uncounted
 * @property {number} [perSecond] maximum, evenly spread; without it as fast as responses arrive
 *
 * @typedef {any} Question an item prepared by the workload
 *
 * @typedef {object} Workload
 * @property {(job: any) => any[]} [items] if the job has none
 * @property {(item: any, job: any) => Question} [prepare] prepares an item before the start
 * @property {(connection: Connection, question: Question, job: any) => Promise<void>} [before] runs outside the measured time
 * @property {(connection: Connection, question: Question, job: any) => Promise<string | void>} ask the measured part: throws
 *   unless every response is right, and may name the outcome
 */

/**
 * Runs a job. Wrong or missing responses are errors and have no latencies.
 *
 * @param {Job} job
 * @param {Workload} workload
 * @param {() => void} onCounting called when responses begin to count
 */
export async function drive(job, workload, onCounting) {
  const connections = Array.from({ length: job.connections }, () => new Connection(job.port));
  const questions = (workload.items?.(job) ?? job.items).map((item) => workload.prepare?.(item, job) ?? item);
  if (workload.before) await askBefore(connections, questions, workload.before, job);
  const run = new Run(job, questions);
  setTimeout(onCounting, job.warmSeconds * 1000);
  await Promise.all(connections.map((connection) => run.lane(connection, workload)));
  for (const connection of connections) connection.close();
  return run.result();
}

/**
 * Prerequisites, such as the page with a form: requested outside of the measured time.
 *
 * @param {Connection[]} connections @param {Question[]} questions @param {Required<Workload>['before']} before @param {Job} job
 */
async function askBefore(connections, questions, before, job) {
  let next = 0;
  const lane = async (/** @type {Connection} */ connection) => {
    while (next < questions.length) await before(connection, questions[next++], job);
  };
  await Promise.all(connections.map(lane));
}

class Run {
  /** @type {Job} */
  #job;
  /** @type {Question[]} */
  #questions;
  #asked = 0;
  #latencies = new Latencies();
  #inTime = 0;
  /** @type {Record<string, number>} */
  #outcomes = {};
  #right = 0;
  #errors = 0;
  /** @type {string | null} */
  #firstError = null;
  #start = performance.now();
  #counting;
  #end;

  /** @param {Job} job @param {Question[]} questions */
  constructor(job, questions) {
    this.#job = job;
    this.#questions = questions;
    this.#counting = this.#start + job.warmSeconds * 1000;
    this.#end = this.#counting + job.seconds * 1000;
  }

  /**
   * One connection's share: each next request follows the response.
   *
   * @param {Connection} connection @param {Workload} workload
   */
  async lane(connection, workload) {
    for (let question = await this.#next(); question !== undefined; question = await this.#next()) {
      const asked = performance.now();
      try {
        const outcome = await workload.ask(connection, question, this.#job);
        this.#note(asked, performance.now(), outcome ?? 'right');
      } catch (error) {
        this.#errors += 1;
        this.#firstError ??= String(error);
      }
    }
  }

  async #next() {
    const { perSecond, again } = this.#job;
    const number = this.#asked++;
    if (perSecond !== undefined) {
      await sleep(Math.max(0, this.#start + (number * 1000) / perSecond - performance.now()));
    }
    const now = performance.now();
    if (now >= this.#end) return undefined;
    const question = this.#questions[again ? number % this.#questions.length : number];
    if (question === undefined) this.#end = now; // all were sent
    return question;
  }

  /**
   * Responses after the end have a latency, but don't count for the rate.
   *
   * @param {number} asked @param {number} answered @param {string} outcome
   */
  #note(asked, answered, outcome) {
    this.#right += 1;
    if (answered < this.#counting) return;
    this.#latencies.add(answered - asked);
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    if (answered <= this.#end) this.#inTime += 1;
  }

  result() {
    const seconds = (this.#end - this.#counting) / 1000;
    if (seconds <= 0) throw new Error(`${this.#job.workload}: all was asked before answers counted`);
    return {
      answers: this.#latencies.count,
      seconds,
      perSecond: this.#inTime / seconds,
      ...this.#latencies.summary(),
      right: this.#right,
      errors: this.#errors,
      firstError: this.#firstError,
      outcomes: this.#outcomes,
    };
  }
}
