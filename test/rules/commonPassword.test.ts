import { describe, expect, it } from 'vitest';
import { isCommonPassword, isOwnName } from '../../src/rules/account/commonPassword.ts';

describe('a common password', () => {
  it.each([
    ...['password', 'PASSWORD', 'password123', 'qwertyuiop', '1q2w3e4r', 'iloveyou', 'ｐａｓｓｗｏｒｄ'],
    // As typed on a Russian keyboard: rows of keys, and words.
    ...['йцукенгшщз', 'ЙЦУКЕНГШЩЗ', 'фывапролдж', 'gfhjkm'],
    ...['12345678', '87654321', '987654321', 'aaaaaaaa', 'abcdefgh', 'яяяяяяяя', '22222222'],
  ])('is %s', (password) => {
    expect(isCommonPassword(password)).toBe(true);
  });

  it.each([
    'correct horse battery staple',
    'a new password',
    'тёплый чайник на окне',
    '40718263',
    'x7#Kq2!mZ',
  ])('is not %s', (password) => {
    expect(isCommonPassword(password)).toBe(false);
  });
});

describe('a name of the user or service in a password', () => {
  const NAMES = ['anna.petrova', '+7 912 345-67-89', 'Anna Petrova', 'bob', 'pay.example', 'Полтино'];

  it.each([
    ...['anna.petrova', 'AnnaPetrova2026!', '1 anna petrova 1', '79123456789', '+7-912-345-67-89', 'bob'],
    ...['PayExample', 'полтино2026', 'ПОЛТИНО!!!'],
  ])('is found in %s', (password) => {
    expect(isOwnName(password, NAMES)).toBe(true);
  });

  it.each(['bob20262026', 'anna petrova and her cat', '7912345678', 'a new password', '20262026', ''])(
    'is not found in %s',
    (password) => {
      expect(isOwnName(password, NAMES)).toBe(false);
    },
  );

  it('is ignored if it has no letter or digit', () => {
    expect(isOwnName('2026!2026', ['', '!!!'])).toBe(false);
    expect(isOwnName('!!!!!!!!!', ['', '!!!'])).toBe(false);
  });
});
