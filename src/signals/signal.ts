import { type Channel, channel } from 'node:diagnostics_channel';

/** Listeners run within {@link send}, in the order of their subscription; one that throws ends the process. */
export class Signal<Message extends object> {
  readonly #channel: Channel;

  /** @param name under `assent.`, as for other listeners of `node:diagnostics_channel` */
  constructor(name: string) {
    this.#channel = channel(`assent.${name}`);
  }

  /** True with subscribers; otherwise measuring is unnecessary. */
  get isHeard(): boolean {
    return this.#channel.hasSubscribers;
  }

  send(message: Message): void {
    this.#channel.publish(message);
  }

  /** @returns ends the subscription */
  listen(listener: (message: Message) => void): () => void {
    const heard = (message: unknown) => listener(message as Message);
    this.#channel.subscribe(heard);
    return () => void this.#channel.unsubscribe(heard);
  }
}
