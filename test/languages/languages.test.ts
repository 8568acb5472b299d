import { describe, expect, it } from 'vitest';
import { say } from '../../src/languages/formats.ts';
import { preferredLanguage, TEXTS } from '../../src/languages/languages.ts';

describe('the language of a browser', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['ru', 'ru'],
    ['ru-RU,ru;q=0.9,en-US;q=0.8,en;q=0.7', 'ru'],
    ['ru-KZ', 'ru'],
    ['RU-ru', 'ru'],
    ['en-US,en;q=0.9,ru;q=0.8', 'en'],
    ['de-DE,de;q=0.9,ru;q=0.5,en;q=0.4', 'ru'],
    ['de,fr;q=0.9', 'en'],
    ['en;q=0.1,ru;q=0.9', 'ru'],
    ['ru;q=0,en', 'en'],
    ['ru;q=0', 'en'],
    ['*', 'en'],
    ['constructor,__proto__;q=0.9', 'en'],
    ['ru;q=x,;;,=', 'en'],
    [`${'x,'.repeat(10_000)}ru`, 'en'],
  ])('that sends %j is %s', (header, language) => {
    expect(preferredLanguage(header)).toBe(language);
  });
});

describe('Russian plural forms', () => {
  const { limits, wait } = TEXTS.ru;
  const plain = (text: string) => text.replaceAll('\u00a0', ' ');

  it.each([
    [1, 'Не больше 5 ₽ в сутки'],
    [2, 'Не больше 5 ₽ за любые 2 дня'],
    [5, 'Не больше 5 ₽ за любые 5 дней'],
    [11, 'Не больше 5 ₽ за любые 11 дней'],
    [21, 'Не больше 5 ₽ за любые 21 день'],
    [22, 'Не больше 5 ₽ за любые 22 дня'],
    [30, 'Не больше 5 ₽ за любые 30 дней'],
    [111, 'Не больше 5 ₽ за любые 111 дней'],
    [9999, 'Не больше 5 ₽ за любые 9 999 дней'],
  ])('of %d days', (days, text) => {
    expect(plain(limits.perDays('5 ₽', days))).toBe(text);
  });

  it.each([
    [1, '1 секунду', '1 минуту'],
    [2, '2 секунды', '2 минуты'],
    [5, '5 секунд', '5 минут'],
    [21, '21 секунду', '21 минуту'],
    [44, '44 секунды', '44 минуты'],
    [60, '60 секунд', '60 минут'],
  ])('of %d seconds and minutes', (count, seconds, minutes) => {
    expect([wait.seconds(count), wait.minutes(count)]).toEqual([seconds, minutes]);
  });
});

it('isolates a name once, whatever it holds', () => {
  expect(say`${'a\u2069b\u2068'} asks`).toBe('\u2068ab\u2069 asks');
});
