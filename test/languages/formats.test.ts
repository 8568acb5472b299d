import { describe, expect, it } from 'vitest';
import { TEXTS, type Texts } from '../../src/languages/languages.ts';

// As readers of each language write amounts, numbers and days. Spaces are shown as ␣ where no line may break.

const shown = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, '␣');
const { en, ru } = { en: TEXTS.en.formats, ru: TEXTS.ru.formats };
const inBoth = (write: (formats: Texts['formats']) => string) => [shown(write(en)), shown(write(ru))];

describe('amounts', () => {
  it.each([
    ['3000', 'RUB', 'RUB␣3,000', '3␣000␣₽'],
    ['0.01', 'RUB', 'RUB␣0.01', '0,01␣₽'],
    ['8500.50', 'RUB', 'RUB␣8,500.50', '8␣500,50␣₽'],
    ['8500.5', 'RUB', 'RUB␣8,500.50', '8␣500,50␣₽'],
    ['90071992547409.93', 'RUB', 'RUB␣90,071,992,547,409.93', '90␣071␣992␣547␣409,93␣₽'],
    ['10.5', 'JPY', 'JPY␣10.50', '10,50␣¥'],
    ['3000', 'USD', 'USD␣3,000', '3␣000␣$'],
    ['3000', 'EUR', 'EUR␣3,000', '3␣000␣€'],
  ])('of %s %s are written as %s in English and %s in Russian', (sum, currency, english, russian) => {
    expect(inBoth(({ amount }) => amount({ sum, currency }))).toEqual([english, russian]);
  });

  it('and other numbers are grouped as in each language', () => {
    expect(inBoth(({ number }) => number(1_234_567))).toEqual(['1,234,567', '1␣234␣567']);
  });
});

describe('days and times in UTC', () => {
  it.each([
    ['2029-11-20T23:59:59.999Z', '20␣November␣2029', '20␣ноября␣2029␣г.'],
    ['2028-02-29T12:00:00Z', '29␣February␣2028', '29␣февраля␣2028␣г.'],
    ['2027-01-01T00:00:00Z', '1␣January␣2027', '1␣января␣2027␣г.'],
  ])('show the date of %s in both languages', (time, english, russian) => {
    expect(inBoth(({ day }) => day(new Date(time), 'UTC'))).toEqual([english, russian]);
  });

  it('show the time with its zone in both languages', () => {
    const at = new Date('2029-11-20T14:05:00Z');
    expect(inBoth(({ time }) => time(at, 'UTC'))).toEqual([
      '20␣November␣2029 at␣14:05 UTC',
      '20␣ноября␣2029␣г. в␣14:05 UTC',
    ]);
    expect(inBoth(({ hour }) => hour(at, 'UTC'))).toEqual(['14:05', '14:05']);
    expect(inBoth(({ zone }) => zone('UTC'))).toEqual(['UTC', 'UTC']);
    expect(inBoth(({ utcDay }) => utcDay('2029-11-20'))).toEqual(['20␣November␣2029', '20␣ноября␣2029␣г.']);
  });
});

it('times in another zone observe daylight saving time', () => {
  const [july, november] = [new Date('2029-07-01T12:00:00Z'), new Date('2029-11-20T22:05:00Z')];
  expect(shown(en.time(july, 'Europe/Berlin'))).toBe('1␣July␣2029 at␣14:00 CEST');
  expect(shown(ru.time(november, 'Europe/Berlin'))).toBe('20␣ноября␣2029␣г. в␣23:05 GMT+1');
  expect(en.zone('Europe/Berlin')).toBe('Central European Time');
});

it.each([
  [['a'], 'a', 'a'],
  [['a', 'b'], 'a or b', 'a или b'],
  [['a', 'b', 'c'], 'a, b or c', 'a, b или c'],
])('a list of alternatives, %j, is written as “%s” and “%s”', (items, english, russian) => {
  expect(inBoth(({ oneOf }) => oneOf(items))).toEqual([english, russian]);
});
