import { channel } from 'node:diagnostics_channel';

/** A channel with typed messages. Listeners run within `publish`; one that throws ends the process. */
export interface TypedChannel<Message extends object> {
  publish(message: Message): void;
  subscribe(listener: (message: Message) => void): void;
  unsubscribe(listener: (message: Message) => void): void;
}

/** @param name under `assent.`, as for other listeners of `node:diagnostics_channel` */
export const typedChannel = <Message extends object>(name: string) =>
  channel(`assent.${name}`) as TypedChannel<Message>;
