-- Serves builds from schema version 1 on.

-- What a login looks like, for comparison only: letters and digits that resemble a Latin letter become that one. The skeleton of
-- a newcomer's login (`src/rules/common/lookAlike.ts`) has done so for all scripts; the logins that are here may have these.
create or replace function login_look(login_key text) returns text
  language sql immutable strict parallel safe
  return replace(replace(translate(login_key,
    '01|iıɩǀɑɡаеіӏјѕорсухһԁԛԝѡүвкмнтгαβγεζηικμνορτυχϲօսհոցզ',
    'ollllllagaelljsopcyxhdqwwybkmhtrabyeznlkmvoptuxcouhngq'), 'rn', 'm'), 'vv', 'w');

create index if not exists users_by_look on users (login_look(login_key));
