import { expect, it } from 'vitest';
import { isCommonPassword, isOwnName } from '../../src/rules/account/commonPassword.ts';

it.each<[boolean, ...string[]]>([
  [true, 'password', 'PASSWORD', 'password123', 'qwertyuiop', '1q2w3e4r', 'iloveyou', 'ｐａｓｓｗｏｒｄ'],
  // As typed on a Russian keyboard: rows of keys, and words.
  [true, 'йцукенгшщз', 'ЙЦУКЕНГШЩЗ', 'фывапролдж', 'gfhjkm'],
  [true, '12345678', '87654321', '987654321', 'aaaaaaaa', 'abcdefgh', 'яяяяяяяя', '22222222'],
  [false, 'correct horse battery staple', 'a new password', 'тёплый чайник на окне', '40718263', 'x7#Kq2!mZ'],
])('the check for common passwords returns %s for: %s, %s …', (expected, ...passwords) => {
  for (const password of passwords)
    expect([password, isCommonPassword(password)]).toEqual([password, expected]);
});

const NAMES = ['anna.petrova', '+7 912 345-67-89', 'Anna Petrova', 'bob', 'pay.example', 'Полтино'];

it.each<[boolean, ...string[]]>([
  [true, 'anna.petrova', 'AnnaPetrova2026!', '1 anna petrova 1', '79123456789', '+7-912-345-67-89', 'bob'],
  [true, 'PayExample', 'полтино2026', 'ПОЛТИНО!!!'],
  [false, 'bob20262026', 'anna petrova and her cat', '7912345678', 'a new password', '20262026', ''],
  [false, '2026!2026', '!!!!!!!!!'], // names without a letter or digit are ignored
])('the check for names of the user or service returns %s for: %s, %s …', (expected, ...passwords) => {
  for (const password of passwords)
    expect([password, isOwnName(password, [...NAMES, '', '!!!'])]).toEqual([password, expected]);
});
