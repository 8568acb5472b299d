import { describe, expect, it } from 'vitest';
import { TEXTS, withValues } from '../../src/languages/languages.ts';
import { parseMessage } from '../../src/languages/messages.ts';

// Messages are ICU MessageFormat. Invisible marks are shown: ⟨ and ⟩ around an isolated name, ␣ where no line may break.

const { en, ru } = { en: TEXTS.en.formats, ru: TEXTS.ru.formats };

function say(message: string, values: Readonly<Record<string, string | number>>, formats = en): string {
  const said = withValues(parseMessage(message, formats).text, values);
  return said.replaceAll('\u2068', '⟨').replaceAll('\u2069', '⟩').replaceAll('\u00a0', '␣');
}

describe('a message', () => {
  it('isolates a name, and not words of ours', () => {
    expect(say('{client} until {day}', { client: 'a\u2069b', day: '1 May' })).toBe('⟨ab⟩ until 1 May');
  });

  it('isolates a value that is not in the list', () => {
    expect(say('{unheardOf}', { unheardOf: 'x' })).toBe('⟨x⟩');
  });

  it.each([
    [0, 'nothing'],
    [1, '1␣day'],
    [1234, 'after␣1,234␣days'],
  ])('chooses the form of %i', (days, said) => {
    expect(say('{days, plural, =0 {nothing} one {# day} other {after # days}}', { days })).toBe(said);
  });

  it('chooses among the forms of its language', () => {
    const message = '{days, plural, one {# день} few {# дня} other {# дней}}';
    expect([1, 22, 11].map((days) => say(message, { days }, ru))).toEqual(['1␣день', '22␣дня', '11␣дней']);
  });

  it('groups the digits of a number', () => {
    expect(say('{times, number} times', { times: 1234 })).toBe('1,234 times');
  });

  it('chooses by a word, with another message inside', () => {
    const message = '{day, select, never {never used} other {used {day}, {count, plural, other {# times}}}}';
    expect(say(message, { day: 'never', count: 2 })).toBe('never used');
    expect(say(message, { day: '1 May', count: 2 })).toBe('used 1 May, 2␣times');
  });

  it('without values is a text', () => {
    expect(parseMessage("The user’s '{name}'", en)).toEqual({ text: 'The user’s {name}', values: '' });
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
