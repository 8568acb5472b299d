import type { Fault, Place } from '../faults.ts';
import type { EmbeddedHome, Home } from '../site.ts';

export const losing = <PlacesHome extends Home = EmbeddedHome>(
  happen: Fault<PlacesHome>['happen'],
): Fault<PlacesHome> => ({ losesAnswers: true, happen });

export async function repeat(
  { hold }: Pick<Place, 'hold'>,
  times: number,
  work: (time: number) => unknown,
): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await work(time);
    await hold(1 / times);
  }
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
  }
}
