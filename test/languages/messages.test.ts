import { describe, expect, it } from 'vitest';
import { TEXTS, withValues } from '../../src/languages/languages.ts';
import { parseMessage } from '../../src/languages/messages.ts';

// Messages are ICU MessageFormat. Invisible marks are shown: ⟨ and ⟩ around an isolated name, ␣ where no line may break.

const en = TEXTS.en.formats;

function say(message: string, values: Readonly<Record<string, string | number>>): string {
  const said = withValues(parseMessage(message, en).text, values);
  return said.replaceAll('\u2068', '⟨').replaceAll('\u2069', '⟩').replaceAll('\u00a0', '␣');
}

describe('a message', () => {
  it('isolates a name, and what is not in the list of our words', () => {
    const said = say('{client} until {day}: {unheardOf}', { client: 'a', day: '1 May', unheardOf: 'x' });
    expect(said).toBe('⟨a⟩ until 1 May: ⟨x⟩');
  });

  it.each([
    [0, 'nothing'],
    [1, '1␣day'],
    [1234, 'after␣1,234␣days'],
  ])('chooses the form of %i', (days, said) => {
    expect(say('{days, plural, =0 {nothing} one {# day} other {after # days}}', { days })).toBe(said);
  });

  it('chooses by a word, with another message inside', () => {
    const message =
      '{day, select, never {never used} other {used {day}, {count, plural, one {# time} other {# times}}}}';
    expect(say(message, { day: 'never', count: 2 })).toBe('never used');
    expect(say(message, { day: '1 May', count: 2 })).toBe('used 1 May, 2␣times');
  });

  it('without values is a text', () => {
    expect(parseMessage("The user’s '{name}'", en)).toMatchObject({ text: 'The user’s {name}', values: '' });
  });

  it.each([
    ['{client', 'Unexpected message end at line 1 col 8:'],
    [
      '{days, plural, fwe {#} other {#}}',
      'The plural case fwe is not valid in this locale at line 1 col 16:',
    ],
    ['{days, plural, one {#}}', 'must have a case “other” of {days}'],
    ['{days, plural, offset:1 other {#}}', 'must not have {days, plural, offset:1 '],
    ['{day, date}', 'must not have {day, date}'],
  ])('%s is refused', (message, fault) => {
    expect(() => parseMessage(message, en)).toThrow(fault);
  });
});
